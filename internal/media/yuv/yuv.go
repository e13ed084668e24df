// Package yuv converts pictures between straight RGBA and the format of video
// codecs: 8-bit Y'CbCr with one pair of colour differences for every two by two
// pixels (4:2:0), with or without alpha.
//
// A pair of differences is used for all four pixels on the way to RGBA and is
// their mean on the way back. Untouched pixels therefore survive both
// conversions, except for rounding and colours outside RGB. The formulas are
// those of Recommendations ITU-R BT.601-7 and BT.709-6.
package yuv

import "image"

// Matrix is the weights of red, green and blue in luma.
type Matrix int

// The matrices of standard and of high definition.
const (
	BT601 Matrix = iota
	BT709
)

// Weights are those of red, green and blue.
func (m Matrix) Weights() [3]float64 {
	red, blue := m.weights()
	return [3]float64{red, 1 - red - blue, blue}
}

// weights of red and blue; green has the rest.
func (m Matrix) weights() (red, blue float64) {
	if m == BT601 {
		return 0.299, 0.114
	}
	return 0.2126, 0.0722
}

// Coding is how colours become samples.
type Coding struct {
	Matrix Matrix
	// Full is for samples that use all of 0 to 255, as those of JPEG. Else luma
	// is 16 to 235 and a difference 16 to 240. Alpha is always full.
	Full bool
}

// Grey is both differences of a pixel without colour.
const Grey = 128

// scale is the luma of black, and the steps of luma and of a difference for
// each step of a colour.
func (c Coding) scale() (black int, luma, colour float64) {
	if c.Full {
		return 0, 1, 1
	}
	return 16, 219.0 / 255, 224.0 / 255
}

// Layout is the order of a picture's planes without gaps: Y, Cb, Cr, and A if
// there is alpha. If a side is odd, its last pixels have differences of their
// own.
type Layout struct {
	Width, Height int
	Alpha         bool
}

// Bytes is the size of a picture.
func (l Layout) Bytes() int {
	n := l.Width*l.Height + 2*l.colour().X*l.colour().Y
	if l.Alpha {
		n += l.Width * l.Height
	}
	return n
}

// colour is the size of a plane of colour differences.
func (l Layout) colour() image.Point { return image.Pt((l.Width+1)/2, (l.Height+1)/2) }

// planes cuts a picture into its planes; a is nil without alpha.
func (l Layout) planes(picture []uint8) (y, cb, cr, a []uint8) {
	n, c := l.Width*l.Height, l.colour().X*l.colour().Y
	y, cb, cr = picture[:n], picture[n:][:c], picture[n+c:][:c]
	if l.Alpha {
		a = picture[n+2*c:][:n]
	}
	return y, cb, cr, a
}

// line is row i of a plane of rows of w.
func line(plane []uint8, i, w int) []uint8 { return plane[i*w:][:w:w] }
