package subject

import (
	"math"

	"github.com/bgremove/bgremove/internal/matte/motion"
)

const (
	// wholeFrom is the share of its size from which on a thing counts as seen whole.
	wholeFrom = 0.75
	// shrinks is what is left of a thing's size from one frame to the next, where it is less.
	shrinks = 0.99
	// patience is for how many frames a hidden thing is looked for.
	patience = 45
	// speck is the least share of a thing's size that a piece of it has.
	speck = 0.02
)

// sight is what is known of a thing that others may hide for a while. Its planes are nil before
// the thing was seen.
type sight struct {
	size   float32       // pixels
	thing  []float32     // its matte when it was last seen whole, as values of bytes
	others []float32     // what else the clip's own matte had then
	way    *motion.Field // to the frame whose sight it is, from that which the planes are of; nil: none
	hidden int           // frames since the thing was whole
}

// after is a sight in the next frame. Most are replaced there, so the planes do not go the way yet.
func (s *sight) after(way *motion.Field) sight {
	return sight{size: s.size * shrinks, thing: s.thing, others: s.others, way: way, hidden: s.hidden + 1}
}

// arrive brings the planes to the frame whose sight it is.
func (s *sight) arrive() {
	for _, p := range []*[]float32{&s.thing, &s.others} {
		to := make([]float32, len(*p))
		s.way.Carry(to, *p, 0)
		*p = to
	}
	s.way = nil
}

// again adds to a thing's matte the pieces that come out from behind other things. These are pieces of
// the clip's own matte near where the thing was, and were not there when it was seen whole. If it is
// whole now, that is remembered.
func (f *follower) again(s *sight, matte, own []uint8) {
	area := float32(0)
	for _, a := range matte {
		area += float32(a) / 255
	}
	size := max(s.size, area)
	if s.thing != nil && area < wholeFrom*s.size {
		if s.hidden > patience {
			return
		}
		s.arrive()
		if area = f.uncover(s, matte, own, area); area < wholeFrom*s.size {
			return
		}
	}
	*s = sight{size: size, thing: make([]float32, len(matte)), others: make([]float32, len(matte))}
	for k, a := range matte {
		s.thing[k] = float32(a)
		if a < part {
			s.others[k] = float32(own[k])
		}
	}
}

// uncover adds to a matte, which covers an area, the pieces that again speaks of. It returns the
// area with them.
func (f *follower) uncover(s *sight, matte, own []uint8, area float32) float32 {
	last := f.marks.extent(func(k int) bool { return s.thing[k] >= part })
	if last.Empty() { // it left the picture
		return area
	}
	in := make([]bool, len(matte))
	free := func(k int) bool { return own[k] >= part && matte[k] < part && s.others[k] < part }
	f.marks.each(last.Inset(-int(math.Sqrt(float64(s.size)))), func(k, _, _ int) {
		if in[k] || !free(k) {
			return
		}
		in[k] = true
		piece := f.marks.spread(in, []int{k}, free)
		if n := float32(len(piece)); n < speck*s.size || area+n > s.size {
			return
		}
		for _, k := range piece {
			area += float32(own[k]-matte[k]) / 255
			matte[k] = own[k]
		}
	})
	return area
}
