package refine

import (
	"encoding/binary"
	"image"
	"sync"
)

const (
	// surely is how far from 0 or 255 a small matte is still certain.
	surely = 2
	// ring is how many samples of the small matte around uncertain ones are
	// worked on too.
	ring = 1
)

// Upsampler brings small mattes to the size of their pictures. The zero value
// is ready; it is safe for concurrent use.
type Upsampler struct {
	scratch sync.Pool // of *upsampling
}

// upsampling is the working memory of one Upsample.
type upsampling struct {
	guided
	shrunk []uint8
	x      []place // for every column of dst
	line   []coef
}

// place is where a pixel lies between two samples of the small matte.
type place struct {
	at   int32
	part float32
}

// Upsample fills dst, which has the size of img, with small, which shows the
// same field of view at any size, and lays its edges along those of img. Where
// small and what surrounds it is 0 or 255, give or take 2, dst is exactly 0 or
// 255; so a matte that is empty stays empty.
//
// It is the fast guided filter with colour guidance (K. He, J. Sun and X.
// Tang, "Guided image filtering", TPAMI 2013, section 3.5; K. He and J. Sun,
// arXiv:1505.00996): the coefficients are found at the size of small, only
// near the samples that are uncertain, and applied at full size.
func (u *Upsampler) Upsample(dst *image.Alpha, img *image.NRGBA, small *image.Alpha) {
	u.UpsampleGuided(dst, img, small, nil)
}

// UpsampleGuided is Upsample for those who have img reduced to the size of
// small already, as the network's input, which saves about a third of the
// time. A guide of another size, or nil, is not used.
func (u *Upsampler) UpsampleGuided(dst *image.Alpha, img *image.NRGBA, small *image.Alpha, guide *image.NRGBA) {
	w, h := size(dst)
	match(img, w, h)
	sw, sh := size(small)
	if w == 0 || h == 0 {
		return
	}
	if sw == 0 || sh == 0 {
		clear(dst.Pix)
		return
	}
	s, ok := u.scratch.Get().(*upsampling)
	if !ok {
		s = new(upsampling)
	}
	defer u.scratch.Put(s)
	pix := small.Pix
	if sw > w || sh > h {
		pix, sw, sh = s.shrink(pix, sw, sh, min(sw, w), min(sh, h))
	}
	s.filter(img, guide, pix, sw, sh)
	s.x = resize(s.x, w)
	for x := range s.x {
		s.x[x] = locate(x, w, sw)
	}
	s.line = resize(s.line, sw+1)
	for y := 0; y < h; y += tile {
		s.tiles(dst, img, y)
	}
}

// locate returns where pixel x of n lies among m samples.
func locate(x, n, m int) place {
	p := min(max((float32(x)+0.5)*float32(m)/float32(n)-0.5, 0), float32(m-1))
	at := int32(p)
	return place{at, p - float32(at)}
}

// shrink reduces a matte that is larger than its picture.
func (s *upsampling) shrink(pix []uint8, w, h, dw, dh int) ([]uint8, int, int) {
	wide, narrow := image.NewNRGBA(image.Rect(0, 0, w, h)), image.NewNRGBA(image.Rect(0, 0, dw, dh))
	for i, v := range pix[:w*h] {
		wide.Pix[4*i] = v
	}
	s.scale(narrow, wide)
	s.shrunk = resize(s.shrunk, dw*dh)
	for i := range s.shrunk {
		s.shrunk[i] = narrow.Pix[4*i]
	}
	return s.shrunk, dw, dh
}

// tiles fills the row of tiles of dst that begins in row y.
func (s *upsampling) tiles(dst *image.Alpha, img *image.NRGBA, y int) {
	w, h := dst.Rect.Dx(), dst.Rect.Dy()
	y1 := min(y+tile, h)
	top, bottom := locate(y, h, s.h), locate(y1-1, h, s.h)
	last := min(int(bottom.at)+1, s.h-1)
	for x := 0; x < w; x += tile {
		x1 := min(x+tile, w)
		l, r := int(s.x[x].at), min(int(s.x[x1-1].at)+1, s.w-1)
		if !s.uncertain(l, int(top.at), r, last) {
			fill(dst.Pix[y*w+x:], w, x1-x, y1-y, s.matte[int(top.at)*s.w+l])
			continue
		}
		for v := y; v < y1; v++ {
			s.blend(locate(v, h, s.h), l, r)
			s.apply(dst.Pix[v*w+x:v*w+x1], img.Pix[4*(v*w+x):4*(v*w+x1)], s.x[x:x1], int32(l))
		}
	}
}

// uncertain reports whether any sample from x0, y0 up to x1, y1, those
// included, is not certain.
func (s *upsampling) uncertain(x0, y0, x1, y1 int) bool {
	for y := y0; y <= y1; y++ {
		for _, v := range s.unsure[y*s.w+x0 : y*s.w+x1+1] {
			if v != 0 {
				return true
			}
		}
	}
	return false
}

// fill sets a rectangle of a picture w bytes wide.
func fill(pix []uint8, w, dx, dy int, v uint8) {
	if dx == tile {
		word := uint64(v) * 0x0101010101010101
		for y := range dy {
			row := pix[y*w : y*w+tile]
			binary.LittleEndian.PutUint64(row, word)
			binary.LittleEndian.PutUint64(row[8:], word)
		}
		return
	}
	for y := range dy {
		row := pix[y*w : y*w+dx]
		for x := range row {
			row[x] = v
		}
	}
}

// blend puts the coefficients of columns l to r at the height p into s.line,
// the last one twice.
func (s *upsampling) blend(p place, l, r int) {
	up := s.mean[int(p.at)*s.w:]
	down := up
	if int(p.at)+1 < s.h {
		down = s.mean[(int(p.at)+1)*s.w:]
	}
	for i := l; i <= r; i++ {
		a, b := &up[i], &down[i]
		for k := range a {
			s.line[i-l][k] = a[k] + p.part*(b[k]-a[k])
		}
	}
	s.line[r-l+1] = s.line[r-l]
}

// apply fills out from the pixels of img and the coefficients in s.line, whose
// first is that of column l.
func (s *upsampling) apply(out, img []uint8, at []place, l int32) {
	at = at[:len(out)]
	for i := range out {
		p := img[4*i : 4*i+3 : 4*i+3]
		k := at[i].at - l
		c, d := &s.line[k], &s.line[k+1]
		r, g, b := float32(p[0]), float32(p[1]), float32(p[2])
		v0 := c[0]*r + c[1]*g + c[2]*b + c[3]
		v1 := d[0]*r + d[1]*g + d[2]*b + d[3]
		out[i] = uint8(limit(v0+at[i].part*(v1-v0)) + 0.5)
	}
}
