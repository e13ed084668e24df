package tidy

import (
	"encoding/binary"
	"image"
)

// measure fills the cells of the frame that is added.
func (v *Volume) measure(m *image.Alpha) {
	for i := range v.cells {
		v.cells[i] = cell{minAlpha: 255}
	}
	for y := range v.size.Y {
		row := m.Pix[y*m.Stride:][:v.size.X]
		cells := v.cells[y/v.cellSide*v.grid.w:][:v.grid.w]
		for i := range cells {
			x := i * v.cellSide
			cells[i].measure(row[x:min(x+v.cellSide, len(row))], x, y)
		}
	}
}

// measure adds pixels of one row from x on.
func (c *cell) measure(pix []uint8, x, y int) {
	if empty(pix) {
		c.minAlpha = 0
		return
	}
	first, last := -1, 0
	for i, a := range pix {
		c.maxAlpha, c.minAlpha = max(c.maxAlpha, a), min(c.minAlpha, a)
		c.mass += int64(a)
		if a >= solidAlpha {
			c.solid++
		}
		if a >= visibleAlpha {
			if first < 0 {
				first = i
			}
			last = i
			c.visible++
		}
	}
	if first >= 0 {
		c.bounds = c.bounds.Union(image.Rect(x+first, y, x+last+1, y+1))
	}
}

// empty reports whether all pixels are 0.
func empty(pix []uint8) bool {
	for len(pix) >= 8 {
		if binary.LittleEndian.Uint64(pix) != 0 {
			return false
		}
		pix = pix[8:]
	}
	for _, a := range pix {
		if a != 0 {
			return false
		}
	}
	return true
}

// grid is the cells of a picture, row by row.
type grid struct{ w, h int }

// around calls f for the cells up to r away from cell i, itself too.
func (g grid) around(i, r int, f func(int)) {
	x, y := i%g.w, i/g.w
	for v := max(y-r, 0); v <= min(y+r, g.h-1); v++ {
		for u := max(x-r, 0); u <= min(x+r, g.w-1); u++ {
			f(v*g.w + u)
		}
	}
}

// atBorder reports whether a cell lies at the picture's edge.
func (g grid) atBorder(i int) bool {
	x, y := i%g.w, i/g.w
	return x == 0 || y == 0 || x == g.w-1 || y == g.h-1
}

// components numbers, from 1 on, the cells for which in holds and that touch, at
// corners too if diagonal, in label, and returns how many numbers there are.
func (v *Volume) components(in func(*cell) bool, diagonal bool) (count int32) {
	const unseen = -1
	for i := range v.label {
		v.label[i] = 0
		if in(&v.cells[i]) {
			v.label[i] = unseen
		}
	}
	for i := range v.label {
		if v.label[i] != unseen {
			continue
		}
		count++
		v.label[i] = count
		v.queue = append(v.queue[:0], int32(i))
		for len(v.queue) > 0 {
			at := int(v.queue[len(v.queue)-1])
			v.queue = v.queue[:len(v.queue)-1]
			v.grid.around(at, 1, func(k int) {
				if v.label[k] == unseen && (diagonal || k%v.grid.w == at%v.grid.w || k/v.grid.w == at/v.grid.w) {
					v.label[k] = count
					v.queue = append(v.queue, int32(k))
				}
			})
		}
	}
	return count
}

// regions are the cells of a frame that belong to something, packed: how many
// cells lie between a run and the one before it, its length, and its number.
type regions struct {
	first, count int32 // nodes of the forest that are the numbers 1, 2, …
	packed       []byte
}

// encode packs the labels of the cells for which in holds.
func encode(labels []int32, first, count int32, in func(int) bool) regions {
	r := regions{first: first, count: count}
	end := 0
	for i := 0; i < len(labels); i++ {
		if !in(i) {
			continue
		}
		k := i + 1
		for k < len(labels) && labels[k] == labels[i] && in(k) {
			k++
		}
		for _, n := range []int{i - end, k - i, int(labels[i])} {
			r.packed = binary.AppendUvarint(r.packed, uint64(n))
		}
		end, i = k, k-1
	}
	return r
}

// each calls f with each cell and its node, which is -1 where it belongs to none.
func (r *regions) each(f func(at int, node int32)) {
	packed, at := r.packed, 0
	next := func() int {
		n, size := binary.Uvarint(packed)
		packed = packed[size:]
		return int(n)
	}
	for len(packed) > 0 {
		at += next()
		length, label := next(), int32(next())
		for range length {
			if label == 0 {
				f(at, -1)
			} else {
				f(at, r.first+label-1)
			}
			at++
		}
	}
}
