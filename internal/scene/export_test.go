package scene

import (
	"image"

	"github.com/bgremove/bgremove/pkg/option"
)

// ScaledTo is how large a picture is scaled to cover a canvas.
func ScaledTo(source, size image.Point) image.Point {
	return newFitter(option.Cover, source, size).target.Size()
}

// ToneOf is the tone of a picture where its alpha is at least a half.
func ToneOf(img *image.NRGBA) (t Tone) {
	t.addAll(img.Rect.Size(), func(x, y int) (r, g, b uint8, alpha uint32) {
		p := img.Pix[y*img.Stride+4*x:][:4:4]
		return p[0], p[1], p[2], uint32(p[3])
	})
	return t
}
