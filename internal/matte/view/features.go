package view

import "math"

// FeatureCount is how many planes Features have.
const FeatureCount = 32

// Features are what the network sees in a frame: its own planes of W × H places, one after
// the other. The zero value is of a network that does not tell.
type Features struct {
	W, H int
	Pix  []uint8
}

// Fit is f at another size, by the nearest place. That of the zero value has no feature
// anywhere.
func (f Features) Fit(w, h int) Features {
	if f.W == w && f.H == h {
		return f
	}
	to := Features{w, h, make([]uint8, FeatureCount*w*h)}
	if f.Pix == nil {
		return to
	}
	for p := range FeatureCount {
		for y := range h {
			from := f.Pix[(p*f.H+nearest(y, h, f.H))*f.W:]
			row := to.Pix[(p*h+y)*w:][:w]
			for x := range row {
				row[x] = from[nearest(x, w, f.W)]
			}
		}
	}
	return to
}

// nearest is the place of m that lies where place i of n does.
func nearest(i, n, m int) int { return (2*i + 1) * m / (2 * n) }

// At sets of to the features of a place, and returns their length.
func (f Features) At(x, y int, of *[FeatureCount]float32) float32 {
	sum := float32(0)
	for p := range of {
		of[p] = float32(f.Pix[(p*f.H+y)*f.W+x])
		sum += of[p] * of[p]
	}
	return float32(math.Sqrt(float64(sum)))
}
