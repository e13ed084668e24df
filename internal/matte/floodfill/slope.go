package floodfill

import (
	"image"
	"math"
)

const (
	// ditherFactor is by which factor the flood passes more than a dithered backdrop's
	// noise.
	ditherFactor = 1.1
	// meanReach is how many pixels to each side the mean is taken over that a
	// dither does not show in.
	meanReach = 2
)

// slopeMap is a slope at each pixel.
type slopeMap struct {
	offset [][3]int16 // of the backdrop to Backdrop.Colour
	even   float32    // how far means stray
}

func newSlopeMap(s *slope, middle [3]float64) *slopeMap {
	w, h := s.size.X, s.size.Y
	d := &slopeMap{offset: make([][3]int16, w*h), even: float32(s.even)}
	for at := range d.offset {
		c := s.surface.At((2*float64(at%w)+1)/float64(w)-1, (2*float64(at/w)+1)/float64(h)-1)
		for k := range c {
			d.offset[at][k] = int16(math.Round(c[k] - middle[k]))
		}
	}
	return d
}

// at is the offset of a pixel.
func (d *slopeMap) at(i int) vector {
	o := &d.offset[i]
	return vector{float32(o[0]), float32(o[1]), float32(o[2])}
}

// total sums up the pixels that may be backdrop.
type total struct {
	off   vector // to the backdrop
	count float32
}

func (t *total) add(o total, sign float32) {
	t.off = t.off.plus(o.off.times(sign))
	t.count += sign * o.count
}

// scanSlope adds runs of backdrop pixels of a dithered backdrop. Each pixel may
// be backdrop by itself, and its surroundings, as far as they may be too, are
// backdrop on average.
func (b *metric) scanSlope(img *image.NRGBA, tol int, l *labels) {
	limit := max(float32(tol), ditherFactor*b.noise+2)
	even := max(float32(tol), b.slope.even+3)
	const rows = 2*meanReach + 1
	w, h := l.w, l.h
	ring := make([]total, rows*w) // the rows around one
	columns := make([]total, w)   // and their sums
	for y := -meanReach; y < h; y++ {
		if next := y + meanReach; next >= rows {
			b.addRow(columns, ring[next%rows*w:][:w], -1)
		}
		if next := y + meanReach; next < h {
			row := ring[next%rows*w:][:w]
			b.candidates(img.Pix, next*w, limit, row)
			b.addRow(columns, row, 1)
		}
		if y < 0 {
			continue
		}
		l.row()
		b.addRuns(img.Pix[y*img.Stride:], ring[y%rows*w:][:w], columns, even, l)
	}
}

func (b *metric) addRow(to, row []total, sign float32) {
	for x := range to {
		to[x].add(row[x], sign)
	}
}

// candidates looks at each pixel of the row that begins at a pixel.
func (b *metric) candidates(pix []byte, at int, limit float32, row []total) {
	for x := range row {
		row[x] = total{}
		if v := b.offset(pix, at+x); maxAbs(v) <= limit {
			row[x] = total{v, 1}
		}
	}
}

// addRuns adds the runs of one row.
func (b *metric) addRuns(pix []byte, row, columns []total, even float32, l *labels) {
	var around total
	begin := -1
	for x := range min(meanReach, len(row)) {
		around.add(columns[x], 1)
	}
	for x := range row {
		if x+meanReach < len(row) {
			around.add(columns[x+meanReach], 1)
		}
		if x-meanReach > 0 {
			around.add(columns[x-meanReach-1], -1)
		}
		in := pix[4*x+3] < transparentBelow || row[x].count > 0 && maxAbs(around.off) <= even*around.count
		switch {
		case in && begin < 0:
			begin = x
		case !in && begin >= 0:
			l.add(begin, x)
			begin = -1
		}
	}
	if begin >= 0 {
		l.add(begin, len(row))
	}
}
