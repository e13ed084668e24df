package synth

import (
	"image"
	"math"
)

// IoU returns the intersection over union of two mattes of one size, each cut
// at one half. Two empty mattes agree: 1.
func IoU(got, want *image.Alpha) float64 {
	both, either := 0, 0
	for i, g := range got.Pix {
		a, b := g >= 128, want.Pix[i] >= 128
		if a && b {
			both++
		}
		if a || b {
			either++
		}
	}
	if either == 0 {
		return 1
	}
	return float64(both) / float64(either)
}

// MeanError returns the mean absolute difference of two mattes of one size,
// over all pixels, 0..1.
func MeanError(got, want *image.Alpha) float64 {
	sum := 0
	for i, g := range got.Pix {
		sum += abs(int(g) - int(want.Pix[i]))
	}
	return float64(sum) / float64(255*max(len(got.Pix), 1))
}

// ColourError compares the colours in got with the true foreground of p where
// the truth is an edge, 0.02 < alpha < 0.98: the mean absolute difference over
// the three channels in units of 1/255, each pixel weighted by its true alpha,
// which is the share of it that anyone sees. Pixels that matte calls empty do
// not count. Without an edge it is 0.
func ColourError(got *image.NRGBA, matte *image.Alpha, p Picture) float64 {
	sum, weight := 0, 0
	for i, a := range p.Alpha.Pix {
		if a <= 5 || a >= 250 || matte.Pix[i] == 0 {
			continue
		}
		for k := 4 * i; k < 4*i+3; k++ {
			sum += int(a) * abs(int(got.Pix[k])-int(p.Foreground.Pix[k]))
		}
		weight += 3 * int(a)
	}
	return float64(sum) / float64(max(weight, 1))
}

// DtSSD returns how much the changes from frame to frame differ between two
// clips of mattes of one size and length: the root of the mean squared
// difference of temporal differences, 0..1 (M. Erofeev et al., "Perceptually
// motivated benchmark for video matting", BMVC 2015, section 4). A clip of
// less than two frames has none: 0.
func DtSSD(got, want []*image.Alpha) float64 {
	sum, n := 0, 0
	for i := 1; i < len(got); i++ {
		for k, g := range got[i].Pix {
			d := int(g) - int(got[i-1].Pix[k]) - int(want[i].Pix[k]) + int(want[i-1].Pix[k])
			sum += d * d
		}
		n += len(got[i].Pix)
	}
	return math.Sqrt(float64(sum)/float64(max(n, 1))) / 255
}

func abs(v int) int {
	if v < 0 {
		return -v
	}
	return v
}
