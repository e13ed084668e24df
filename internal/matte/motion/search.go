package motion

import "github.com/bgremove/bgremove/internal/buffer"

const (
	// maxSteps bounds the steps of gradient descent of a patch in each of two passes.
	maxSteps = 8
	// subpixelBits is into how many parts a pixel is divided for sampling: 1 << subpixelBits.
	subpixelBits = 6
	// leastStep is the step that is not worth another look, in pixels.
	leastStep = 1.0 / (1 << subpixelBits)
	// poorCost is the cost of a fit from which on rest is tried, too: that of a mean difference of 4.
	poorCost = (4 * 16) * (4 * 16) * patch * patch
)

// sums are a patch's differences from another picture, in 1/16 of brightness,
// summed over its pixels: the difference, its square, and its products with
// both derivatives.
type sums struct{ d, dd, dx, dy int32 }

// fit is a displacement of a patch, in pixels, how ill it fits, and the step
// that should fit better.
type fit struct{ x, y, cost, stepX, stepY float32 }

// search finds for each patch of a where it is in b. It begins at the flow so far and asks
// neighbours, first those above and to the left, then those below and to the right.
func (f *Flow) search(a, b *level) {
	f.fits = buffer.Sized(f.fits, len(a.patch))
	for i := range a.patch {
		t := &a.patch[i]
		at := (min(int(t.y)+patch/2, a.h-1))*a.w + min(int(t.x)+patch/2, a.w-1)
		best := evaluate(a, b, t, f.x[at], f.y[at])
		if best.cost > poorCost { // where larger pictures misled
			best.propagate(a, b, t, &fit{})
		}
		if i%a.cols > 0 {
			best.propagate(a, b, t, &f.fits[i-1])
		}
		if i >= a.cols {
			best.propagate(a, b, t, &f.fits[i-a.cols])
		}
		best.descend(a, b, t)
		f.fits[i] = best
	}
	for i := len(a.patch) - 1; i >= 0; i-- {
		t, best := &a.patch[i], &f.fits[i]
		before := *best
		if i%a.cols < a.cols-1 {
			best.propagate(a, b, t, &f.fits[i+1])
		}
		if i+a.cols < len(a.patch) {
			best.propagate(a, b, t, &f.fits[i+a.cols])
		}
		if *best != before {
			best.descend(a, b, t)
		}
	}
}

// propagate takes what fits a neighbour if it fits better.
func (p *fit) propagate(a, b *level, t *template, neighbour *fit) {
	if neighbour.x == p.x && neighbour.y == p.y {
		return
	}
	if n := evaluate(a, b, t, neighbour.x, neighbour.y); n.cost < p.cost {
		*p = n
	}
}

// descend takes steps while they help.
func (p *fit) descend(a, b *level, t *template) {
	for range maxSteps {
		if p.stepX*p.stepX+p.stepY*p.stepY < leastStep*leastStep {
			return
		}
		n := evaluate(a, b, t, p.x-p.stepX, p.y-p.stepY)
		if !(n.cost < p.cost) {
			return
		}
		*p = n
	}
}

// evaluate compares a patch of a with b at the displacement x, y. A constant
// difference still counts as a match.
func evaluate(a, b *level, t *template, x, y float32) fit {
	const one, mean = 1 << subpixelBits, 1.0 / (patch * patch)
	// Places are counted from the padding's last pixel that a patch may begin at.
	u := int32((min(max(x+float32(t.x), -patch), float32(a.w))+patch)*one + 0.5)
	v := int32((min(max(y+float32(t.y), -patch), float32(a.h))+patch)*one + 0.5)
	p := fit{x: float32(u-(t.x+patch)*one) / one, y: float32(v-(t.y+patch)*one) / one}
	var s sums
	at := b.index(int(u>>subpixelBits)-patch, int(v>>subpixelBits)-patch)
	compare(&s, a.pix[t.at:], b.pix[at:], a.dx[t.at:], a.dy[t.at:], a.row, u%one, v%one)
	d := float32(s.d)
	p.cost = float32(s.dd) - d*d*mean
	// Half brings 1/16 of brightness and derivatives times 8 to pixels.
	gx, gy := (float32(s.dx)-d*t.sx*mean)/2, (float32(s.dy)-d*t.sy*mean)/2
	p.stepX, p.stepY = t.xx*gx+t.xy*gy, t.xy*gx+t.yy*gy
	return p
}
