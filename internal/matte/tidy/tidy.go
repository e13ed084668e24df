// Package tidy removes parts of a clip's mattes that do not belong to its
// subject: haze that never becomes solid, specks that live for some frames, and
// such holes. It looks at all frames together, as a volume of cells, and joins
// parts that touch in space or follow each other in time.
package tidy

import (
	"image"
)

const (
	// maxCells is how many cells the shorter side of a picture has, at most, and
	// minCellSide the least side of a cell in pixels.
	maxCells, minCellSide = 60, 4
	// A pixel is seen from visibleAlpha on, makes its cell part of something from partAlpha
	// on, and surely is subject from solidAlpha on. Below holeAlpha it is a hole.
	visibleAlpha, partAlpha, solidAlpha, holeAlpha = 8, 96, 200, 128
	// reach is how many cells a faint part may lie off from a strong one, as
	// with hair and blurred motion.
	reach = 5
	// maxMove is how many cells a part may move from one frame to the next.
	maxMove = 2
	// minMass is the share of the largest part's alpha that a part must have. It is counted over
	// as many frames as the part is there, but over longest frames at least, or the whole shot.
	// Over all frames of a long shot, somebody who passes by would have too small a share.
	minMass, longest = 0.003, 300
	// minSolid is the share of a part's visible pixels that must be solid.
	minSolid = 0.15
	// A small part, or a hole, that is there for up to maxFlicker frames is flicker. It is
	// smaller than flickerShare, or holeShare, of the largest part's alpha in a frame.
	maxFlicker, flickerShare, holeShare = 3, 0.2, 0.02
)

// Volume keeps a summary of the mattes of a clip, some hundred bytes a frame.
// Call Add for all frames in order, and Cut between two that show different scenes, then
// Decide once. The other methods may be called after that, from any goroutine.
type Volume struct {
	// Largest leaves only the largest part of each shot. Set it before Decide.
	Largest bool
	// Faint leaves parts of which little is solid: the subject was asked for, and is no haze. Set
	// it before Decide.
	Faint bool

	size     image.Point // of the mattes
	cellSide int         // side in pixels
	grid     grid
	cells    []cell // of the frame that is added
	frames   []frame
	shots    []shot
	parts    forest
	holes    forest
	// previousParts and previousHoles are the frame's before it, as nodes of the forests + 1.
	previousParts, previousHoles []int32
	label                        []int32 // of the frame that is added
	queue                        []int32
}

// cell summarises a square of a matte.
type cell struct {
	maxAlpha, minAlpha   uint8
	mass, solid, visible int64           // sum of alpha, and numbers of pixels
	bounds               image.Rectangle // of the visible pixels
}

// frame summarises one matte.
type frame struct {
	parts, holes regions
	boxes        []image.Rectangle // of the parts
	box          image.Rectangle   // of those that stay, once decided
}

// New returns a Volume of mattes of a size.
func New(size image.Point) *Volume {
	v := &Volume{size: size, cellSide: max(minCellSide, (min(size.X, size.Y)+maxCells-1)/maxCells)}
	v.grid = grid{(size.X + v.cellSide - 1) / v.cellSide, (size.Y + v.cellSide - 1) / v.cellSide}
	n := v.grid.w * v.grid.h
	v.cells, v.label = make([]cell, n), make([]int32, n)
	v.previousParts, v.previousHoles = make([]int32, n), make([]int32, n)
	return v
}

// Cut begins a shot: nothing in the next frame goes on from the one before.
func (v *Volume) Cut() {
	clear(v.previousParts)
	clear(v.previousHoles)
	n := int32(len(v.frames))
	v.shots = append(v.shots, shot{first: n, last: n - 1})
}

// Add adds the next matte. Its rows are contiguous.
func (v *Volume) Add(m *image.Alpha) {
	if len(v.shots) == 0 {
		v.Cut()
	}
	v.measure(m)
	f := frame{parts: v.addParts()}
	f.boxes = make([]image.Rectangle, f.parts.count)
	for i, l := range v.label {
		if c := &v.cells[i]; l != 0 && c.visible > 0 {
			f.boxes[l-1] = f.boxes[l-1].Union(c.bounds)
		}
	}
	f.holes = v.addHoles()
	v.shots[len(v.shots)-1].last = int32(len(v.frames))
	v.frames = append(v.frames, f)
}

// addParts joins strong cells, those of the frame before too, and leaves each
// visible cell's part in label.
func (v *Volume) addParts() regions {
	count := v.components(func(c *cell) bool { return c.maxAlpha >= partAlpha }, true)
	first := v.parts.add(count, len(v.frames))
	for i, l := range v.label {
		if l == 0 {
			continue
		}
		v.parts.nodes[v.parts.find(first+l-1)].add(&v.cells[i])
		v.grid.around(i, maxMove, func(k int) {
			if b := v.previousParts[k]; b != 0 {
				v.parts.union(first+l-1, b-1)
			}
		})
	}
	for i, l := range v.label {
		if v.previousParts[i] = 0; l != 0 {
			v.previousParts[i] = first + l
		}
	}
	v.attach()
	return encode(v.label, first, count, func(i int) bool { return v.cells[i].visible > 0 })
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
				if v.label[k] == 0 && v.cells[k].visible > 0 {
					v.label[k] = v.label[i]
					v.queue = append(v.queue, int32(k))
				}
			})
		}
		begin = end
	}
}

// addHoles joins cells of holes, those of the frame before too.
func (v *Volume) addHoles() regions {
	count := v.components(func(c *cell) bool { return c.minAlpha < holeAlpha }, false)
	first := v.holes.add(count, len(v.frames))
	for i, l := range v.label {
		b := v.previousHoles[i]
		if v.previousHoles[i] = 0; l == 0 {
			continue
		}
		node := &v.holes.nodes[v.holes.find(first+l-1)]
		node.mass += int64(255*v.cellSide*v.cellSide) - v.cells[i].mass
		node.outside = node.outside || v.grid.atBorder(i)
		if b != 0 {
			v.holes.union(first+l-1, b-1)
		}
		v.previousHoles[i] = first + l
	}
	return encode(v.label, first, count, func(i int) bool {
		return v.label[i] != 0 && !v.holes.nodes[v.holes.find(first+v.label[i]-1)].outside
	})
}

// isHaze reports whether too little of a part is solid.
func (v *Volume) isHaze(n *node) bool {
	return !v.Faint && float64(n.solid) < minSolid*float64(n.visible)
}

// Decide settles what stays.
func (v *Volume) Decide() {
	v.findLargest()
	for i := range v.parts.nodes {
		n := &v.parts.nodes[i]
		if n.parent != int32(i) {
			continue
		}
		s := v.shotOf(n)
		n.removed = v.Largest && n.mass < s.largest || v.isHaze(n) || s.isSpeck(n) || s.inside(n) && s.flickers(n, flickerShare)
	}
	for i := range v.holes.nodes {
		n := &v.holes.nodes[i]
		n.removed = n.parent == int32(i) && !n.outside && v.shotOf(n).flickers(n, holeShare)
	}
	for i := range v.frames {
		f := &v.frames[i]
		for k, box := range f.boxes {
			if !v.parts.isRemoved(f.parts.first + int32(k)) {
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
		if node < 0 || v.parts.isRemoved(node) {
			v.fill(m, at, 0)
		}
	})
	f.holes.each(func(at int, node int32) {
		if v.holes.isRemoved(node) {
			v.fill(m, at, 255)
		}
	})
}

// fill sets the pixels of a cell.
func (v *Volume) fill(m *image.Alpha, at int, alpha uint8) {
	r := v.cellRect(at)
	for y := r.Min.Y; y < r.Max.Y; y++ {
		row := m.Pix[y*m.Stride+r.Min.X : y*m.Stride+r.Max.X]
		for x := range row {
			row[x] = alpha
		}
	}
}

// cellRect is the pixels of a cell.
func (v *Volume) cellRect(at int) image.Rectangle {
	corner := image.Pt(at%v.grid.w, at/v.grid.w).Mul(v.cellSide)
	return image.Rectangle{corner, corner.Add(image.Pt(v.cellSide, v.cellSide))}.Intersect(image.Rectangle{Max: v.size})
}
