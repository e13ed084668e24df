package subject

import (
	"image"

	"github.com/bgremove/bgremove/internal/matte/refine"
)

const (
	// near is how far around a pixel two mattes are compared, as a share of the picture's shorter
	// side.
	near = 1.0 / 32
	// outline is the least share of such a place that is within a matte, and the least that is
	// outside, where the matte has an outline.
	outline = 0.02
	// Two mattes are of other things where both have no more than other of what either has, as a
	// share. From same on they are of the same thing.
	other, same = 0.5, 0.8
)

// held are the places in frame i of which its own hints are sure. The clip's own matte changes
// nothing there. It is nil if the frame has no hints.
func (f *follower) held(i int) *image.Alpha {
	if len(f.hints[i]) == 0 {
		return nil
	}
	plane := make([]float32, f.marks.w*f.marks.h)
	for _, h := range f.hints[i] {
		f.marks.mark(plane, &h)
	}
	held := image.NewAlpha(f.marks.bounds())
	for k, mark := range plane {
		if mark == clicked {
			held.Pix[k] = 255
		}
	}
	return held
}

// take copies to a matte what another one of its size has at the places held, of any size.
func take(m, other, held *image.Alpha) {
	places := image.NewAlpha(m.Rect)
	refine.Resize(places, held)
	for y := range m.Rect.Dy() {
		to, from := m.Pix[y*m.Stride:][:m.Rect.Dx()], other.Pix[y*other.Stride:]
		for x, p := range places.Pix[y*places.Stride:][:len(to)] {
			if p > 0 {
				to[x] = from[x]
			}
		}
	}
}

// agree brings a matte that hints led to, m, to the clip's own at outlines that both have. Those
// of the clip's own are finer. Away from such outlines m stays as it is.
func agree(m, own *image.Alpha) {
	w, h := m.Rect.Dx(), m.Rect.Dy()
	first, both, either := newTable(w, h), newTable(w, h), newTable(w, h)
	for y := range h {
		a, b := m.Pix[y*m.Stride:][:w], own.Pix[y*own.Stride:][:w]
		first.row(y, func(x int) uint8 { return a[x] })
		both.row(y, func(x int) uint8 { return min(a[x], b[x]) })
		either.row(y, func(x int) uint8 { return max(a[x], b[x]) })
	}
	reach := max(int(near*float64(min(w, h))), 1)
	for y := range h {
		a, b := m.Pix[y*m.Stride:][:w], own.Pix[y*own.Stride:][:w]
		for x := range w {
			if a[x] == b[x] {
				continue
			}
			r := image.Rect(x-reach, y-reach, x+reach+1, y+reach+1).Intersect(m.Rect)
			all, inFirst, inBoth, inEither := 255*float32(r.Dx()*r.Dy()), first.sum(r), both.sum(r), either.sum(r)
			if !outlined(inFirst/all) || !outlined((inBoth+inEither-inFirst)/all) {
				continue
			}
			share := ramp(inBoth/inEither, other, same)
			a[x] = uint8(float32(a[x]) + share*(float32(b[x])-float32(a[x])) + 0.5)
		}
	}
}

// outlined reports whether a matte that covers a share of a place has an outline there.
func outlined(share float32) bool { return share > outline && share < 1-outline }

// table has the sums of a picture's bytes above and left of each place (F. Crow, "Summed-Area
// Tables for Texture Mapping", SIGGRAPH 1984).
type table struct {
	w    int
	sums []uint64
}

func newTable(w, h int) table { return table{w + 1, make([]uint64, (w+1)*(h+1))} }

// row sets row y, after those above it.
func (t table) row(y int, value func(x int) uint8) {
	above, here := t.sums[y*t.w:][:t.w], t.sums[(y+1)*t.w:][:t.w]
	sum := uint64(0)
	for x := range t.w - 1 {
		sum += uint64(value(x))
		here[x+1] = above[x+1] + sum
	}
}

// sum is that of the bytes in a part of the picture.
func (t table) sum(r image.Rectangle) float32 {
	top, bottom := t.sums[r.Min.Y*t.w:], t.sums[r.Max.Y*t.w:]
	return float32(bottom[r.Max.X] - bottom[r.Min.X] - top[r.Max.X] + top[r.Min.X])
}
