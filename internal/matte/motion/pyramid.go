package motion

import "github.com/bgremove/bgremove/internal/buffer"

const (
	// patch is the side of the squares that are matched, stride how far apart they
	// are, in pixels of a level.
	patch, stride = 8, 4
	// pad is how far a level's border pixels are repeated around it: a patch may
	// leave the picture wholly, and sampling it takes a pixel more.
	pad = patch + 2
	// finest is the most pixels that the finest level may have, so that costs are
	// bounded. Larger pictures are halved first.
	finest = 40000
	// coarsest is the least length of the short side of the coarsest level.
	coarsest = 8
)

// Pyramid is a picture at several sizes, with the gradients by which patches of it are
// matched. It is made once for each frame, and serves all flows from and to it. The
// zero value is ready to be set.
type Pyramid struct {
	w, h   int
	scale  int     // how often the finest level is halved
	levels []level // from the finest
	small  [2]Luma
}

// level is a picture with its border repeated around it.
type level struct {
	w, h   int
	row    int     // from one row to the next
	pix    []uint8 // all planes begin pad rows and pixels before the picture
	dx, dy []int16 // Sobel derivatives: 8 times the change per pixel
	cols   int     // patches in a row
	patch  []template
}

// template is what matching needs to know of a patch.
type template struct {
	at     int32   // its first pixel in the planes
	x, y   int32   // where that is in the picture
	sx, sy float32 // sums of dx and dy
	inverse
}

// inverse is that of the matrix by which a patch's difference becomes a step.
type inverse struct{ xx, xy, yy float32 }

// Set makes p the pyramid of l, in the memory that p has. It does not keep l.
func (p *Pyramid) Set(l *Luma) {
	p.w, p.h, p.scale = l.W, l.H, 0
	p.levels = p.levels[:0]
	if l.W*l.H == 0 {
		return
	}
	next := 0
	for l.W*l.H > finest {
		l = p.halve(l, &next)
		p.scale++
	}
	for {
		p.level().set(l)
		if (min(l.W, l.H)+1)/2 < coarsest {
			return
		}
		l = p.halve(l, &next)
	}
}

// halve is half of l, in one of two pictures by turns.
func (p *Pyramid) halve(l *Luma, next *int) *Luma {
	half := &p.small[*next]
	*next ^= 1
	half.halve(l)
	return half
}

// level is one more level, with the memory that it had before.
func (p *Pyramid) level() *level {
	if n := len(p.levels); n < cap(p.levels) {
		p.levels = p.levels[:n+1]
	} else {
		p.levels = append(p.levels, level{})
	}
	return &p.levels[len(p.levels)-1]
}

// halve makes l the means of squares of 2 × 2 pixels of src. An odd border counts
// twice.
func (l *Luma) halve(src *Luma) {
	l.W, l.H = (src.W+1)/2, (src.H+1)/2
	l.Pix = buffer.Sized(l.Pix, l.W*l.H)
	for y := range l.H {
		a := src.Pix[2*y*src.W:][:src.W]
		b := src.Pix[min(2*y+1, src.H-1)*src.W:][:src.W]
		dst := l.Pix[y*l.W:][:l.W]
		for x := range src.W / 2 {
			dst[x] = uint8((uint32(a[2*x]) + uint32(a[2*x+1]) + uint32(b[2*x]) + uint32(b[2*x+1]) + 2) / 4)
		}
		if src.W%2 == 1 {
			dst[l.W-1] = uint8((uint32(a[src.W-1]) + uint32(b[src.W-1]) + 1) / 2)
		}
	}
}

func (l *level) set(src *Luma) {
	l.w, l.h, l.row = src.W, src.H, src.W+2*pad
	n := l.row * (l.h + 2*pad)
	l.pix, l.dx, l.dy = buffer.Sized(l.pix, n), buffer.Sized(l.dx, n), buffer.Sized(l.dy, n)
	for y := -pad; y < l.h+pad; y++ {
		from := src.Pix[min(max(y, 0), l.h-1)*l.w:][:l.w]
		to := l.pix[(y+pad)*l.row:][:l.row]
		copy(to[pad:], from)
		for x := range pad {
			to[x], to[pad+l.w+x] = from[0], from[l.w-1]
		}
	}
	for y := range max(l.h, patch) {
		l.differentiate(l.index(0, y), max(l.w, patch))
	}
	l.makeTemplates()
}

// index is that of pixel x, y in the planes.
func (l *level) index(x, y int) int { return (y+pad)*l.row + x + pad }

// differentiate sets the derivatives of n pixels from at on.
func (l *level) differentiate(at, n int) {
	a, b, c := l.pix[at-l.row-1:][:n+2], l.pix[at-1:][:n+2], l.pix[at+l.row-1:][:n+2]
	dx, dy := l.dx[at:][:n], l.dy[at:][:n]
	for x := range n {
		a0, a1, a2 := int16(a[x]), int16(a[x+1]), int16(a[x+2])
		c0, c1, c2 := int16(c[x]), int16(c[x+1]), int16(c[x+2])
		dx[x] = a2 - a0 + 2*(int16(b[x+2])-int16(b[x])) + c2 - c0
		dy[x] = c0 - a0 + 2*(c1-a1) + c2 - a2
	}
}

// makeTemplates makes the templates.
func (l *level) makeTemplates() {
	l.cols = count(l.w)
	rows := count(l.h)
	l.patch = buffer.Sized(l.patch, l.cols*rows)
	for i := range l.patch {
		x := min(i%l.cols*stride, max(l.w-patch, 0))
		y := min(i/l.cols*stride, max(l.h-patch, 0))
		l.patch[i] = l.template(x, y)
	}
}

// count is how many patches cover a side of n pixels.
func count(n int) int { return (max(n-patch, 0)+stride-1)/stride + 1 }

// template is that of the patch at x, y. The matrix is that of the gradients' products
// about their mean, as differences are taken about theirs, and a little more, for where there is
// nothing to see.
func (l *level) template(x, y int) template {
	const damp = 64 * patch * patch // in the units of products of derivatives
	at := l.index(x, y)
	var sx, sy, xx, xy, yy int32
	for r := range patch {
		dx, dy := l.dx[at+r*l.row:][:patch], l.dy[at+r*l.row:][:patch]
		for i, v := range dx {
			v, w := int32(v), int32(dy[i])
			sx, sy, xx, xy, yy = sx+v, sy+w, xx+v*v, xy+v*w, yy+w*w
		}
	}
	t := template{at: int32(at), x: int32(x), y: int32(y), sx: float32(sx), sy: float32(sy)}
	const mean = 1.0 / (patch * patch)
	a, b, c := float32(xx)-t.sx*t.sx*mean+damp, float32(xy)-t.sx*t.sy*mean, float32(yy)-t.sy*t.sy*mean+damp
	det := 1 / (a*c - b*b)
	t.inverse = inverse{c * det, -b * det, a * det}
	return t
}
