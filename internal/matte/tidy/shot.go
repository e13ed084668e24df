package tidy

import "sort"

// shot is a run of frames without a cut. Parts are compared with those of their own shot: a
// subject may be small beside that of another one.
type shot struct {
	first, last int32
	largest     int64 // the alpha of its largest part, over all its frames
}

// findLargest sets each shot's largest.
func (v *Volume) findLargest() {
	for i := range v.parts.nodes {
		n := &v.parts.nodes[v.parts.find(int32(i))]
		s := v.shotOf(n)
		s.largest = max(s.largest, n.mass)
	}
}

// shotOf is the shot that a node is in.
func (v *Volume) shotOf(n *node) *shot {
	return &v.shots[sort.Search(len(v.shots), func(i int) bool { return v.shots[i].last >= n.first })]
}

func (s *shot) length() int32 { return s.last - s.first + 1 }

// inside reports whether a node begins and ends within the shot. Otherwise it may live on beyond it.
func (s *shot) inside(n *node) bool { return n.first > s.first && n.last < s.last }

// flickers reports whether a node is there so briefly, and has such a share of the largest part's
// alpha in a frame, that it is flicker.
func (s *shot) flickers(n *node, share float64) bool {
	mean := float64(s.largest) / float64(s.length())
	return s.length() > 2*maxFlicker && n.lifetime() <= maxFlicker && float64(n.mass)/float64(n.lifetime()) < share*mean
}

// isSpeck reports whether a part is too small beside the largest part.
func (s *shot) isSpeck(n *node) bool {
	frames := max(n.lifetime(), min(s.length(), longest))
	return float64(n.mass) < minMass*float64(s.largest)*(float64(frames)/float64(s.length()))
}
