package synth

import (
	"image"
	"math"
)

// IoU returns the intersection over union of two mattes of one size, with a
// threshold of one half. Two empty mattes agree: 1.
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

// ColourError compares the colours in got with the true foreground of p at
// edges, 0.02 < alpha < 0.98. It is the mean absolute difference over the three
// channels in units of 1/255. Each pixel is weighted by its true alpha, which
// is its visible share. Pixels that are empty in matte do not count. Without an
// edge it is 0.
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
// clips of mattes of one size and length. It is the root of the mean squared
// difference of temporal differences, 0..1 (M. Erofeev et al., "Perceptually
// motivated benchmark for video matting", BMVC 2015, section 4). It is 0 for
// fewer than two frames.
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

// PSNR returns the peak signal-to-noise ratio of two clips of one size and
// length in dB. It covers the pixels with alpha of at least one half in want.
// Transparent pixels in got count as grey.
func PSNR(got, want []*image.NRGBA) float64 {
	sum, n := 0, 0
	for f, img := range want {
		for i := 0; i < len(img.Pix); i += 4 {
			w, g := img.Pix[i:i+4], got[f].Pix[i:i+4]
			if w[3] < 128 {
				continue
			}
			if g[3] < 128 {
				g = []uint8{128, 128, 128, 0}
			}
			n += 3
			for k := range 3 {
				d := int(g[k]) - int(w[k])
				sum += d * d
			}
		}
	}
	return 10 * math.Log10(255*255*float64(n)/float64(sum))
}

// Flicker returns how much the clip got changes where want stands still. It is
// the root of the mean squared change of a channel from one frame to the next,
// in units of 1/255. It covers places where no channel of want changes by more
// than 2 and alpha is 255 in both. It is like DtSSD for colours but does not
// subtract the small changes of want, because removed noise is not flicker.
// Without such a place it is 0.
func Flicker(got, want []*image.NRGBA) float64 {
	const still = 2
	sum, n := 0, 0
	for f := 1; f < len(want); f++ {
		for i := 0; i < len(want[f].Pix); i += 4 {
			a, b := want[f-1].Pix[i:i+4], want[f].Pix[i:i+4]
			if a[3] < 255 || b[3] < 255 || max(abs(int(a[0])-int(b[0])), abs(int(a[1])-int(b[1])), abs(int(a[2])-int(b[2]))) > still {
				continue
			}
			n += 3
			for k := i; k < i+3; k++ {
				d := int(got[f].Pix[k]) - int(got[f-1].Pix[k])
				sum += d * d
			}
		}
	}
	return math.Sqrt(float64(sum) / float64(max(n, 1)))
}

func abs(v int) int {
	if v < 0 {
		return -v
	}
	return v
}
