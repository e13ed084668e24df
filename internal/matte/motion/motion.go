// Package motion tells how the pixels of a clip move: dense optical flow between
// neighbouring frames, the camera's own motion, and what departs from it.
//
// The flow is dense inverse search: small patches are matched by gradient descent
// on ever larger pictures, then blended and refined (T. Kroeger, R. Timofte,
// D. Dai, L. Van Gool, "Fast Optical Flow using Dense Inverse Search", ECCV 2016).
package motion

import (
	"image"
	"math"
	"slices"
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
	l.Pix = sized(l.Pix, l.W*l.H)
	for y := range l.H {
		row, dst := img.Pix[y*img.Stride:], l.Pix[y*l.W:(y+1)*l.W]
		for x := range dst {
			p := row[4*x : 4*x+3 : 4*x+3]
			dst[x] = uint8((77*uint32(p[0]) + 150*uint32(p[1]) + 29*uint32(p[2]) + 128) >> 8)
		}
	}
}

// Field is a displacement for each pixel of a picture, in pixels: what is at (x, y)
// of one picture is at (x + X, y + Y) of the other. X and Y have W × H values, row
// by row.
type Field struct {
	W, H int
	X, Y []float32
}

// Set gives f a size, in the memory that it has. The displacements are not set.
func (f *Field) Set(w, h int) {
	f.W, f.H = w, h
	f.X, f.Y = sized(f.X, w*h), sized(f.Y, w*h)
}

// Carry brings values of the picture that f points to back to where f starts: dst[i]
// is src at pixel i plus its displacement, between pixels by bilinear interpolation, and
// outside where that is beyond the picture. Both have the size of f and are
// different memory.
func (f *Field) Carry(dst, src []float32, outside float32) {
	for y := range f.H {
		i := y * f.W
		fx, fy, to := f.X[i:i+f.W], f.Y[i:i+f.W], dst[i:i+f.W]
		for x := range to {
			if at, kx, ky, ok := f.spot(float32(x)+fx[x], float32(y)+fy[x]); ok {
				to[x] = blend(src, at, f.W, kx, ky)
			} else {
				to[x] = outside
			}
		}
	}
}

// Consistency tells how far two fields agree: dst[i] is near 1 where following forward
// from pixel i and then back returns to it, and 0 where forward leaves the picture. A
// miss by a pixel and a twentieth of the way gives a half.
//
// That is the forward-backward check against occlusion (N. Sundaram, T. Brox,
// K. Keutzer, "Dense Point Trajectories by GPU-accelerated Large Displacement Optical
// Flow", ECCV 2010), made gradual. All three have the same size.
func Consistency(dst []float32, forward, back *Field) {
	const pixels, share = 1, 0.05
	for y := range forward.H {
		i := y * forward.W
		fx, fy, to := forward.X[i:i+forward.W], forward.Y[i:i+forward.W], dst[i:i+forward.W]
		for x := range to {
			u, v := fx[x], fy[x]
			at, kx, ky, ok := forward.spot(float32(x)+u, float32(y)+v)
			if !ok {
				to[x] = 0
				continue
			}
			dx, dy := u+blend(back.X, at, forward.W, kx, ky), v+blend(back.Y, at, forward.W, kx, ky)
			s := pixels + share*length(u, v)
			to[x] = s * s / (s*s + dx*dx + dy*dy)
		}
	}
}

// spot is the pixel to the left of and above a place, and how far the place lies to the
// right of and below it, 0 to 1. It reports false beyond the picture.
func (f *Field) spot(x, y float32) (at int, kx, ky float32, ok bool) {
	const slack = 1e-3 // a displacement's rounding
	right, bottom := float32(f.W-1), float32(f.H-1)
	if !(x >= -slack && y >= -slack && x <= right+slack && y <= bottom+slack) {
		return 0, 0, 0, false
	}
	x, y = min(max(x, 0), right), min(max(y, 0), bottom)
	ix, iy := min(int(x), max(f.W-2, 0)), min(int(y), max(f.H-2, 0))
	return iy*f.W + ix, x - float32(ix), y - float32(iy), true
}

// blend is the bilinear value of s, which has rows of w, at a spot.
func blend(s []float32, at, w int, kx, ky float32) float32 {
	right, below := 1, w
	if kx == 0 {
		right = 0
	}
	if ky == 0 {
		below = 0
	}
	top := s[at] + kx*(s[at+right]-s[at])
	bottom := s[at+below] + kx*(s[at+below+right]-s[at+below])
	return top + ky*(bottom-top)
}

func length(x, y float32) float32 { return float32(math.Sqrt(float64(x*x + y*y))) }

// sized is a slice of length n, in the memory of s if that is enough, and without
// its content.
func sized[T any](s []T, n int) []T { return slices.Grow(s[:0], n)[:n] }
