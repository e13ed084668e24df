package floodfill

import (
	"bytes"
	"image"
)

// run is the pixels x0 ≤ x < x1 of row y.
type run struct{ x0, x1, y, label int32 }

// part is one connected component, under the index of its root label.
type part struct {
	area     int32   // pixels
	peak     float32 // set by the search for specks
	border   bool    // touches the edge of the picture
	selected bool    // painted, and left out by complement
}

// labels holds the runs of a binary picture and joins them to components:
// L. He, Y. Chao, K. Suzuki, "A Run-Based Two-Scan Labeling Algorithm", IEEE
// Transactions on Image Processing 17(5), 2008.
type labels struct {
	w, h   int
	runs   []run
	rows   []int32 // rows[y] is the index of the first run of row y
	parent []int32
	parts  []part
}

func (l *labels) reset(w, h int) {
	l.w, l.h = w, h
	l.runs, l.rows = l.runs[:0], l.rows[:0]
	l.parent, l.parts = l.parent[:0], l.parts[:0]
}

// row begins the next row.
func (l *labels) row() { l.rows = append(l.rows, int32(len(l.runs))) }

// add appends a run to the row begun last.
func (l *labels) add(x0, x1 int) {
	l.runs = append(l.runs, run{x0: int32(x0), x1: int32(x1), y: int32(len(l.rows) - 1)})
}

// link gives every run its component. With diagonal 1 runs that touch at a
// corner belong together, with 0 they do not.
func (l *labels) link(diagonal int32) {
	l.rows = append(l.rows, int32(len(l.runs)))
	for y := range l.h {
		cur := l.runs[l.rows[y]:l.rows[y+1]]
		var above []run
		if y > 0 {
			above = l.runs[l.rows[y-1]:l.rows[y]]
		}
		j := 0
		for i := range cur {
			r := &cur[i]
			r.label = -1
			for j < len(above) && above[j].x1+diagonal <= r.x0 {
				j++
			}
			for k := j; k < len(above) && above[k].x0 < r.x1+diagonal; k++ {
				if r.label < 0 {
					r.label = l.find(above[k].label)
				} else {
					r.label = l.union(r.label, above[k].label)
				}
			}
			if r.label < 0 {
				r.label = int32(len(l.parent))
				l.parent = append(l.parent, r.label)
				l.parts = append(l.parts, part{})
			}
			p := &l.parts[r.label]
			p.area += r.x1 - r.x0
			p.border = p.border || r.x0 == 0 || int(r.x1) == l.w || y == 0 || y == l.h-1
		}
	}
}

func (l *labels) find(i int32) int32 {
	for l.parent[i] != i {
		l.parent[i] = l.parent[l.parent[i]]
		i = l.parent[i]
	}
	return i
}

// union joins two components and returns the root of both.
func (l *labels) union(a, b int32) int32 {
	a, b = l.find(a), l.find(b)
	if a == b {
		return a
	}
	if b < a {
		a, b = b, a
	}
	l.parent[b] = a
	l.parts[a].area += l.parts[b].area
	l.parts[a].border = l.parts[a].border || l.parts[b].border
	l.parts[b] = part{}
	return a
}

// complement makes l the runs of all that lies outside of the components of
// src that are selected.
func (l *labels) complement(src *labels) {
	l.reset(src.w, src.h)
	for y := range src.h {
		l.row()
		x := int32(0)
		for _, r := range src.runs[src.rows[y]:src.rows[y+1]] {
			if !src.parts[src.find(r.label)].selected {
				continue
			}
			if r.x0 > x {
				l.add(int(x), int(r.x0))
			}
			x = r.x1
		}
		if int(x) < src.w {
			l.add(int(x), src.w)
		}
	}
}

// paint writes 255 where a component is selected and 0 elsewhere.
func (l *labels) paint(dst *image.Alpha) {
	clear(dst.Pix)
	for _, r := range l.runs {
		if l.parts[l.find(r.label)].selected {
			fill(dst.Pix[int(r.y)*dst.Stride+int(r.x0) : int(r.y)*dst.Stride+int(r.x1)])
		}
	}
}

var ones = bytes.Repeat([]byte{255}, 4096)

// fill sets all of p to 255 by copying, which is faster than a loop.
func fill(p []byte) {
	for len(p) > 0 {
		p = p[copy(p, ones):]
	}
}
