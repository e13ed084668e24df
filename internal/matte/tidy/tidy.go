// Package tidy removes parts of a clip's mattes that do not belong to its
// subject: haze that never becomes solid, specks that live for some frames, and
// such holes. It looks at all frames together, as a volume of cells, and joins
// parts that touch in space or follow each other in time.
package tidy

import (
	"image"
)

const (
	// cellsAcross is how many cells the shorter side of a picture has, at most, and
	// leastCell the least side of a cell in pixels.
	cellsAcross, leastCell = 60, 4
	// visible is the alpha from which a pixel is seen, strong that from which it
	// makes its cell part of something, solid that of what surely is subject, and
	// open the alpha below which it is a hole.
	visible, strong, solid, open = 8, 96, 200, 128
	// reach is how many cells a faint part may lie off from a strong one, as
	// with hair and blurred motion.
	reach = 5
	// stride is how many cells a part may move from one frame to the next.
	stride = 2
	// leastMass is the share of the largest part's alpha that a part must have,
	// leastSolid the share of its visible pixels that must be solid.
	leastMass, leastSolid = 0.003, 0.3
	// flash is the number of frames up to which a small part, or a hole, is taken
	// for a mistake. flashShare is how small, as a share of the largest part's
	// alpha in a frame, and holeShare the same of holes.
	flash, flashShare, holeShare = 3, 0.2, 0.02
)

// Volume keeps a summary of the mattes of a clip, some hundred bytes a frame.
// Call Add for all frames in order, then Decide once. The other methods may be
// called after that, from any goroutine.
type Volume struct {
	size   image.Point // of the mattes
	cell   int         // side in pixels
	grid   grid
	cells  []cell // of the frame that is added
	frames []frame
	parts  forest
	holes  forest
	// before are the frame's before it, as nodes of the forests + 1.
	before, beforeOpen []int32
	label              []int32 // of the frame that is added
	queue              []int32
}

// cell summarises a square of a matte.
type cell struct {
	peak, least        uint8
	mass, solid, shown int64           // sum of alpha, and numbers of pixels
	bounds             image.Rectangle // of the visible pixels
}

// frame summarises one matte.
type frame struct {
	parts, holes regions
	boxes        []image.Rectangle // of the parts
	box          image.Rectangle   // of those that stay, once decided
}

// New returns a Volume of mattes of a size.
func New(size image.Point) *Volume {
	v := &Volume{size: size, cell: max(leastCell, (min(size.X, size.Y)+cellsAcross-1)/cellsAcross)}
	v.grid = grid{(size.X + v.cell - 1) / v.cell, (size.Y + v.cell - 1) / v.cell}
	n := v.grid.w * v.grid.h
	v.cells, v.label = make([]cell, n), make([]int32, n)
	v.before, v.beforeOpen = make([]int32, n), make([]int32, n)
	return v
}

// Add adds the next matte. Its rows are contiguous.
func (v *Volume) Add(m *image.Alpha) {
	v.measure(m)
	f := frame{parts: v.addParts()}
	f.boxes = make([]image.Rectangle, f.parts.count)
	for i, l := range v.label {
		if c := &v.cells[i]; l != 0 && c.shown > 0 {
			f.boxes[l-1] = f.boxes[l-1].Union(c.bounds)
		}
	}
	f.holes = v.addHoles()
	v.frames = append(v.frames, f)
}

// addParts joins strong cells, those of the frame before too, and leaves each
// visible cell's part in label.
func (v *Volume) addParts() regions {
	count := v.components(func(c *cell) bool { return c.peak >= strong }, true)
	first := v.parts.grow(count, len(v.frames))
	for i, l := range v.label {
		if l == 0 {
			continue
		}
		v.parts.nodes[v.parts.find(first+l-1)].add(&v.cells[i])
		v.grid.around(i, stride, func(k int) {
			if b := v.before[k]; b != 0 {
				v.parts.union(first+l-1, b-1)
			}
		})
	}
	for i, l := range v.label {
		if v.before[i] = 0; l != 0 {
			v.before[i] = first + l
		}
	}
	v.attach()
	return encode(v.label, first, count, func(i int) bool { return v.cells[i].shown > 0 })
}

// attach gives faint cells the part of the nearest strong one within reach, along
// visible cells.
func (v *Volume) attach() {
	v.queue = v.queue[:0]
	for i, l := range v.label {
		if l != 0 {
			v.queue = append(v.queue, int32(i))
		}
	}
	begin := 0
	for range reach { // a ring of cells at a time
		end := len(v.queue)
		for _, i := range v.queue[begin:end] {
			v.grid.around(int(i), 1, func(k int) {
				if v.label[k] == 0 && v.cells[k].shown > 0 {
					v.label[k] = v.label[i]
					v.queue = append(v.queue, int32(k))
				}
			})
		}
		begin = end
	}
}

// addHoles joins open cells, those of the frame before too.
func (v *Volume) addHoles() regions {
	count := v.components(func(c *cell) bool { return c.least < open }, false)
	first := v.holes.grow(count, len(v.frames))
	for i, l := range v.label {
		b := v.beforeOpen[i]
		if v.beforeOpen[i] = 0; l == 0 {
			continue
		}
		node := &v.holes.nodes[v.holes.find(first+l-1)]
		node.mass += int64(255*v.cell*v.cell) - v.cells[i].mass
		node.outside = node.outside || v.grid.atBorder(i)
		if b != 0 {
			v.holes.union(first+l-1, b-1)
		}
		v.beforeOpen[i] = first + l
	}
	return encode(v.label, first, count, func(i int) bool {
		return v.label[i] != 0 && !v.holes.nodes[v.holes.find(first+v.label[i]-1)].outside
	})
}

// Decide settles what stays.
func (v *Volume) Decide() {
	largest := int64(0)
	for i := range v.parts.nodes {
		largest = max(largest, v.parts.nodes[v.parts.find(int32(i))].mass)
	}
	perFrame := float64(largest) / float64(max(len(v.frames), 1))
	for i := range v.parts.nodes {
		n := &v.parts.nodes[i]
		if n.parent != int32(i) {
			continue
		}
		inside := n.born > 0 && int(n.died) < len(v.frames)-1 // else it may live on beyond the clip
		flashes := inside && len(v.frames) > 2*flash && n.life() <= flash && float64(n.mass)/float64(n.life()) < flashShare*perFrame
		n.off = float64(n.solid) < leastSolid*float64(n.shown) || float64(n.mass) < leastMass*float64(largest) || flashes
	}
	for i := range v.holes.nodes {
		n := &v.holes.nodes[i]
		n.off = n.parent == int32(i) && !n.outside && len(v.frames) > 2*flash && n.life() <= flash &&
			float64(n.mass)/float64(n.life()) < holeShare*perFrame
	}
	for i := range v.frames {
		f := &v.frames[i]
		for k, box := range f.boxes {
			if !v.parts.isOff(f.parts.first + int32(k)) {
				f.box = f.box.Union(box)
			}
		}
		f.boxes = nil
	}
}

// Box is where the subject is in a frame, in pixels.
func (v *Volume) Box(i int) image.Rectangle { return v.frames[i].box }

// Clean removes short-lived parts from a frame's matte and fills short-lived
// holes.
func (v *Volume) Clean(i int, m *image.Alpha) {
	f := &v.frames[i]
	f.parts.each(func(at int, node int32) {
		if node < 0 || v.parts.isOff(node) {
			v.fill(m, at, 0)
		}
	})
	f.holes.each(func(at int, node int32) {
		if v.holes.isOff(node) {
			v.fill(m, at, 255)
		}
	})
}

// fill sets the pixels of a cell.
func (v *Volume) fill(m *image.Alpha, at int, alpha uint8) {
	r := v.square(at)
	for y := r.Min.Y; y < r.Max.Y; y++ {
		row := m.Pix[y*m.Stride+r.Min.X : y*m.Stride+r.Max.X]
		for x := range row {
			row[x] = alpha
		}
	}
}

// square is the pixels of a cell.
func (v *Volume) square(at int) image.Rectangle {
	corner := image.Pt(at%v.grid.w, at/v.grid.w).Mul(v.cell)
	return image.Rectangle{corner, corner.Add(image.Pt(v.cell, v.cell))}.Intersect(image.Rectangle{Max: v.size})
}
