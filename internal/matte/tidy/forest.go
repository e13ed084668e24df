package tidy

// node is a component of one frame; the root of a tree represents all its
// nodes.
type node struct {
	parent      int32
	first, last int32 // first and last frame
	mass        int64 // sum of alpha, or of missing alpha
	solid       int64 // pixels
	visible     int64
	outside     bool // a hole that is none
	removed     bool // does not stay; of roots, once decided
}

func (n *node) add(c *cell) {
	n.mass += c.mass
	n.solid += c.solid
	n.visible += c.visible
}

// lifetime is in how many frames it is.
func (n *node) lifetime() int32 { return n.last - n.first + 1 }

// forest joins components over time (R. Tarjan, "Efficiency of a good but not
// linear set union algorithm", Journal of the ACM 22(2), 1975).
type forest struct{ nodes []node }

// add adds components of a frame, and returns the first.
func (f *forest) add(count int32, frame int) (first int32) {
	first = int32(len(f.nodes))
	for i := range count {
		f.nodes = append(f.nodes, node{parent: first + i, first: int32(frame), last: int32(frame)})
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
	to.first, to.last = min(to.first, from.first), max(to.last, from.last)
	to.mass += from.mass
	to.solid += from.solid
	to.visible += from.visible
	to.outside = to.outside || from.outside
}

// isRemoved reports whether the component of a node does not stay. It changes nothing.
func (f *forest) isRemoved(i int32) bool {
	for f.nodes[i].parent != i {
		i = f.nodes[i].parent
	}
	return f.nodes[i].removed
}
