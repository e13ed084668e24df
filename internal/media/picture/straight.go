package picture

import (
	"image"
	"image/color"
	xdraw "image/draw"
)

// Straight is img with straight alpha, from the origin on and without gaps between
// rows. It may share img's pixels.
func Straight(img image.Image) *image.NRGBA {
	size := image.Rectangle{Max: img.Bounds().Size()}
	switch p := img.(type) {
	case *image.NRGBA:
		if p.Rect == size && p.Stride == 4*size.Dx() {
			return p
		}
	case *image.NYCbCrA:
		out := opaque(&p.YCbCr)
		for y := range size.Dy() {
			alpha := p.A[y*p.AStride:][:size.Dx()]
			for x, a := range alpha {
				out.Pix[y*out.Stride+4*x+3] = a
			}
		}
		return out
	case *image.Paletted:
		return paletted(p)
	}
	if o, ok := img.(interface{ Opaque() bool }); ok && o.Opaque() {
		return opaque(img)
	}
	out := image.NewNRGBA(size)
	xdraw.Draw(out, size, img, img.Bounds().Min, xdraw.Src)
	return out
}

// opaque converts a picture without transparency: straight and premultiplied are
// the same then, and package draw is fast with the latter.
func opaque(img image.Image) *image.NRGBA {
	out := image.NewRGBA(image.Rectangle{Max: img.Bounds().Size()})
	xdraw.Draw(out, out.Rect, img, img.Bounds().Min, xdraw.Src)
	return &image.NRGBA{Pix: out.Pix, Stride: out.Stride, Rect: out.Rect}
}

func paletted(p *image.Paletted) *image.NRGBA {
	var table [256]color.NRGBA
	for i, c := range p.Palette {
		table[i], _ = color.NRGBAModel.Convert(c).(color.NRGBA)
	}
	out := image.NewNRGBA(image.Rectangle{Max: p.Rect.Size()})
	for y := range out.Rect.Dy() {
		row := out.Pix[y*out.Stride:][:out.Stride]
		for x, i := range p.Pix[y*p.Stride:][:out.Rect.Dx()] {
			c := table[i]
			row[4*x], row[4*x+1], row[4*x+2], row[4*x+3] = c.R, c.G, c.B, c.A
		}
	}
	return out
}
