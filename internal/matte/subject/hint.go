package subject

import (
	"image"
	"math"
	"slices"

	"github.com/bgremove/bgremove/internal/matte/view"
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

// keeps reports whether one of some hints keeps something.
func keeps(hints []Hint) bool {
	return slices.ContainsFunc(hints, func(h Hint) bool { return h.Keep })
}

// Point is a place in a picture.
type Point struct{ X, Y float64 }

// centre is that of a pixel of a picture of w × h.
func centre(x, y, w, h int) Point {
	return Point{(float64(x) + 0.5) / float64(w), (float64(y) + 0.5) / float64(h)}
}

// The marks in a plane: of a click, a stroke or a mask, and of a box, in which some pixels are
// not of the thing.
const clicked, boxed = 255, 102

// finger is the radius of a click's mark, as a share of the picture's shorter side.
const finger = 1.0 / 50

// marker marks pixels of pictures of w × h.
type marker struct{ w, h int }

// plane is one without marks.
func (m marker) plane() []uint8 { return make([]uint8, m.w*m.h) }

// mark adds a hint to its plane.
func (m marker) mark(plane []float32, h *Hint) {
	switch {
	case h.Click != nil:
		m.line(plane, *h.Click, *h.Click, finger*float64(min(m.w, m.h)))
	case h.Box != nil:
		first, last := m.place(h.Box[0]), m.place(h.Box[1])
		m.each(image.Rectangle{first, last.Add(image.Pt(1, 1))}, func(k, _, _ int) { plane[k] = max(plane[k], boxed) })
	case h.Mask != nil:
		m.each(m.bounds(), func(k, x, y int) {
			if m.masked(h.Mask, x, y) {
				plane[k] = clicked
			}
		})
	default:
		for i, to := range h.Stroke {
			m.line(plane, h.Stroke[max(i-1, 0)], to, h.Radius*float64(m.h))
		}
	}
}

// marks are the planes of the marks that keep and of those that drop, as values of bytes.
type marks struct{ keep, drop []float32 }

func newMarks(n int) marks { return marks{make([]float32, n), make([]float32, n)} }

// show gives a picture the marks.
func (p marks) show(v *view.Marked) {
	keep, drop := v.Plane(view.MarkKeep), v.Plane(view.MarkDrop)
	for k := range keep {
		keep[k], drop[k] = round(p.keep[k]/255), round(p.drop[k]/255)
	}
}

// whole reports whether a hint is a mask that keeps, for which there is marker.whole.
func (h *Hint) whole() bool { return h.Keep && h.Mask != nil }

// add adds hints to their planes.
func (m marker) add(to marks, hints []Hint) {
	for _, h := range hints {
		switch {
		case h.whole():
		case h.Keep:
			m.mark(to.keep, &h)
		default:
			m.mark(to.drop, &h)
		}
	}
}

// whole shows a mask that keeps: as the matte of the frame before, which is sure.
func (m marker) whole(before, trust []uint8, h *Hint) {
	m.each(m.bounds(), func(k, x, y int) {
		if m.masked(h.Mask, x, y) {
			before[k] = 255
		}
		trust[k] = 255
	})
}

// masked reports whether a mask of any size marks a pixel.
func (m marker) masked(mask *image.Alpha, x, y int) bool {
	size := mask.Rect.Size()
	return mask.AlphaAt(mask.Rect.Min.X+(2*x+1)*size.X/(2*m.w), mask.Rect.Min.Y+(2*y+1)*size.Y/(2*m.h)).A > 127
}

// hold makes a matte what a hint says, where that is sure: at a click, a stroke and a mask.
// A kept thing may end within those at their border.
func (m marker) hold(matte []uint8, h *Hint) {
	plane := make([]float32, len(matte))
	m.mark(plane, h)
	m.each(m.bounds(), func(k, x, y int) {
		switch {
		case plane[k] != clicked:
		case !h.Keep:
			matte[k] = 0
		case m.within(plane, x, y):
			matte[k] = 255
		}
	})
}

// within reports whether all pixels around one are marked, too.
func (m marker) within(plane []float32, x, y int) bool {
	all := true
	m.each(image.Rect(x-1, y-1, x+2, y+2), func(k, _, _ int) { all = all && plane[k] == clicked })
	return all
}

// line marks what a round brush does on its way between two places: a pixel at least.
func (m marker) line(plane []float32, from, to Point, radius float64) {
	ax, ay, bx, by := from.X*float64(m.w), from.Y*float64(m.h), to.X*float64(m.w), to.Y*float64(m.h)
	r := image.Rect(int(min(ax, bx)-radius), int(min(ay, by)-radius), int(max(ax, bx)+radius)+1, int(max(ay, by)+radius)+1)
	m.each(r, func(k, x, y int) {
		if away(float64(x)+0.5-ax, float64(y)+0.5-ay, bx-ax, by-ay) <= radius {
			plane[k] = clicked
		}
	})
	if to.X >= 0 && to.X <= 1 && to.Y >= 0 && to.Y <= 1 {
		end := m.place(to)
		plane[min(end.Y, m.h-1)*m.w+min(end.X, m.w-1)] = clicked
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

// each calls do for each pixel in the part of the picture in r.
func (m marker) each(r image.Rectangle, do func(k, x, y int)) {
	r = r.Intersect(m.bounds())
	for y := r.Min.Y; y < r.Max.Y; y++ {
		for x := r.Min.X; x < r.Max.X; x++ {
			do(y*m.w+x, x, y)
		}
	}
}

// extent is the part of a picture in which the pixels lie that are like something.
func (m marker) extent(like func(k int) bool) (r image.Rectangle) {
	m.each(m.bounds(), func(k, x, y int) {
		if like(k) {
			r = r.Union(image.Rect(x, y, x+1, y+1))
		}
	})
	return r
}

// square lies around the middle of a part, within the picture. Its side is a share of the
// picture's shorter one.
func (m marker) square(area image.Rectangle, share float64) image.Rectangle {
	side := max(int(share*float64(min(m.w, m.h))), 1)
	at := area.Min.Add(area.Max).Sub(image.Pt(side, side)).Div(2)
	at = image.Pt(min(max(at.X, 0), m.w-side), min(max(at.Y, 0), m.h-side))
	return image.Rectangle{at, at.Add(image.Pt(side, side))}
}

// cut is the part of a plane in r.
func (m marker) cut(plane []uint8, r image.Rectangle) []uint8 {
	part := make([]uint8, 0, r.Dx()*r.Dy())
	for y := r.Min.Y; y < r.Max.Y; y++ {
		part = append(part, plane[y*m.w+r.Min.X:y*m.w+r.Max.X]...)
	}
	return part
}

// inside is a hint without a mask in the part of the picture in a square, as shares of that.
func (m marker) inside(h Hint, r image.Rectangle) Hint {
	to := func(p Point) Point {
		return Point{(p.X*float64(m.w) - float64(r.Min.X)) / float64(r.Dx()), (p.Y*float64(m.h) - float64(r.Min.Y)) / float64(r.Dy())}
	}
	switch {
	case h.Click != nil:
		at := to(*h.Click)
		h.Click = &at
	case h.Box != nil:
		h.Box = &[2]Point{to(h.Box[0]), to(h.Box[1])}
	default:
		line := make([]Point, len(h.Stroke))
		for i, p := range h.Stroke {
			line[i] = to(p)
		}
		h.Stroke, h.Radius = line, h.Radius*float64(m.h)/float64(r.Dy())
	}
	return h
}

func (m marker) bounds() image.Rectangle { return image.Rect(0, 0, m.w, m.h) }

// place is the pixel at a place, which may lie outside the picture.
func (m marker) place(p Point) image.Point {
	return image.Pt(int(math.Floor(p.X*float64(m.w))), int(math.Floor(p.Y*float64(m.h))))
}
