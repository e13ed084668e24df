// Package refine turns the small, unsteady mattes of a neural network into good
// ones. ColourModel assigns uncertain pixels by the clip's colours. Stabiliser
// keeps mattes steady over time. Walker decides wide doubts. Upsampler enlarges
// mattes to full resolution along the picture's edges. Foreground removes the old
// backdrop from the colour of edges.
//
// Pictures are straight-alpha image.NRGBA and mattes image.Alpha, both starting
// at the origin with contiguous rows; only the colour of a picture is used. A
// size mismatch is a bug of the caller and panics.
package refine

import (
	"encoding/binary"
	"image"
)

// tile is the side in pixels of the squares in which work is skipped.
const tile = 16

// size returns the width and height of m after checking its layout.
func size(m *image.Alpha) (w, h int) {
	w, h = m.Rect.Dx(), m.Rect.Dy()
	if m.Stride != w && h > 1 {
		panic("refine: rows of matte are not contiguous")
	}
	return w, h
}

// match panics unless img has the size of a matte of w × h pixels.
func match(img *image.NRGBA, w, h int) {
	if img.Rect.Dx() != w || img.Rect.Dy() != h || img.Stride != 4*w && h > 1 {
		panic("refine: picture does not fit its matte")
	}
}

// run returns the next stretch of non-zero bytes in row from x on; x0 is
// len(row) if there is none.
func run(row []uint8, x int) (x0, x1 int) {
	for x < len(row) && row[x] == 0 {
		if x+8 <= len(row) && binary.LittleEndian.Uint64(row[x:]) == 0 {
			x += 8
			continue
		}
		x++
	}
	x0 = x
	for x < len(row) && row[x] != 0 {
		x++
	}
	return x0, x
}

// grow sets dst to 1 within rx columns and ry rows of every non-zero byte of
// src. Both are w bytes wide; dst must be clear.
func grow(dst, src []uint8, w, rx, ry int) {
	if w == 0 {
		return
	}
	h := len(src) / w
	for y := range h {
		row := src[y*w : y*w+w]
		for x0, x1 := run(row, 0); x0 < w; x0, x1 = run(row, x1) {
			l, r := max(x0-rx, 0), min(x1+rx, w)
			for v := max(y-ry, 0); v <= min(y+ry, h-1); v++ {
				to := dst[v*w+l : v*w+r]
				for i := range to {
					to[i] = 1
				}
			}
		}
	}
}
