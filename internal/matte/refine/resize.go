package refine

import (
	"image"

	"github.com/bgremove/bgremove/internal/matte/reduce"
)

// Resize fills dst with m, of any size: by bilinear interpolation, or by the mean
// of areas where either side shrinks.
func Resize(dst, m *image.Alpha) {
	w, h := size(dst)
	mw, mh := size(m)
	switch {
	case w == 0 || h == 0:
	case mw == 0 || mh == 0:
		clear(dst.Pix)
	case mw > w || mh > h:
		shrink(dst, m)
	default:
		enlarge(dst, m)
	}
}

// shrink is of pictures in which m's values are the red ones.
func shrink(dst, m *image.Alpha) {
	wide, narrow := image.NewNRGBA(image.Rectangle{Max: m.Rect.Size()}), image.NewNRGBA(image.Rectangle{Max: dst.Rect.Size()})
	for i, v := range m.Pix {
		wide.Pix[4*i] = v
	}
	reduce.New(wide.Rect.Size(), narrow.Rect.Size()).Draw(narrow, wide)
	for i := range dst.Pix {
		dst.Pix[i] = narrow.Pix[4*i]
	}
}

func enlarge(dst, small *image.Alpha) {
	w, h := size(dst)
	sw, sh := size(small)
	columns := make([]position, w)
	for x := range columns {
		columns[x] = locate(x, w, sw)
	}
	for y := range h {
		v := locate(y, h, sh)
		up := small.Pix[int(v.at)*sw:][:sw]
		down := small.Pix[min(int(v.at)+1, sh-1)*sw:][:sw]
		row := dst.Pix[y*w : (y+1)*w]
		for x, u := range columns {
			l, r := int(u.at), min(int(u.at)+1, sw-1)
			a := float32(up[l]) + u.part*(float32(up[r])-float32(up[l]))
			b := float32(down[l]) + u.part*(float32(down[r])-float32(down[l]))
			row[x] = uint8(a + v.part*(b-a) + 0.5)
		}
	}
}

// Place sets the part r of dst to part, which is of its size.
func Place(dst *image.Alpha, r image.Rectangle, part *image.Alpha) {
	for y := range r.Dy() {
		copy(dst.Pix[dst.PixOffset(r.Min.X, r.Min.Y+y):][:r.Dx()], part.Pix[y*part.Stride:])
	}
}

// locate returns where pixel x of n lies among m samples.
func locate(x, n, m int) position {
	p := min(max((float32(x)+0.5)*float32(m)/float32(n)-0.5, 0), float32(m-1))
	at := int32(p)
	return position{at, p - float32(at)}
}
