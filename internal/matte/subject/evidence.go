package subject

import (
	"image"
	"math"

	"github.com/bgremove/bgremove/internal/matte/view"
)

// Evidence is what the clip says of a frame. The zero value says nothing.
type Evidence struct {
	grid       image.Point
	w, h       int // pixels of the picture that was measured
	shot       shot
	keep       []float32 // of each cell, 0 if it cannot be subject, else 1; nil if all are 1
	track      []uint8   // view.TrackMotion, and so on; nil unless it is to be shown
	frames     []uint8
	now, trust []uint8
}

// Strip removes from a matte of the frame, of any size, what cannot be subject. Between the
// centres of cells it goes over gradually.
func (e *Evidence) Strip(m *image.Alpha) {
	if e.keep == nil {
		return
	}
	w := m.Rect.Dx()
	columns, rows := e.between(m.Rect.Size())
	for y, v := range rows {
		top, bottom := e.keep[v.first:][:e.grid.X], e.keep[v.second:][:e.grid.X]
		row := m.Pix[y*m.Stride:][:w]
		for x, a := range row {
			if a != 0 {
				row[x] = uint8(float32(a)*columns[x].mix(top, bottom, v.way) + 0.5)
			}
		}
	}
}

// show readies the evidence for Show, with the motion along tracks and in how many frames.
func (e *Evidence) show(r *record, track, frames []uint8) {
	e.track, e.frames = track, frames
	e.now, e.trust = make([]uint8, len(track)), make([]uint8, len(track))
	for k, seen := range r.seen {
		e.trust[k] = round(seen)
		e.now[k] = round(r.moving[k] / max(seen, 1e-3))
		if track[k] == unknown {
			track[k] = 0
		}
	}
}

// Show fills the view's planes of motion, if Options.Views asked for it.
func (e *Evidence) Show(v *view.View) {
	if e.track == nil {
		return
	}
	columns, rows := e.between(image.Pt(v.W, v.H))
	line := make([]float32, e.grid.X)
	for p, cells := range map[view.Plane][]uint8{view.TrackMotion: e.track, view.TrackFrames: e.frames, view.Motion: e.now, view.Trust: e.trust} {
		plane := v.Plane(p)
		for y, r := range rows {
			for x := range line {
				a, b := float32(cells[r.first+x]), float32(cells[r.second+x])
				line[x] = a + r.way*(b-a)
			}
			for x, c := range columns {
				a := line[c.first]
				plane[y*v.W+x] = uint8(a + c.way*(line[c.second]-a) + 0.5)
			}
		}
	}
	fill(v.Plane(view.SubjectMotion), uint8(e.shot.subject*most))
	fill(v.Plane(view.BackdropMotion), uint8(e.shot.backdrop*most))
}

func fill(p []uint8, v uint8) {
	for i := range p {
		p[i] = v
	}
}

// place lies between two cells, or rows of cells.
type place struct {
	first, second int
	way           float32 // from the first to the second
}

// between is where the pixels of a picture of a size lie among the cells: columns by cell
// and rows by the first cell of a row.
func (e *Evidence) between(size image.Point) (columns, rows []place) {
	columns, rows = places(size.X, e.grid.X, e.w), places(size.Y, e.grid.Y, e.h)
	for i := range rows {
		rows[i].first *= e.grid.X
		rows[i].second *= e.grid.X
	}
	return columns, rows
}

// places are those of n pixels among cells, which are made of all pixels of another size.
func places(n, cells, all int) []place {
	p := make([]place, n)
	for i := range p {
		at := (float64(i)+0.5)*float64(all)/float64(cell*n) - 0.5
		at = min(max(at, 0), float64(cells-1))
		first := int(math.Floor(at))
		p[i] = place{first, min(first+1, cells-1), float32(at - float64(first))}
	}
	return p
}

// mix is the bilinear value between two rows.
func (p *place) mix(top, bottom []float32, way float32) float32 {
	t, b := top[p.first]+p.way*(top[p.second]-top[p.first]), bottom[p.first]+p.way*(bottom[p.second]-bottom[p.first])
	return t + way*(b-t)
}
