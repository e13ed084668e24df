package sheet

import (
	"cmp"
	"image"
)

// Grid places n sprites of one size in rows, in their order, on pages as square as
// can be. A page is full before the next begins.
func Grid(size image.Point, n int, l Limits) ([]Place, []image.Point, error) {
	cell, err := l.cell(size)
	if err != nil {
		return nil, nil, err
	}
	room := l.side() + l.Padding
	most := image.Pt(room/cell.X, room/cell.Y) // columns and rows
	places := make([]Place, n)
	var pages []image.Point
	for first := 0; first < n; {
		columns := most.X
		count := min(n-first, most.X*most.Y)
		if count < most.X*most.Y {
			columns = l.columns(cell, count, most)
		}
		for i := range count {
			at := image.Pt(i%columns*cell.X+l.Extrude, i/columns*cell.Y+l.Extrude)
			places[first+i] = Place{Page: len(pages), At: at}
		}
		pages = append(pages, l.gridPage(cell, columns, count))
		first += count
	}
	return places, pages, nil
}

// gridPage is the page of some cells in columns.
func (l Limits) gridPage(cell image.Point, columns, count int) image.Point {
	rows := (count + columns - 1) / columns
	return l.page(image.Pt(columns*cell.X-l.Padding, rows*cell.Y-l.Padding))
}

// columns is the number that makes the page squarest, the smallest of such pages and
// the widest of equal ones.
func (l Limits) columns(cell image.Point, count int, most image.Point) int {
	best, page := 0, image.Point{}
	for c := 1; c <= min(count, most.X); c++ {
		if (count+c-1)/c > most.Y {
			continue
		}
		p := l.gridPage(cell, c, count)
		worse := cmp.Or(cmp.Compare(max(p.X, p.Y), max(page.X, page.Y)), cmp.Compare(p.X*p.Y, page.X*page.Y))
		if best == 0 || worse <= 0 {
			best, page = c, p
		}
	}
	return best
}
