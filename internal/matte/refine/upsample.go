package refine

import (
	"image"
	"sync"

	"github.com/bgremove/bgremove/internal/buffer"
)

const (
	// certainMargin is how far from 0 or 255 a small matte is still certain.
	certainMargin = 2
	// ring is the number of samples around uncertain ones in the small matte
	// that are processed too.
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
	x, y        []int   // where every cell between samples begins in dst
	unsureCells []uint8 // 1 for cells of a row with uncertain corners
	line        []coef
	solid       []uint8 // a row of 255
}

// Upsample fills dst, which has the size of img, with small, which shows the
// same field of view at any size, and aligns its edges with those of img. If
// small and its surroundings are 0 or 255, give or take 2, dst is exactly 0 or
// 255, so an empty matte stays empty. Results within 8 of 0 or 255 are rounded
// to that, and the rest is stretched. guide is img in the size of small, as the
// network saw it, which saves about a third of the time. Without it, or in
// another size, img is reduced.
//
// It is the fast guided filter with colour guidance (K. He, J. Sun and X. Tang,
// "Guided image filtering", TPAMI 2013, section 3.5; K. He and J. Sun,
// arXiv:1505.00996). The coefficients are computed at the size of small, only
// near uncertain samples, and applied at full size.
func (u *Upsampler) Upsample(dst *image.Alpha, img *image.NRGBA, small *image.Alpha, guide *image.NRGBA) {
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
	if sw > w || sh > h {
		sw, sh = min(sw, w), min(sh, h)
		fit := image.NewAlpha(image.Rect(0, 0, sw, sh))
		Resize(fit, small)
		small = fit
	}
	defer s.end()
	if !s.begin(img, guide, small.Pix, sw, sh) {
		set(dst.Pix[:w*h], s.matte[0])
		return
	}
	s.x, s.y = starts(s.x, w, sw), starts(s.y, h, sh)
	s.unsureCells, s.line, s.solid = buffer.Sized(s.unsureCells, sw+1), buffer.Sized(s.line, sw), buffer.Sized(s.solid, w)
	set(s.solid, 255)
	for k := range sh + 1 {
		s.fillRows(dst, img, k)
	}
}

// starts returns the first of n pixels in every cell of m samples, and last n.
// Cell k lies between the middles of samples k-1 and k, those at both ends
// beyond the first and the last.
func starts(at []int, n, m int) []int {
	at = buffer.Sized(at, m+2)
	for k := range at {
		at[k] = min(max(((2*k-1)*n+m-1)/(2*m), 0), n)
	}
	at[0], at[m+1] = 0, n
	return at
}

// set fills pix with v.
func set(pix []uint8, v uint8) {
	for i := range pix {
		pix[i] = v
	}
}

// part is how far pixel x of n lies on the way from sample k-1 of m to k.
func part(x, n, m, k int) float32 {
	return (float32(x)+0.5)*float32(m)/float32(n) + 0.5 - float32(k)
}

// fillRows fills the rows of dst that lie between rows k-1 and k of samples.
func (s *upsampling) fillRows(dst *image.Alpha, img *image.NRGBA, k int) {
	w, h := dst.Rect.Dx(), dst.Rect.Dy()
	above, below := max(k-1, 0), min(k, s.h-1)
	s.mark(s.unsure[above*s.w:][:s.w], s.unsure[below*s.w:][:s.w])
	matte, up, down := s.matte[above*s.w:][:s.w], s.coefficients(above), s.coefficients(below)
	for y := s.y[k]; y < s.y[k+1]; y++ {
		row, pix := dst.Pix[y*w:(y+1)*w], img.Pix[4*y*w:4*(y+1)*w]
		at := part(y, h, s.h, k)
		for c := 0; c <= s.w; {
			c0, c1 := run(s.unsureCells, c)
			if c < c0 {
				s.fill(row[s.x[c]:s.x[c0]], matte[min(c, s.w-1)])
			}
			if c0 < c1 {
				s.blend(up, down, at, max(c0-1, 0), min(c1, s.w))
			}
			for c = c0; c < c1; c++ {
				s.apply(row, pix, c)
			}
		}
	}
}

// mark sets s.unsureCells to the cells between two rows of samples that have a corner
// which is unsure.
func (s *upsampling) mark(up, down []uint8) {
	last := uint8(0)
	down = down[:len(up)]
	unsure := s.unsureCells[:len(up)+1]
	for i, v := range up {
		v |= down[i]
		unsure[i] = last | v
		last = v
	}
	unsure[len(up)] = last
}

// fill sets certain pixels to v, 0 or 255.
func (s *upsampling) fill(row []uint8, v uint8) {
	if v == 0 {
		clear(row)
	} else {
		copy(row, s.solid)
	}
}

// blend puts the coefficients of columns l up to r between two rows of samples
// into s.line.
func (s *upsampling) blend(up, down []coef, part float32, l, r int) {
	up, down = up[l:r], down[l:r]
	for i := range up {
		a, b := &up[i], &down[i]
		s.line[l+i] = coef{
			a[0] + part*(b[0]-a[0]), a[1] + part*(b[1]-a[1]), a[2] + part*(b[2]-a[2]), a[3] + part*(b[3]-a[3]),
		}
	}
}

// apply fills the pixels of a row in cell c by their colours and coefficients.
func (s *upsampling) apply(row, img []uint8, c int) {
	x0, x1 := s.x[c], s.x[c+1]
	a, b := &s.line[max(c-1, 0)], &s.line[min(c, s.w-1)]
	at, step := part(x0, len(row), s.w, c), float32(s.w)/float32(len(row))
	d0, d1, d2, d3 := b[0]-a[0], b[1]-a[1], b[2]-a[2], b[3]-a[3]
	k0, k1, k2, k3 := a[0]+at*d0, a[1]+at*d1, a[2]+at*d2, a[3]+at*d3
	d0, d1, d2, d3 = d0*step, d1*step, d2*step, d3*step
	out := row[x0:x1]
	img = img[4*x0 : 4*x1]
	for i := range out {
		p := img[4*i : 4*i+3 : 4*i+3]
		out[i] = toByte(k0*float32(p[0]) + k1*float32(p[1]) + k2*float32(p[2]) + k3)
		k0 += d0
		k1 += d1
		k2 += d2
		k3 += d3
	}
}
