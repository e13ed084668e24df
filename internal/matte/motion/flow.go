package motion

import "github.com/bgremove/bgremove/internal/buffer"

// finestWarps is how often the finest level is refined; the others are once.
const finestWarps = 2

// Flow estimates dense optical flow. The zero value is ready. It keeps memory for the
// next call and is for one goroutine.
type Flow struct {
	x, y   []float32 // the flow at the level in work
	coarse [2][]float32
	fits   []fit
	weight []float32
	line   []float32
	refiner
}

// Between sets dst to how a moves to become b, in pixels of the pictures that they are
// the pyramids of, which have the same size.
func (f *Flow) Between(dst *Field, a, b *Pyramid) {
	if a.w != b.w || a.h != b.h {
		panic("motion: pictures of two sizes")
	}
	dst.Set(a.w, a.h)
	f.reserve(a)
	for i := len(a.levels) - 1; i >= 0; i-- {
		l := &a.levels[i]
		if i == len(a.levels)-1 {
			f.x, f.y = buffer.Sized(f.x, l.w*l.h), buffer.Sized(f.y, l.w*l.h)
			clear(f.x)
			clear(f.y)
		} else {
			f.upscale(l.w, l.h)
		}
		f.search(l, &b.levels[i])
		f.densify(l, &b.levels[i])
		n := 1
		if i == 0 {
			n = finestWarps
		}
		f.refine(f.x, f.y, l, &b.levels[i], n)
	}
	if len(a.levels) > 0 {
		f.enlarge(dst, a.scale)
	}
}

// reserve makes room for the flow at all levels below full size, which take turns.
func (f *Flow) reserve(p *Pyramid) {
	times := min(p.scale, 1)
	n := halved(p.w, times) * halved(p.h, times)
	for _, s := range []*[]float32{&f.x, &f.y, &f.coarse[0], &f.coarse[1]} {
		*s = buffer.Sized(*s, n)
	}
}

// upscale brings the flow of one level, w × h, to the next finer one.
func (f *Flow) upscale(w, h int) {
	f.x, f.coarse[0] = f.coarse[0], f.x
	f.y, f.coarse[1] = f.coarse[1], f.y
	f.x, f.y = buffer.Sized(f.x, w*h), buffer.Sized(f.y, w*h)
	f.upsample(f.x, f.coarse[0], w, h)
	f.upsample(f.y, f.coarse[1], w, h)
}

// enlarge brings the flow of the finest level to full size.
func (f *Flow) enlarge(dst *Field, scale int) {
	if scale == 0 {
		copy(dst.X, f.x)
		copy(dst.Y, f.y)
		return
	}
	for ; scale > 1; scale-- {
		f.upscale(halved(dst.W, scale-1), halved(dst.H, scale-1))
	}
	f.upsample(dst.X, f.x, dst.W, dst.H)
	f.upsample(dst.Y, f.y, dst.W, dst.H)
}

// halved is what halving a side of n pixels leaves, with odd ones rounded up.
func halved(n, times int) int { return (n + 1<<times - 1) >> times }

// upsample sets dst, w × h, to twice the bilinear values of src, which is half as large.
func (f *Flow) upsample(dst, src []float32, w, h int) {
	sw, sh := halved(w, 1), halved(h, 1)
	f.line = buffer.Sized(f.line, sw+2)
	line := f.line
	for y := range h {
		near, far := src[y/2*sw:][:sw], src[min(max(y/2+2*(y%2)-1, 0), sh-1)*sw:][:sw]
		mix(line[1:sw+1], near, far)
		line[0], line[sw+1] = line[1], line[sw]
		to := dst[y*w:][:w]
		interpolate(to[:w&^1], line)
		if w%2 == 1 {
			to[w-1] = 0.25*line[sw-1] + 0.75*line[sw]
		}
	}
}

// densify makes a flow for each pixel: the mean of those of the patches on it, each by
// how well it foretells the pixel (section 2.2 of the paper).
func (f *Flow) densify(a, b *level) {
	n := a.w * a.h
	f.weight = buffer.Sized(f.weight, n)
	clear(f.weight)
	clear(f.x)
	clear(f.y)
	for i := range a.patch {
		f.blend(a, b, &a.patch[i], &f.fits[i])
	}
	for i, w := range f.weight {
		f.x[i] /= w
		f.y[i] /= w
	}
}

// blend adds a patch to the flow.
func (f *Flow) blend(a, b *level, t *template, p *fit) {
	const one = 1 << subpixelBits
	u, v := int32((p.x+float32(t.x)+patch)*one+0.5), int32((p.y+float32(t.y)+patch)*one+0.5)
	pa, pb := a.pix[t.at:], b.pix[b.index(int(u>>subpixelBits)-patch, int(v>>subpixelBits)-patch):]
	to := int(t.y)*a.w + int(t.x)
	if min(a.w, a.h) >= patch {
		f.blendPatch(to, a.w, p, pa, pb, a.row, u%one, v%one)
	} else {
		f.blendPlain(to, a.w, min(patch, a.w), min(patch, a.h), p, pa, pb, a.row, u%one, v%one)
	}
}
