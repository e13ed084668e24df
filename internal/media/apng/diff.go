package apng

import (
	"encoding/binary"
	"image"

	"github.com/bgremove/bgremove/internal/media"
)

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
			before, after := media.Pixel(p, x), media.Pixel(q, x)
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
