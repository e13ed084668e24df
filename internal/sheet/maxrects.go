package sheet

import "image"

// bin is the free area of a page: all maximal free rectangles, which overlap. This
// is MaxRects of Jylänki, "A Thousand Ways to Pack the Bin" (2010), section 2.3,
// with the bottom-left rule, which fills strips of animation frames well. Sprites
// are not rotated.
type bin struct {
	free  []image.Rectangle
	whole []image.Rectangle // what insert leaves as it is; kept memory
	parts []image.Rectangle // what it cuts others to
}

func newBin(size image.Point) *bin {
	return &bin{free: []image.Rectangle{{Max: size}}}
}

// insert finds the place for a rectangle at which it ends highest, the leftmost of
// several, and takes it.
func (b *bin) insert(size image.Point) (at image.Point, ok bool) {
	for _, f := range b.free {
		if size.X > f.Dx() || size.Y > f.Dy() {
			continue
		}
		if !ok || f.Min.Y < at.Y || f.Min.Y == at.Y && f.Min.X < at.X {
			at, ok = f.Min, true
		}
	}
	if ok {
		b.take(image.Rectangle{Min: at, Max: at.Add(size)})
	}
	return at, ok
}

// take cuts a rectangle out of the free ones. A whole one never comes to lie in a
// part, because it did not lie in what the part was cut from.
func (b *bin) take(used image.Rectangle) {
	b.whole, b.parts = b.whole[:0], b.parts[:0]
	for _, f := range b.free {
		if !f.Overlaps(used) {
			b.whole = append(b.whole, f)
			continue
		}
		for _, part := range [...]image.Rectangle{
			{Min: f.Min, Max: image.Pt(used.Min.X, f.Max.Y)},
			{Min: image.Pt(used.Max.X, f.Min.Y), Max: f.Max},
			{Min: f.Min, Max: image.Pt(f.Max.X, used.Min.Y)},
			{Min: image.Pt(f.Min.X, used.Max.Y), Max: f.Max},
		} {
			if !part.Empty() {
				b.parts = append(b.parts, part)
			}
		}
	}
	whole := len(b.whole)
	for i, part := range b.parts {
		if !inside(part, b.whole[:whole]) && !inside(part, b.parts[:i]) && !insideLater(part, b.parts[i+1:]) {
			b.whole = append(b.whole, part)
		}
	}
	b.free, b.whole = b.whole, b.free
}

// inside reports whether r lies in one of list.
func inside(r image.Rectangle, list []image.Rectangle) bool {
	for _, other := range list {
		if r.In(other) {
			return true
		}
	}
	return false
}

// insideLater is inside without equal ones: the first of these stays.
func insideLater(r image.Rectangle, list []image.Rectangle) bool {
	for _, other := range list {
		if r != other && r.In(other) {
			return true
		}
	}
	return false
}
