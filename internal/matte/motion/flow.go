package motion

// Flow estimates dense optical flow. The zero value is ready. It keeps memory for the
// next call and is for one goroutine.
type Flow struct {
	x, y   []float32 // the flow at the level in work
	coarse [2][]float32
	fits   []fit
	weight []float32
	refiner
}

// Between sets dst to how a moves to become b, in pixels of the pictures that they are
// the pyramids of, which have the same size.
func (f *Flow) Between(dst *Field, a, b *Pyramid) {
	if a.w != b.w || a.h != b.h {
		panic("motion: pictures of two sizes")
	}
	dst.Set(a.w, a.h)
	for i := len(a.levels) - 1; i >= 0; i-- {
		l := &a.levels[i]
		if i == len(a.levels)-1 {
			f.x, f.y = sized(f.x, l.w*l.h), sized(f.y, l.w*l.h)
			clear(f.x)
			clear(f.y)
		} else {
			f.double(&a.levels[i+1], l)
		}
		f.search(l, &b.levels[i])
		f.densify(l, &b.levels[i])
		f.refine(f.x, f.y, l, &b.levels[i])
	}
	if len(a.levels) > 0 {
		f.enlarge(dst, &a.levels[0], a.scale)
	}
}

// double brings the flow of one level to the next finer one.
func (f *Flow) double(from, to *level) {
	f.x, f.coarse[0] = f.coarse[0], f.x
	f.y, f.coarse[1] = f.coarse[1], f.y
	f.x, f.y = sized(f.x, to.w*to.h), sized(f.y, to.w*to.h)
	stretch(f.x, f.coarse[0], to.w, to.h, from.w, from.h, 1)
	stretch(f.y, f.coarse[1], to.w, to.h, from.w, from.h, 1)
}

// enlarge brings the flow of the finest level to full size.
func (f *Flow) enlarge(dst *Field, l *level, scale int) {
	stretch(dst.X, f.x, dst.W, dst.H, l.w, l.h, scale)
	stretch(dst.Y, f.y, dst.W, dst.H, l.w, l.h, scale)
}

// stretch sets dst, w × h, to the bilinear values of src, which was halved scale times,
// times how much larger dst is.
func stretch(dst, src []float32, w, h, sw, sh, scale int) {
	one := float32(int(1) << scale)
	for y := range h {
		j, ky := tap(y, sh, one)
		a, b := src[j*sw:][:sw], src[min(j+1, sh-1)*sw:][:sw]
		for x := range w {
			i, kx := tap(x, sw, one)
			k := min(i+1, sw-1)
			top, bottom := a[i]+kx*(a[k]-a[i]), b[i]+kx*(b[k]-b[i])
			dst[y*w+x] = one * (top + ky*(bottom-top))
		}
	}
}

// tap is the sample before place x of something one times larger, and how far the place
// is from it to the next.
func tap(x, n int, one float32) (i int, k float32) {
	at := min(max((float32(x)+0.5)/one-0.5, 0), float32(n-1))
	i = int(at)
	return i, at - float32(i)
}

// densify makes a flow for each pixel: the mean of those of the patches on it, each by
// how well it foretells the pixel (section 2.2 of the paper).
func (f *Flow) densify(a, b *level) {
	n := a.w * a.h
	f.weight = sized(f.weight, n)
	clear(f.weight)
	clear(f.x)
	clear(f.y)
	for i := range a.patch {
		f.lay(a, b, &a.patch[i], &f.fits[i])
	}
	for i, w := range f.weight {
		f.x[i] /= w
		f.y[i] /= w
	}
}

// lay adds a patch to the flow.
func (f *Flow) lay(a, b *level, t *template, p *fit) {
	const one = 1 << parts
	u, v := int32((p.x+float32(t.x)+patch)*one+0.5), int32((p.y+float32(t.y)+patch)*one+0.5)
	at := b.index(int(u>>parts)-patch, int(v>>parts)-patch)
	above := across(b.pix[at:], u%one)
	for y := range min(patch, a.h) {
		below := across(b.pix[at+(y+1)*b.row:], u%one)
		pa := a.pix[int(t.at)+y*a.row:][:patch]
		to := (int(t.y)+y)*a.w + int(t.x)
		for x := range min(patch, a.w) {
			d := above[x] + ((below[x]-above[x])*(v%one)+one/2)>>parts - int32(pa[x])<<parts
			k := 1 / float32(max(d, -d, one))
			f.weight[to+x] += k
			f.x[to+x] += k * p.x
			f.y[to+x] += k * p.y
		}
		above = below
	}
}
