// Package motion measures how the pixels of a clip move: dense optical flow
// between neighbouring frames, the camera's own motion, and the pixels that
// depart from it.
//
// The flow is dense inverse search: small patches are matched by gradient
// descent on ever larger pictures, then blended and refined (T. Kroeger, R.
// Timofte, D. Dai, L. Van Gool, "Fast Optical Flow using Dense Inverse Search",
// ECCV 2016).
package motion

import (
	"image"

	"github.com/bgremove/bgremove/internal/buffer"
)

// Luma is a small grey picture: the brightness of each pixel, 0 to 255, W × H of
// them, row by row.
type Luma struct {
	W, H int
	Pix  []uint8
}

// Set makes l the brightness of img (Rec. 601), in the memory that l has. Alpha does
// not matter. The rows of img may be part of a larger picture.
func (l *Luma) Set(img *image.NRGBA) {
	l.W, l.H = img.Rect.Dx(), img.Rect.Dy()
	l.Pix = buffer.Sized(l.Pix, l.W*l.H)
	for y := range l.H {
		row, dst := img.Pix[y*img.Stride:], l.Pix[y*l.W:(y+1)*l.W]
		for x := range dst {
			p := row[4*x : 4*x+3 : 4*x+3]
			dst[x] = uint8((77*uint32(p[0]) + 150*uint32(p[1]) + 29*uint32(p[2]) + 128) >> 8)
		}
	}
}

// Field is a displacement for each pixel of a picture, in pixels: the point (x,
// y) of one picture is at (x + X, y + Y) of the other. X and Y have W × H
// values, row by row.
type Field struct {
	W, H int
	X, Y []float32
}

// Set gives f a size, in the memory that it has. The displacements are not set.
func (f *Field) Set(w, h int) {
	f.W, f.H = w, h
	f.X, f.Y = buffer.Sized(f.X, w*h), buffer.Sized(f.Y, w*h)
}
