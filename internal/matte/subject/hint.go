package subject

import (
	"image"
	"math"
)

// Hint says of one frame that something in it is wanted, or is not. Just one of its shapes
// is set. Their places are shares of the picture's width and height, 0 to 1.
type Hint struct {
	Frame int
	// Keep says that what is marked is subject, and otherwise that it is not.
	Keep bool
	// Click is a point on the thing.
	Click *Point
	// Box is two corners around the thing.
	Box *[2]Point
	// Stroke is the line of a brush of a radius, a share of the picture's height, on the thing.
	Stroke []Point
	Radius float64
	// Mask has what is marked, opaque, in any size.
	Mask *image.Alpha
}

// Point is a place in a picture.
type Point struct{ X, Y float64 }

// The marks in a plane: of a click's cell, of those around it, and of a box, in which some
// cells are not of the thing.
const clicked, near, boxed = 255, 128, 100

// marker marks cells of pictures of w × h pixels.
type marker struct {
	grid image.Point
	w, h int
}

// mark adds a hint to its plane.
func (m marker) mark(plane []float32, h *Hint) {
	switch {
	case h.Click != nil:
		x, y := m.cell(*h.Click)
		m.fill(plane, image.Rect(x-1, y-1, x+2, y+2), near)
		plane[y*m.grid.X+x] = clicked
	case h.Box != nil:
		x0, y0 := m.cell(h.Box[0])
		x1, y1 := m.cell(h.Box[1])
		m.fill(plane, image.Rect(x0, y0, x1+1, y1+1), boxed)
	case h.Mask != nil:
		m.each(func(k int, x, y float64) {
			size := h.Mask.Rect.Size()
			if h.Mask.AlphaAt(h.Mask.Rect.Min.X+int(x*float64(size.X)), h.Mask.Rect.Min.Y+int(y*float64(size.Y))).A > 127 {
				plane[k] = clicked
			}
		})
	default:
		m.stroke(plane, h)
	}
}

// hold makes a choice what a hint says, where that is sure: in the cells of a click, a
// stroke and a mask. What is kept may end within those at their border.
func (m marker) hold(chosen []uint8, h *Hint) {
	plane := make([]float32, len(chosen))
	m.mark(plane, h)
	for k, mark := range plane {
		switch {
		case mark != clicked:
		case !h.Keep:
			chosen[k] = 0
		case m.within(plane, k):
			chosen[k] = 255
		}
	}
}

// within reports whether all cells around one are marked, too.
func (m marker) within(plane []float32, k int) bool {
	x, y := k%m.grid.X, k/m.grid.X
	for j := max(y-1, 0); j <= min(y+1, m.grid.Y-1); j++ {
		for i := max(x-1, 0); i <= min(x+1, m.grid.X-1); i++ {
			if plane[j*m.grid.X+i] < near {
				return false
			}
		}
	}
	return true
}

// stroke marks the cells on a brush's line.
func (m marker) stroke(plane []float32, h *Hint) {
	aspect := float64(m.w) / float64(m.h)
	for i, to := range h.Stroke {
		from := h.Stroke[max(i-1, 0)]
		m.each(func(k int, x, y float64) {
			if away((x-from.X)*aspect, y-from.Y, (to.X-from.X)*aspect, to.Y-from.Y) <= h.Radius {
				plane[k] = clicked
			}
		})
		x, y := m.cell(to)
		plane[y*m.grid.X+x] = clicked
	}
}

// away is how far a point is from the line from the origin to an end.
func away(x, y, toX, toY float64) float64 {
	t := 0.0
	if length := toX*toX + toY*toY; length > 0 {
		t = min(max((x*toX+y*toY)/length, 0), 1)
	}
	return math.Hypot(x-t*toX, y-t*toY)
}

// fill raises the marks in a part of the grid.
func (m marker) fill(plane []float32, r image.Rectangle, mark float32) {
	r = r.Intersect(image.Rectangle{Max: m.grid})
	for y := r.Min.Y; y < r.Max.Y; y++ {
		for x := r.Min.X; x < r.Max.X; x++ {
			k := y*m.grid.X + x
			plane[k] = max(plane[k], mark)
		}
	}
}

// each calls do for each cell with its middle.
func (m marker) each(do func(k int, x, y float64)) {
	for k := range m.grid.X * m.grid.Y {
		x, y := float64(k%m.grid.X*cell)+cell/2, float64(k/m.grid.X*cell)+cell/2
		do(k, min(x/float64(m.w), 1-1e-9), min(y/float64(m.h), 1-1e-9))
	}
}

// cell is where a place is in the grid.
func (m marker) cell(p Point) (x, y int) {
	x, y = int(p.X*float64(m.w))/cell, int(p.Y*float64(m.h))/cell
	return min(max(x, 0), m.grid.X-1), min(max(y, 0), m.grid.Y-1)
}
