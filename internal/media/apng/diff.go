package apng

import (
	"bytes"
	"encoding/binary"
	"image"
)

// clearHidden zeroes the colour of pixels with alpha 0. Nobody sees that
// colour, it would reveal the removed background, and zeros compress better.
func clearHidden(pix []byte) {
	for ; len(pix) >= 4; pix = pix[4:] {
		if pix[3] == 0 {
			binary.LittleEndian.PutUint32(pix, 0)
		}
	}
}

// makeOpaque sets alpha to 255 everywhere.
func makeOpaque(pix []byte) {
	for i := 3; i < len(pix); i += 4 {
		pix[i] = 255
	}
}

// changedRect returns the smallest rectangle that holds all pixels in which two
// pictures of one size differ, or an empty one at the origin.
func changedRect(a, b *image.NRGBA) image.Rectangle {
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
			if pixel(p, x) != pixel(q, x) {
				x0 = x
			}
		}
		for x := w; x > x1; x-- {
			if pixel(p, x-1) != pixel(q, x-1) {
				x1 = x
			}
		}
	}
	return image.Rect(x0, y0, x1, y1)
}

// pixel is pixel x of a row of RGBA as one number with alpha on top.
func pixel(row []byte, x int) uint32 { return binary.LittleEndian.Uint32(row[4*x : 4*x+4]) }

// cropPixels copies rectangle r of img to dst, bpp bytes a pixel, without gaps.
func cropPixels(dst []byte, img *image.NRGBA, r image.Rectangle, bpp int) []byte {
	dst = dst[:0]
	for y := r.Min.Y; y < r.Max.Y; y++ {
		row := img.Pix[img.PixOffset(r.Min.X, y):img.PixOffset(r.Max.X, y)]
		if bpp == 4 {
			dst = append(dst, row...)
			continue
		}
		for ; len(row) >= 4; row = row[4:] {
			dst = append(dst, row[0], row[1], row[2])
		}
	}
	return dst
}

// cropOver is cropPixels for blend OVER: pixels equal to those of prev become
// transparent. It reports false if OVER cannot be exact, since a pixel that
// changes is not opaque and lies on one that is not fully transparent, or if
// nothing is gained, since every pixel changes.
func cropOver(dst []byte, prev, img *image.NRGBA, r image.Rectangle) ([]byte, bool) {
	dst = dst[:0]
	kept := false
	for y := r.Min.Y; y < r.Max.Y; y++ {
		from, to := img.PixOffset(r.Min.X, y), img.PixOffset(r.Max.X, y)
		p, q := prev.Pix[from:to], img.Pix[from:to]
		for x := range r.Dx() {
			before, after := pixel(p, x), pixel(q, x)
			switch {
			case before == after:
				kept = kept || after != 0
				after = 0
			case after>>24 != 255 && before>>24 != 0:
				return dst, false
			}
			dst = binary.LittleEndian.AppendUint32(dst, after)
		}
	}
	return dst, kept
}
