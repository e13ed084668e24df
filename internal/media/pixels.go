package media

import (
	"bytes"
	"encoding/binary"
	"image"
)

// ClearHidden zeroes the colour of pixels with alpha 0. Nobody sees that
// colour, it would reveal the removed background, and zeros compress better.
func ClearHidden(pix []byte) {
	for ; len(pix) >= 4; pix = pix[4:] {
		if pix[3] == 0 {
			binary.LittleEndian.PutUint32(pix, 0)
		}
	}
}

// MakeOpaque sets alpha to 255 everywhere.
func MakeOpaque(pix []byte) {
	for i := 3; i < len(pix); i += 4 {
		pix[i] = 255
	}
}

// ChangedRect returns the smallest rectangle that holds all pixels in which two
// pictures of one size differ, or an empty one at the origin.
func ChangedRect(a, b *image.NRGBA) image.Rectangle {
	w, h, stride := a.Rect.Dx(), a.Rect.Dy(), a.Stride
	rows := func(p *image.NRGBA, y int) []byte { return p.Pix[y*stride : y*stride+4*w] }
	y0, y1 := 0, h
	for y0 < h && bytes.Equal(rows(a, y0), rows(b, y0)) {
		y0++
	}
	if y0 == h {
		return image.Rectangle{}
	}
	for bytes.Equal(rows(a, y1-1), rows(b, y1-1)) {
		y1--
	}
	x0, x1 := w, 0
	for y := y0; y < y1; y++ {
		p, q := rows(a, y), rows(b, y)
		for x := 0; x < x0; x++ {
			if Pixel(p, x) != Pixel(q, x) {
				x0 = x
			}
		}
		for x := w; x > x1; x-- {
			if Pixel(p, x-1) != Pixel(q, x-1) {
				x1 = x
			}
		}
	}
	return image.Rect(x0, y0, x1, y1)
}

// Pixel is pixel x of a row of RGBA as one number with alpha on top.
func Pixel(row []byte, x int) uint32 { return binary.LittleEndian.Uint32(row[4*x : 4*x+4]) }
