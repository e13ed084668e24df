package sheet

import (
	"cmp"
	"fmt"
	"image"
	"math"
	"math/bits"
	"slices"
)

// Limits are what pages must be like.
type Limits struct {
	Max        int  // longest side of a page, in pixels
	PowerOfTwo bool // of both sides
	Padding    int  // pixels between sprites
	Extrude    int  // pixels around each sprite in which its edge is repeated
}

// Place is where a sprite lies, without what is extruded.
type Place struct {
	Page int
	At   image.Point
}

// SizeError is a frame that fits on no page.
type SizeError struct {
	Size image.Point // with what is extruded
	Max  int
}

func (e *SizeError) Error() string {
	return fmt.Sprintf("a frame of %d×%d pixels is larger than a page of a sheet, at most %d×%[3]d", e.Size.X, e.Size.Y, e.Max)
}

// side is the longest side that a page can have.
func (l Limits) side() int {
	if l.PowerOfTwo {
		return 1 << (bits.Len(uint(l.Max)) - 1)
	}
	return l.Max
}

// page is the page that has room for what is used.
func (l Limits) page(used image.Point) image.Point {
	if l.PowerOfTwo {
		return image.Pt(1<<bits.Len(uint(used.X-1)), 1<<bits.Len(uint(used.Y-1)))
	}
	return used
}

// cell is what a sprite takes of a page, with the padding to its right and below.
func (l Limits) cell(size image.Point) (image.Point, error) {
	room := size.Add(image.Pt(2*l.Extrude, 2*l.Extrude))
	if m := l.side(); room.X > m || room.Y > m {
		return room, &SizeError{Size: room, Max: m}
	}
	return room.Add(image.Pt(l.Padding, l.Padding)), nil
}

// Pack places sprites of any sizes on as few pages as it can, and as small ones. It
// returns the place of each, and the pages' sizes.
func Pack(sizes []image.Point, l Limits) ([]Place, []image.Point, error) {
	p := &packing{Limits: l, cells: make([]image.Point, len(sizes)), places: make([]Place, len(sizes))}
	order := make([]int, len(sizes))
	for i, size := range sizes {
		var err error
		if p.cells[i], err = l.cell(size); err != nil {
			return nil, nil, err
		}
		order[i] = i
	}
	slices.SortStableFunc(order, func(i, j int) int { // tall ones first: they leave less over
		a, b := p.cells[i], p.cells[j]
		return cmp.Or(b.Y-a.Y, b.X-a.X)
	})
	for len(order) > 0 {
		t, ok := p.smallest(order)
		if !ok {
			t = p.try(order, image.Pt(l.side(), l.side()), false)
		}
		for i, at := range t.at {
			p.places[order[i]] = Place{Page: len(p.pages), At: at.Add(image.Pt(l.Extrude, l.Extrude))}
		}
		p.pages = append(p.pages, l.page(t.used))
		order = p.rest(order, t)
	}
	return p.places, p.pages, nil
}

type packing struct {
	Limits
	cells  []image.Point // of the sprites, with padding
	places []Place
	pages  []image.Point
}

// trial is one way to fill a page: the places of those that it takes, by their
// position in the order.
type trial struct {
	at   map[int]image.Point
	used image.Point
}

// try fills a page. With all set it gives up when one does not fit.
func (p *packing) try(order []int, page image.Point, all bool) trial {
	padding := image.Pt(p.Padding, p.Padding)
	b := newBin(page.Add(padding))
	t := trial{at: make(map[int]image.Point, len(order))}
	for i, sprite := range order {
		at, ok := b.insert(p.cells[sprite])
		if !ok && all {
			return t
		}
		if !ok {
			continue
		}
		t.at[i] = at
		end := at.Add(p.cells[sprite]).Sub(padding)
		t.used = image.Pt(max(t.used.X, end.X), max(t.used.Y, end.Y))
	}
	return t
}

// rest are those that a trial did not take.
func (p *packing) rest(order []int, t trial) []int {
	var left []int
	for i, sprite := range order {
		if _, ok := t.at[i]; !ok {
			left = append(left, sprite)
		}
	}
	return left
}

// smallest is the trial that takes all on the smallest page; ok is false where no
// page has room for all.
func (p *packing) smallest(order []int) (best trial, ok bool) {
	area, least := 0, math.MaxInt
	for _, sprite := range order {
		area += p.cells[sprite].X * p.cells[sprite].Y
	}
	room := p.side() + p.Padding
	if area > room*room {
		return trial{}, false
	}
	for _, page := range p.candidates(order, area) {
		t := p.try(order, page, true)
		if len(t.at) < len(order) {
			continue
		}
		if p.PowerOfTwo { // the smallest comes first
			return t, true
		}
		size := t.used.X * t.used.Y
		if size < least || size == least && max(t.used.X, t.used.Y) < max(best.used.X, best.used.Y) {
			best, least = t, size
		}
	}
	return best, least < math.MaxInt
}

// many is how many sprites are packed a few times only, to save time.
const many = 2000

// candidates are the pages that are tried. Those of free sides are as high as can
// be: what counts is their width, which makes them square or nearly so.
func (p *packing) candidates(order []int, area int) []image.Point {
	m, widest := p.side(), 0
	for _, sprite := range order {
		widest = max(widest, p.cells[sprite].X)
	}
	if p.PowerOfTwo {
		return powers(m, area, p.Padding)
	}
	ideal := int(math.Ceil(math.Sqrt(float64(area))))
	columns := max(1, ideal/widest)
	widths := []int{ideal, ideal * 11 / 10, columns * widest, (columns + 1) * widest}
	if len(order) < many {
		for percent := 75; percent <= 140; percent += 5 {
			widths = append(widths, ideal*percent/100)
		}
	}
	for i, w := range widths {
		widths[i] = min(max(w, widest)-p.Padding, m)
	}
	slices.Sort(widths)
	var pages []image.Point
	for _, w := range slices.Compact(widths) {
		pages = append(pages, image.Pt(w, m))
	}
	return pages
}

// powers are the pages whose sides are powers of two, the smallest first and the
// squarest of equal ones, without those that have less than an area.
func powers(longest, area, padding int) []image.Point {
	var pages []image.Point
	for w := 1; w <= longest; w *= 2 {
		for h := 1; h <= longest; h *= 2 {
			if (w+padding)*(h+padding) >= area {
				pages = append(pages, image.Pt(w, h))
			}
		}
	}
	slices.SortStableFunc(pages, func(a, b image.Point) int {
		return cmp.Or(cmp.Compare(a.X*a.Y, b.X*b.Y), cmp.Compare(max(a.X, a.Y), max(b.X, b.Y)), cmp.Compare(b.X, a.X))
	})
	return pages
}
