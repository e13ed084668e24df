package refine

const (
	// dim and bright bound the values by which exposures are compared: there
	// is too little to tell from darker ones, and brighter ones may be clipped.
	dim, bright = 24, 230
	// unity is the gain of no change, in the unit of gains.
	unity = 1 << 8
	// sparse is the distance of the rows and columns that are compared.
	sparse = 4
)

// adapt changes ref, an older picture of w pixels a row, to the light of now:
// cameras and lamps make whole pictures lighter and darker from frame to frame,
// which is no change of what they show. What moves is outvoted by what does
// not, since each channel's gain is the median of those of single pixels.
func adapt(ref, now []uint8, w int) {
	var table [3][256]uint8
	change := false
	for c := range table {
		gain := medianGain(ref, now, w, c)
		change = change || gain != unity
		for v := range table[c] {
			table[c][v] = uint8(min((v*gain+unity/2)/unity, 255))
		}
	}
	if !change {
		return
	}
	for i := 0; i+4 <= len(ref); i += 4 {
		p := ref[i : i+3 : i+3]
		p[0], p[1], p[2] = table[0][p[0]], table[1][p[1]], table[2][p[2]]
	}
}

// medianGain is how much lighter channel c of now is than that of before.
func medianGain(before, now []uint8, w, c int) int {
	var counts [2 * unity]int
	n := 0
	for y := 0; y < len(before)/(4*w); y += sparse {
		for x := y / sparse % sparse; x < w; x += sparse {
			i := 4*(y*w+x) + c
			if b := int(before[i]); b >= dim && b <= bright {
				counts[min(int(now[i])*unity/b, 2*unity-1)]++
				n++
			}
		}
	}
	seen := 0
	for gain, count := range counts {
		if seen += count; n > 0 && 2*seen >= n {
			return gain
		}
	}
	return unity
}
