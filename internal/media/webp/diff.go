package webp

import (
	"bytes"
	"image"
)

// block is the side of VP8's macroblocks. A block without change is left out
// whole, so that no other block has holes.
const block = 16

// row is the part of a picture's row y that lies in r.
func row(img *image.NRGBA, y int, r image.Rectangle) []byte {
	return img.Pix[img.PixOffset(r.Min.X, y):][:4*r.Dx()]
}

// within is a rectangle of a size that has changed in it and lies in the canvas.
func within(changed image.Rectangle, size image.Point, canvas image.Rectangle) image.Rectangle {
	at := image.Pt(min(changed.Min.X&^1, canvas.Max.X-size.X), min(changed.Min.Y&^1, canvas.Max.Y-size.Y))
	return image.Rectangle{at, at.Add(size)}
}

// roomy is a side for changes of a length: longer by an eighth, for those to come. The
// last place for it is at an even coordinate, as files need it.
func roomy(length, side int) int {
	length += length / 8
	length += (side - length) & 1
	if 8*length >= 7*side {
		return side
	}
	return length
}

// cut copies r of img into pix as blue, green, red and alpha. It leaves out blocks
// in which img and prev are the same, as transparent black, and reports over: the
// rectangle is then laid over the picture before. That is exact only if all other
// pixels are opaque, or lie on transparent ones; else nothing is left out.
func cut(pix []byte, prev, img *image.NRGBA, r image.Rectangle) (over bool) {
	swap(pix, img, r)
	var same []image.Rectangle
	for y := r.Min.Y; y < r.Max.Y; y += block {
		for x := r.Min.X; x < r.Max.X; x += block {
			b := image.Rect(x, y, x+block, y+block).Intersect(r)
			switch {
			case sameBlock(prev, img, b):
				same = append(same, b)
			case !covers(prev, img, b):
				return false
			}
		}
	}
	for _, b := range same {
		b = b.Sub(r.Min)
		for y := b.Min.Y; y < b.Max.Y; y++ {
			clear(pix[4*(y*r.Dx()+b.Min.X):][:4*b.Dx()])
		}
	}
	return len(same) > 0
}

// swap copies r of img with red and blue exchanged.
func swap(pix []byte, img *image.NRGBA, r image.Rectangle) {
	for y := r.Min.Y; y < r.Max.Y; y++ {
		for from := row(img, y, r); len(from) >= 4; from, pix = from[4:], pix[4:] {
			pix[0], pix[1], pix[2], pix[3] = from[2], from[1], from[0], from[3]
		}
	}
}

func sameBlock(a, b *image.NRGBA, r image.Rectangle) bool {
	for y := r.Min.Y; y < r.Max.Y; y++ {
		if !bytes.Equal(row(a, y, r), row(b, y, r)) {
			return false
		}
	}
	return true
}

// covers reports whether img laid over prev looks like img.
func covers(prev, img *image.NRGBA, r image.Rectangle) bool {
	for y := r.Min.Y; y < r.Max.Y; y++ {
		p, q := row(prev, y, r), row(img, y, r)
		for i := 3; i < len(p); i += 4 {
			if q[i] != 255 && p[i] != 0 {
				return false
			}
		}
	}
	return true
}
