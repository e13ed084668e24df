package subject

import "github.com/bgremove/bgremove/internal/matte/motion"

// sums gathers motion along tracks: moved is the sum of sample.moving and seen that of
// sample.seen, of a cell and of the cells it comes from.
type sums struct {
	moved, seen   []float32
	before, spare []float32
}

// reset begins a shot of n cells.
func (s *sums) reset(n int) {
	for _, p := range []*[]float32{&s.moved, &s.seen, &s.before, &s.spare} {
		*p = sized(*p, n)
		clear(*p)
	}
}

// advance goes on to the next frame, in either direction of time. way leads from each
// cell to where it was in the last frame, and is trusted by trust, 0 to 1; nil if there
// was none.
func (s *sums) advance(way *motion.Field, trust, moving, seen []float32) {
	for _, v := range []struct {
		sum *[]float32
		add []float32
	}{{&s.moved, moving}, {&s.seen, seen}} {
		if way != nil {
			way.Carry(s.spare, *v.sum, 0)
			*v.sum, s.spare = s.spare, *v.sum
		}
		for i, a := range v.add {
			if way == nil {
				(*v.sum)[i] = a
			} else {
				(*v.sum)[i] = a + trust[i]*(*v.sum)[i]
			}
		}
	}
}

// most is the motion 1 in a byte. unknown stands for a place that was not followed.
const most, unknown = 254, 255

// portion is the byte of a motion.
func portion(v float32) uint8 { return uint8(min(max(v, 0), 1)*most + 0.5) }

// histogram counts motions.
type histogram struct {
	counts [most + 1]int
	all    int
}

func (h *histogram) add(v uint8) {
	h.counts[v]++
	h.all++
}

// quantile is the motion, 0 to 1, that a share q has at most. It is 0 without any.
func (h *histogram) quantile(q float64) float64 {
	passed := 0
	for v, n := range h.counts {
		if passed += n; n > 0 && float64(passed) >= q*float64(h.all) {
			return float64(v) / most
		}
	}
	return 0
}
