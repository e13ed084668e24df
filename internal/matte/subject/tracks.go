package subject

import (
	"github.com/bgremove/bgremove/internal/buffer"
	"github.com/bgremove/bgremove/internal/matte/motion"
)

// The quantities that are gathered along tracks: moved, along and seen are
// sample.moving and so on, covered is the matte, and followed counts frames.
const (
	moved = iota
	along
	seen
	covered
	followed
	quantities
)

// sums gathers quantities along tracks, of a cell and of the cells it comes from.
type sums struct {
	of    [quantities][]float32
	spare []float32
}

// reset begins a shot of n cells.
func (s *sums) reset(n int) {
	for q := range s.of {
		s.of[q] = buffer.Sized(s.of[q], n)
		clear(s.of[q])
	}
	s.spare = buffer.Sized(s.spare, n)
}

// advance goes on to the next frame, in either direction of time. way leads from each
// cell to where it was in the last frame; nil if there was none. trust is that in it, 0 to 1.
func (s *sums) advance(way *motion.Field, trust []float32, add *[quantities][]float32) {
	for q, added := range add {
		s.of[q], s.spare = gather(s.of[q], s.spare, way, trust, added)
	}
}

// gather adds to a sum along tracks, as sums.advance does. It needs a spare plane, and gives one back.
func gather(sum, spare []float32, way *motion.Field, trust, added []float32) (next, free []float32) {
	if way == nil {
		copy(sum, added)
		return sum, spare
	}
	way.Carry(spare, sum, 0)
	for i, a := range added {
		spare[i] = a + fading*trust[i]*spare[i]
	}
	return spare, sum
}

// join sets the sums to those before and after a frame, which has both.
func (s *sums) join(before, after, now *[quantities][]float32) {
	for q := range s.of {
		s.of[q] = buffer.Sized(s.of[q], len(now[q]))
		for i, a := range now[q] {
			s.of[q][i] = before[q][i] + after[q][i] - a
		}
	}
}

// means are five planes of bytes: view.TrackMotion, TrackAlong, TrackTrust, TrackCoverage
// and TrackFrames.
func (s *sums) means() [][]uint8 {
	n := len(s.of[seen])
	all := make([]uint8, 5*n)
	var planes [][]uint8
	for i := range 5 {
		planes = append(planes, all[i*n:(i+1)*n])
	}
	for i, trust := range s.of[seen] {
		known := max(trust, 1e-3)
		planes[0][i] = round(s.of[moved][i] / known)
		planes[1][i] = signed(s.of[along][i] / known)
		planes[2][i] = logarithm(trust)
		planes[3][i] = round(s.of[covered][i] / max(s.of[followed][i], 1e-3))
		planes[4][i] = logarithm(s.of[followed][i])
	}
	return planes
}

// histogram counts shares.
type histogram struct {
	counts [256]int
	all    int
}

func (h *histogram) add(v float32) { h.count(int(round(v))) }

// count adds a share of 255.
func (h *histogram) count(share int) {
	h.counts[share]++
	h.all++
}

// quantile is the share, 0 to 1, that a part q of them has at most. It is 0 without any.
func (h *histogram) quantile(q float64) float64 {
	passed := 0
	for v, n := range h.counts {
		if passed += n; n > 0 && float64(passed) >= q*float64(h.all) {
			return float64(v) / 255
		}
	}
	return 0
}
