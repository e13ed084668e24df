package canvas

import (
	"image"
	"image/color"
)

// SideBySide shows two pictures of one size next to each other. Transparency
// appears as the checkerboard of image editors.
func SideBySide(left, right *image.NRGBA) *image.NRGBA {
	const gap = 8
	w, h := left.Rect.Dx(), left.Rect.Dy()
	out := image.NewNRGBA(image.Rect(0, 0, 2*w+gap, h))
	Flatten(out, color.NRGBA{255, 255, 255, 255})
	for i, img := range []*image.NRGBA{left, right} {
		overChecks(out, image.Pt(i*(w+gap), 0), img)
	}
	return out
}

// overChecks composites img over a checkerboard at the given place of dst.
func overChecks(dst *image.NRGBA, at image.Point, img *image.NRGBA) {
	const side = 8
	for y := range img.Rect.Dy() {
		for x := range img.Rect.Dx() {
			check := uint8(255)
			if (x/side+y/side)%2 == 1 {
				check = 204
			}
			s := img.Pix[img.PixOffset(x, y):]
			d := dst.Pix[dst.PixOffset(at.X+x, at.Y+y):]
			a := uint32(s[3])
			d[0], d[1], d[2], d[3] = Mix(s[0], check, a), Mix(s[1], check, a), Mix(s[2], check, a), 255
		}
	}
}
