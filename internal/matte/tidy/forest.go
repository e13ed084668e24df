package tidy

// node is a component of one frame; the root of a tree represents all its
// nodes.
type node struct {
	parent     int32
	born, died int32 // first and last frame
	mass       int64 // sum of alpha, or of missing alpha
	solid      int64 // pixels
	shown      int64
	outside    bool // a hole that is none
	off        bool // does not stay; of roots, once decided
}

func (n *node) add(c *cell) {
	n.mass += c.mass
	n.solid += c.solid
	n.shown += c.shown
}

// life is in how many frames it is.
func (n *node) life() int32 { return n.died - n.born + 1 }

// forest joins components over time (R. Tarjan, "Efficiency of a good but not
// linear set union algorithm", Journal of the ACM 22(2), 1975).
type forest struct{ nodes []node }

// grow adds components of a frame, and returns the first.
func (f *forest) grow(count int32, frame int) (first int32) {
	first = int32(len(f.nodes))
	for i := range count {
		f.nodes = append(f.nodes, node{parent: first + i, born: int32(frame), died: int32(frame)})
	}
	return first
}

func (f *forest) find(i int32) int32 {
	for f.nodes[i].parent != i {
		f.nodes[i].parent = f.nodes[f.nodes[i].parent].parent
		i = f.nodes[i].parent
	}
	return i
}

func (f *forest) union(a, b int32) {
	a, b = f.find(a), f.find(b)
	if a == b {
		return
	}
	if b < a {
		a, b = b, a
	}
	to, from := &f.nodes[a], &f.nodes[b]
	from.parent = a
	to.born, to.died = min(to.born, from.born), max(to.died, from.died)
	to.mass += from.mass
	to.solid += from.solid
	to.shown += from.shown
	to.outside = to.outside || from.outside
}

// isOff reports whether the component of a node does not stay. It changes nothing.
func (f *forest) isOff(i int32) bool {
	for f.nodes[i].parent != i {
		i = f.nodes[i].parent
	}
	return f.nodes[i].off
}
