package motion

import "github.com/bgremove/bgremove/internal/buffer"

// Variational refinement makes the flow smooth where nothing speaks against it: it
// minimises how much brightness and its gradient change along the flow, and how much the flow
// changes (T. Brox, A. Bruhn, N. Papenberg, J. Weickert, "High Accuracy Optical Flow
// Estimation Based on a Theory for Warping", ECCV 2004, without its pyramid).
const (
	// rounds is how often the robust weights are recomputed, sweeps how often
	// the equations are solved by over-relaxation in each round.
	rounds, sweeps = 5, 4
	overRelaxation = 1.8
	// smoothnessWeight, brightnessWeight and gradientWeight weigh the flow's change, that of brightness and that of
	// its gradient.
	smoothnessWeight, brightnessWeight, gradientWeight = 60, 10, 10
	// edgeStep is the step in brightness over which the flow's change counts half: things
	// end at edges.
	edgeStep = 4
	// gradientFloor is the root below which gradients count as little, in brightness per pixel;
	// penaltyEpsilon is where a deviation begins to count by its size instead of its square.
	gradientFloor, penaltyEpsilon = 1, 0.003
	// divisorFloor keeps divisors from 0.
	divisorFloor = 1e-6
)

// lanes is the number of values processed at once.
const lanes = 8

// A block has the terms of lanes pixels. They are first those of three constraints: x and y
// times the flow should add up to z. Then they are those of the equations for both
// components, with the weights of a pixel's four edges.
const (
	px, py, pz = 0, 1, 2 // brightness
	qx, qy, qz = 3, 4, 5 // its horizontal gradient
	rx, ry, rz = 6, 7, 8 // its vertical gradient

	cross, bx, by, ix, iy, left, right, up, down = 0, 1, 2, 3, 4, 5, 6, 7, 8

	terms = 9
)

type block [terms][lanes]float32

// refiner refines flows. A row of its planes has the even pixels first, then the odd
// ones, so that neighbours of one kind, which the solver must not change together, are all
// of the other. Each half begins with a margin, and there are rim rows before the first
// and after the last.
type refiner struct {
	w, h   int
	groups int // blocks in half a row
	half   int // from a row's even pixels to its odd ones
	row    int // from one row to the next

	u, v       []float32 // the flow
	mean, diff []float32 // of the first picture and the other, brought back by the flow
	known      []float32 // 1 where that is inside, else 0
	sx, sy     []float32 // how far the pixel to the right and the one below should move alike
	kx, ky     []float32 // the same, as the flow so far lets it seem
	data, work []block   // constraints and equations, half a row after the other
}

// rim is from how far away a pixel's gradients come.
const rim = 2

// refine changes the flow x, y from a to b. The constraints hold near the flow that they
// are made with, so they are made as often as there are warps.
func (r *refiner) refine(x, y []float32, a, b *level, warps int) {
	r.resize(a.w, a.h)
	r.scatter(r.u, x)
	r.scatter(r.v, y)
	for y := range r.h {
		r.setSmoothness(y, a)
	}
	for range warps {
		r.warp(a, b)
		r.eachHalf(r.constrain)
		r.minimise()
	}
	r.gather(x, r.u)
	r.gather(y, r.v)
}

// minimise makes the flow obey the constraints.
func (r *refiner) minimise() {
	for range rounds {
		r.repeatBorder(r.u)
		r.repeatBorder(r.v)
		r.eachHalf(r.edges)
		r.eachHalf(r.system)
		r.solve()
	}
}

func (r *refiner) resize(w, h int) {
	r.w, r.h = w, h
	r.groups = ((w+1)/2 + lanes - 1) / lanes
	r.half = (r.groups + 1) * lanes
	r.row = 2 * r.half
	n := (h+2*rim)*r.row + lanes
	for _, p := range []*[]float32{&r.u, &r.v, &r.mean, &r.diff, &r.known, &r.sx, &r.sy, &r.kx, &r.ky} {
		*p = buffer.Sized(*p, n)
		clear(*p)
	}
	r.data, r.work = buffer.Sized(r.data, 2*r.groups*h), buffer.Sized(r.work, 2*r.groups*h)
}

// at is where the even or odd pixels of a row begin.
func (r *refiner) at(y, odd int) int { return (y+rim)*r.row + odd*r.half + lanes }

// split is the even and the odd pixels of a row of a plane.
func (r *refiner) split(p []float32, y int) (even, odd []float32) {
	return p[r.at(y, 0):][:(r.w+1)/2], p[r.at(y, 1):][:r.w/2]
}

// scatter brings values to a plane, gather brings them back.
func (r *refiner) scatter(to, from []float32) {
	for y := range r.h {
		line := from[y*r.w:][:r.w]
		e, o := r.split(to, y)
		for i := range o {
			e[i], o[i] = line[2*i], line[2*i+1]
		}
		e[len(e)-1] = line[len(line)-1-(r.w+1)%2]
	}
}

func (r *refiner) gather(to, from []float32) {
	for y := range r.h {
		line := to[y*r.w:][:r.w]
		e, o := r.split(from, y)
		line[len(line)-1-(r.w+1)%2] = e[len(e)-1]
		for i := range o {
			line[2*i], line[2*i+1] = e[i], o[i]
		}
	}
}

// repeatBorder repeats the border of a plane in its rim.
func (r *refiner) repeatBorder(p []float32) {
	odd, last := (r.w-1)%2, (r.w-1)/2
	for y := range r.h {
		this, other := r.at(y, odd), r.at(y, 1-odd)
		first, end := p[r.at(y, 0)], p[this+last]
		p[r.at(y, 0)-1], p[r.at(y, 1)-1] = first, first
		p[other+last+odd], p[this+last+1] = end, end
	}
	top, bottom := p[r.at(0, 0)-lanes:][:r.row+lanes], p[r.at(r.h-1, 0)-lanes:][:r.row]
	for i := range rim {
		copy(p[r.at(-1-i, 0)-lanes:][:r.row], top)
		copy(p[r.at(r.h+i, 0)-lanes:][:r.row], bottom)
	}
}

// eachHalf calls f for all halves of rows, with its number, where it begins, and where the
// pixels to the left of it begin.
func (r *refiner) eachHalf(f func(half, at, before int)) {
	for y := range r.h {
		for odd := range 2 {
			f(2*y+odd, r.at(y, odd), r.at(y, 1-odd)-1+odd)
		}
	}
}

// solve relaxes all pixels, first those of one kind, then those of the other.
// The sweeps follow each other down the picture two rows apart, while their
// data are in the cache.
func (r *refiner) solve() {
	for front := range r.h + 2*sweeps - 1 {
		for s := range sweeps {
			y := front - 2*s
			r.relaxHalf(y, y&1)
			r.relaxHalf(y-1, y&1)
		}
	}
}

func (r *refiner) relaxHalf(y, odd int) {
	if y >= 0 && y < r.h {
		r.relax(2*y+odd, r.at(y, odd), r.at(y, 1-odd)-1+odd)
	}
}
