package plate

import (
	"math"

	"github.com/bgremove/bgremove/internal/buffer"
)

const (
	// maxLevels is at how many sizes, each half the one before, is searched.
	maxLevels = 4
	// maxIterations bounds the steps at each size, of at most two pixels there; one
	// below stepTolerance ends them.
	maxIterations, stepTolerance = 8, 0.02
	// robustScale is the difference of lightness, in 1/255, from which on a pixel
	// counts half: it shows something else.
	robustScale = 12
	// jitter is how far, in pixels, a camera that stands may seem to have moved.
	jitter = 0.06
	// maxMismatch is the mean difference of lightness from which on two pictures do
	// not show the same place, minOverlap the share of pixels that must be known in both.
	maxMismatch, minOverlap = 9, 0.05
	// A camera may move by 1/rangeDivisor of a picture between frames, but by no more than
	// maxRange pixels of the smallest size.
	rangeDivisor, maxRange = 6, 12
)

// aligner finds how far apart two pictures of the same place are. The zero value
// is ready.
type aligner struct {
	frame, plate [maxLevels]level
}

// level is the lightness of a picture, halved some times, and where it is known.
type level struct {
	w, h  int
	light []float32
	known []uint8
}

// find returns the d for which the frame's backdrop at x is the plate's at x+d, how
// much lighter it is, in 1/255, and whether that shows the same place.
func (a *aligner) find(s *frame, predicted *prediction) (d point, lighter float64, ok bool) {
	a.frame[0].set(s.w, s.h, s.pix, s.kind)
	a.plate[0].set(s.w, s.h, predicted.pix, predicted.known)
	n := 1
	for n < maxLevels && min(a.frame[n-1].w, a.frame[n-1].h) >= 48 {
		a.frame[n].halve(&a.frame[n-1])
		a.plate[n].halve(&a.plate[n-1])
		n++
	}
	d, lighter, ok = a.coarseToFine(n, point{}, 0)
	if !ok { // the camera may have moved far
		if d, lighter, ok = search(&a.frame[n-1], &a.plate[n-1]); ok {
			d, lighter, ok = a.coarseToFine(n, d, lighter)
		}
	}
	if max(math.Abs(d.x), math.Abs(d.y)) < jitter {
		d = point{}
	}
	return d, lighter, ok
}

// coarseToFine goes down the n sizes, starting with d at the smallest.
func (a *aligner) coarseToFine(n int, d point, lighter float64) (_ point, _ float64, ok bool) {
	mismatch := 0.0
	for i := n - 1; i >= 0; i-- {
		if i < n-1 {
			d.x, d.y = 2*d.x, 2*d.y
		}
		iterations := maxIterations
		if i == 0 {
			iterations = 2
		}
		for range iterations {
			e := match(&a.frame[i], &a.plate[i], d, lighter)
			if e.count < minOverlap*float64(a.frame[i].w*a.frame[i].h) {
				return point{}, 0, false
			}
			step := e.solve()
			mismatch = e.mismatch / e.count
			d.x, d.y, lighter = d.x+step[0], d.y+step[1], lighter+step[2]
			if max(math.Abs(step[0]), math.Abs(step[1])) < stepTolerance {
				break
			}
		}
		if limit := maxMismatch * float64(1+min(i, 1)); mismatch > limit { // twice as much while it is still searched for
			return point{}, 0, false
		}
	}
	return d, lighter, true
}

// search tries all whole steps up to a share of the picture. It returns the
// best, how much lighter the frame is there, and whether there is one.
func search(f, p *level) (best point, lighter float64, ok bool) {
	minCost := math.Inf(1)
	across, down := min(f.w/rangeDivisor, maxRange), min(f.h/rangeDivisor, maxRange)
	for y := -down; y <= down; y++ {
		for x := -across; x <= across; x++ {
			if cost, bias := mismatch(f, p, x, y); cost < minCost {
				best, lighter, minCost = point{float64(x), float64(y)}, bias, cost
			}
		}
	}
	return best, lighter, minCost < math.Inf(1)
}

// mismatch is the mean robust difference of a frame from the plate x, y away, and
// how much lighter the frame is there on the mean.
func mismatch(f, p *level, x, y int) (cost, lighter float64) {
	s := shifting{frame: f, plate: p}
	from, to := max(0, -x), min(f.w, p.w-x)
	top, bottom := max(0, -y), min(f.h, p.h-y)
	for v := top; v < bottom; v++ {
		s.sum(v*f.w+from, (v+y)*p.w+from+x, to-from)
	}
	if float64(s.count) < minOverlap*float64(f.w*f.h) {
		return math.Inf(1), 0
	}
	s.mean = total(&s.sums) / float32(s.count)
	for v := top; v < bottom; v++ {
		s.cost(v*f.w+from, (v+y)*p.w+from+x, to-from)
	}
	return float64(total(&s.costs) / float32(s.count)), float64(s.mean)
}

// total is the sum of all lanes.
func total(v *[lanes]float32) (sum float32) {
	for _, f := range v {
		sum += f
	}
	return sum
}

// set takes the lightness of RGBA pixels, which count where known has the bit of
// backdrop.
func (l *level) set(w, h int, pix, known []uint8) {
	l.resize(w, h)
	lightness(l.light, pix)
	for i, k := range known[:len(l.known)] {
		l.known[i] = k & backdrop
	}
}

func (l *level) resize(w, h int) {
	l.w, l.h = w, h
	l.light, l.known = buffer.Sized(l.light, w*h), buffer.Sized(l.known, w*h)
}

// halve makes l half as large as from. A pixel is unknown if any of its four
// is.
func (l *level) halve(from *level) {
	l.resize(from.w/2, from.h/2)
	for y := range l.h {
		for x := range l.w {
			i, o := 2*y*from.w+2*x, y*l.w+x
			l.light[o] = (from.light[i] + from.light[i+1] + from.light[i+from.w] + from.light[i+from.w+1]) / 4
			l.known[o] = from.known[i] & from.known[i+1] & from.known[i+from.w] & from.known[i+from.w+1]
		}
	}
}

// normalEquations are the normal equations of a step in x, y and lightness, and how well
// the pictures agree before it.
type normalEquations struct {
	a        [3][3]float64
	b        [3]float64
	count    float64
	mismatch float64 // sum of the differences
}

// match compares a frame with a plate d away. Differences count the less the
// larger they are (Geman and McClure).
func match(f, p *level, d point, bias float64) (e normalEquations) {
	x0, y0, k := weights(d)
	m := matching{frame: f, plate: p, weight: k, lighter: float32(bias)}
	from, to := max(1, -x0), min(f.w-1, p.w-1-x0)
	for y := max(1, -y0); y < min(f.h-1, p.h-1-y0); y++ {
		m.sums = [matchSums][lanes]float32{}
		m.row(y*f.w+from, (y+y0)*p.w+from+x0, to-from)
		e.add(&m.sums)
	}
	e.count = float64(m.count)
	return e
}

// add adds what was gathered in a row.
func (e *normalEquations) add(row *[matchSums][lanes]float32) {
	var s [matchSums]float64
	for i := range row {
		s[i] = float64(total(&row[i]))
	}
	e.a[0][0] += s[xx]
	e.a[0][1] += s[xy]
	e.a[1][1] += s[yy]
	e.a[0][2] += s[xs]
	e.a[1][2] += s[ys]
	e.a[2][2] += s[ss]
	e.b[0] += s[xe]
	e.b[1] += s[ye]
	e.b[2] += s[se]
	e.mismatch += s[apart]
}

// solve returns the solution of the equations, a step of at most two pixels. In
// pictures without structure it is small.
func (e *normalEquations) solve() (step [3]float64) {
	a, b := e.a, e.b
	a[1][0], a[2][0], a[2][1] = a[0][1], a[0][2], a[1][2]
	a[0][0] += 1e-3*e.count + 1e-9
	a[1][1] += 1e-3*e.count + 1e-9
	a[2][2] += 1e-9
	for i := range 3 { // Gauss; the matrix is symmetric and positive
		for j := i + 1; j < 3; j++ {
			f := a[j][i] / a[i][i]
			for k := i; k < 3; k++ {
				a[j][k] -= f * a[i][k]
			}
			b[j] -= f * b[i]
		}
	}
	for i := 2; i >= 0; i-- {
		step[i] = b[i]
		for k := i + 1; k < 3; k++ {
			step[i] -= a[i][k] * step[k]
		}
		step[i] /= a[i][i]
	}
	step[0], step[1] = min(max(step[0], -2), 2), min(max(step[1], -2), 2)
	return step
}
