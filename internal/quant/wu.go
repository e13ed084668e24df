package quant

import "math"

// The first palette is found by variance minimisation on a cumulative
// histogram: Xiaolin Wu, "Color Quantization by Dynamic Programming and
// Principal Analysis", ACM Transactions on Graphics 11(4), 1992, in the greedy
// form of his "Efficient Statistical Computations for Optimal Color
// Quantization", Graphics Gems II, 1991.

const (
	wuBits = 5
	wuSide = 1<<wuBits + 1 // plus one for the empty border of the prefix sums
)

// moment holds the weight, the weighted colour sum and the weighted sum of
// squares of a set of samples.
type moment struct{ n, r, g, b, sq float64 }

func (m moment) plus(o moment) moment {
	return moment{m.n + o.n, m.r + o.r, m.g + o.g, m.b + o.b, m.sq + o.sq}
}

func (m moment) minus(o moment) moment {
	return moment{m.n - o.n, m.r - o.r, m.g - o.g, m.b - o.b, m.sq - o.sq}
}

// squaredError is that of the samples if the mean replaces the whole set.
func (m moment) squaredError() float64 {
	if m.n <= 0 {
		return 0
	}
	return m.sq - m.gain()
}

// gain is the part of the sum of squares that the mean accounts for.
func (m moment) gain() float64 {
	if m.n <= 0 {
		return 0
	}
	return (m.r*m.r + m.g*m.g + m.b*m.b) / m.n
}

// box is the half-open range of cells lo < i <= hi in each axis.
type box struct {
	lo, hi [3]int
	spread float64
}

type wu struct{ sum []moment }

func wuIndex(r, g, b int) int { return (r*wuSide+g)*wuSide + b }

func newWu(list []sample) *wu {
	w := &wu{sum: make([]moment, wuSide*wuSide*wuSide)}
	for _, s := range list {
		i := wuIndex(int(s.r)>>(8-wuBits)+1, int(s.g)>>(8-wuBits)+1, int(s.b)>>(8-wuBits)+1)
		n, r, g, b := float64(s.n), float64(s.r), float64(s.g), float64(s.b)
		w.sum[i] = w.sum[i].plus(moment{n, n * r, n * g, n * b, n * (r*r + g*g + b*b)})
	}
	for r := 1; r < wuSide; r++ {
		var area [wuSide]moment
		for g := 1; g < wuSide; g++ {
			var line moment
			for b := 1; b < wuSide; b++ {
				i := wuIndex(r, g, b)
				line = line.plus(w.sum[i])
				area[b] = area[b].plus(line)
				w.sum[i] = w.sum[i-wuSide*wuSide].plus(area[b])
			}
		}
	}
	return w
}

func (w *wu) boxMoment(b box) moment {
	at := func(r, g, bl int) moment { return w.sum[wuIndex(r, g, bl)] }
	l, h := b.lo, b.hi
	return at(h[0], h[1], h[2]).minus(at(h[0], h[1], l[2])).minus(at(h[0], l[1], h[2])).
		plus(at(h[0], l[1], l[2])).minus(at(l[0], h[1], h[2])).plus(at(l[0], h[1], l[2])).
		plus(at(l[0], l[1], h[2])).minus(at(l[0], l[1], l[2]))
}

// splitBox splits b where the sum of the halves' spreads is least. It reports false
// if only one cell of b has colour.
func (w *wu) splitBox(b box) (left, right box, ok bool) {
	whole, best := w.boxMoment(b), 0.0
	for axis := range 3 {
		for i := b.lo[axis] + 1; i < b.hi[axis]; i++ {
			half := b
			half.hi[axis] = i
			m := w.boxMoment(half)
			rest := whole.minus(m)
			if m.n <= 0 || rest.n <= 0 {
				continue
			}
			if gain := m.gain() + rest.gain(); gain > best {
				best, left, right, ok = gain, half, b, true
				right.lo[axis] = i
			}
		}
	}
	left.spread = w.boxMoment(left).squaredError()
	right.spread = w.boxMoment(right).squaredError()
	return left, right, ok
}

// palette returns at most n means.
func (w *wu) palette(n int) [][3]float32 {
	var out [][3]float32
	for _, b := range w.split(n, func(int, float64) {}) {
		if m := w.boxMoment(b); m.n > 0 {
			out = append(out, [3]float32{float32(m.r / m.n), float32(m.g / m.n), float32(m.b / m.n)})
		}
	}
	return out
}

// boxCount is the best number of boxes, up to n. It minimises the mean squared
// error plus lambda times the bits that tell the boxes apart.
func (w *wu) boxCount(n int, lambda float64) int {
	pixels := w.boxMoment(whole).n
	best, at := math.Inf(1), n
	w.split(n, func(boxes int, spread float64) {
		if cost := spread/pixels + lambda*math.Log2(float64(boxes)); cost < best {
			best, at = cost, boxes
		}
	})
	return at
}

// whole is the box of all cells.
var whole = box{hi: [3]int{wuSide - 1, wuSide - 1, wuSide - 1}}

// split makes at most n boxes by halving the worst one repeatedly. It calls the
// function each with their number and the sum of their spreads, before the
// first split and after each one.
func (w *wu) split(n int, each func(boxes int, spread float64)) []box {
	first := whole
	first.spread = w.boxMoment(first).squaredError()
	total, boxes := first.spread, []box{first}
	each(1, total)
	for len(boxes) < n {
		worst := 0
		for i := range boxes {
			if boxes[i].spread > boxes[worst].spread {
				worst = i
			}
		}
		if boxes[worst].spread <= 0 {
			break
		}
		left, right, ok := w.splitBox(boxes[worst])
		if !ok {
			boxes[worst].spread = 0
			continue
		}
		total += left.spread + right.spread - boxes[worst].spread
		boxes[worst] = left
		boxes = append(boxes, right)
		each(len(boxes), total)
	}
	return boxes
}
