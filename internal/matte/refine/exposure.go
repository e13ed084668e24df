package refine

import "math"

const (
	// minValue and maxValue bound the values used to compare exposures: darker ones
	// carry too little information, and brighter ones may be clipped.
	minValue, maxValue = 24, 230
	// gainUnit is the gain of no change, in the unit of gains.
	gainUnit = 1 << 8
	// sampleStep is the distance of the rows and columns that are compared.
	sampleStep = 4
	// flickerRange is how far flickering light strays from its mean, as a natural
	// logarithm. deviationDecay is the part of the deviation that remains one frame
	// later. A larger deviation is a fade or another light. A change below a
	// hundredth a frame is never flicker.
	flickerRange, deviationDecay = 0.22, 0.95
)

// exposure follows the light of a clip. The zero value is ready.
type exposure struct {
	// deviation is how far each channel is from its mean, as a logarithm.
	deviation [3]float64
}

// adapt changes ref, an older picture of w pixels a row, to the light of now if
// the light flickers. Cameras and lamps make whole pictures lighter and darker
// from frame to frame, although the scene does not change. Each channel's gain
// is the median of single pixels' gains, so still pixels outvote moving ones.
// ref stays unchanged in a fade, and if most of a picture is too dark or too
// bright to compare.
func (e *exposure) adapt(ref, now []uint8, w int) (fading bool) {
	var gains [3]int
	for c := range gains {
		gains[c] = medianGain(ref, now, w, c)
		step := math.Log(float64(max(gains[c], 1)) / gainUnit)
		e.deviation[c] = deviationDecay*e.deviation[c] + min(max(step, -2*flickerRange), 2*flickerRange)
		fading = fading || math.Abs(e.deviation[c]) > flickerRange
	}
	if !fading && gains != [3]int{gainUnit, gainUnit, gainUnit} {
		amplify(ref, gains)
	}
	return fading
}

// amplify multiplies the channels of a picture by gains.
func amplify(pix []uint8, gains [3]int) {
	var table [3][256]uint8
	for c, gain := range gains {
		for v := range table[c] {
			table[c][v] = uint8(min((v*gain+gainUnit/2)/gainUnit, 255))
		}
	}
	for i := 0; i+4 <= len(pix); i += 4 {
		p := pix[i : i+3 : i+3]
		p[0], p[1], p[2] = table[0][p[0]], table[1][p[1]], table[2][p[2]]
	}
}

// medianGain is how much lighter channel c of now is than that of before, gainUnit
// where less than half of the pixels can tell.
func medianGain(before, now []uint8, w, c int) int {
	var counts [2 * gainUnit]int
	measured, all := 0, 0
	for y := 0; y < len(before)/(4*w); y += sampleStep {
		for x := y / sampleStep % sampleStep; x < w; x += sampleStep {
			i := 4*(y*w+x) + c
			if b := uint32(before[i]); b >= minValue && b <= maxValue { // divisions of 64 bits take longer
				counts[min(uint32(now[i])*gainUnit/b, 2*gainUnit-1)]++
				measured++
			}
			all++
		}
	}
	if measured == 0 || 2*measured < all {
		return gainUnit
	}
	seen := 0
	for gain, count := range counts {
		if seen += count; 2*seen >= measured {
			return gain
		}
	}
	return gainUnit
}
