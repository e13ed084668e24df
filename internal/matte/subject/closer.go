package subject

import (
	"context"
	"image"
	"slices"

	"golang.org/x/sync/errgroup"

	"github.com/bgremove/bgremove/internal/matte/refine"
	"github.com/bgremove/bgremove/internal/matte/view"
)

// closer are the sides of the squares around what is marked that the network is shown
// enlarged, as shares of the picture's shorter side, the smallest first.
var closer = [...]float64{0.5, 0.7}

const (
	// cutOff is the share of such a square's border within the picture from which on a thing
	// there is cut off by it.
	cutOff = 0.05
	// filled is the most of such a square's side that the marks may take.
	filled = 0.8
)

// look gives the matte of what is marked in a frame with some hints or none. v shows what is known
// from other frames, and all are the marks of these hints, too.
//
// Small things are seen better in an enlarged part of the picture that they fit in (K. Sofiiuk
// et al., "Reviving Iterative Training with Mask Guidance for Interactive Segmentation", ICIP
// 2022, zoom in likewise). So a frame gets the mean over the whole picture, the smallest part
// that the thing fits in, and those between. Masks tell enough by themselves. On the way of a thing
// that is dropped, its motion tells enough.
func (f *follower) look(ctx context.Context, v *view.Marked, all marks, hints []Hint) ([]uint8, error) {
	marked := v
	if len(hints) > 0 {
		marked = &view.Marked{W: v.W, H: v.H, Pix: slices.Clone(v.Pix)}
		all.show(marked)
	}
	squares := f.squares(marked.Plane(view.MarkKeep), v.Plane(view.MarkBefore), hints)
	var whole []uint8
	parts := make([][]uint8, len(squares))
	g, ctx := errgroup.WithContext(ctx)
	for i, r := range squares {
		g.Go(func() (err error) {
			parts[i], err = f.part(ctx, v, r, hints)
			return err
		})
	}
	g.Go(func() (err error) {
		whole, err = f.network(ctx, marked)
		return err
	})
	if err := g.Wait(); err != nil {
		return nil, err
	}
	for len(parts) > 0 && !f.fits(parts[0], squares[0]) {
		parts, squares = parts[1:], squares[1:]
	}
	if len(parts) == 0 {
		return whole, nil
	}
	matte := f.marks.plane()
	if f.drops { // divide limits it
		copy(matte, whole)
	}
	f.marks.each(squares[0], func(k, _, _ int) { matte[k] = mean(parts, whole, k) })
	return matte, nil
}

// squares are the parts of a frame that look shows the network, the smallest first. keep are the marks in it,
// and before is what was found in the frame before.
func (f *follower) squares(keep, before []uint8, hints []Hint) (all []image.Rectangle) {
	masked := slices.ContainsFunc(hints, func(h Hint) bool { return h.Mask != nil })
	if masked || f.drops && len(hints) == 0 {
		return nil
	}
	area := f.marks.extent(func(k int) bool { return keep[k] > 0 || before[k] >= part })
	if area.Empty() { // it is hidden, or left the picture
		return nil
	}
	for _, share := range closer {
		if r := f.marks.square(area, share); float64(max(area.Dx(), area.Dy())) <= filled*float64(r.Dx()) {
			all = append(all, r)
		}
	}
	return all
}

// part gives the matte of a picture by its part in a square, and nothing outside. v is what
// is known without the frame's own hints.
func (f *follower) part(ctx context.Context, v *view.Marked, r image.Rectangle, hints []Hint) ([]uint8, error) {
	side := min(v.W, v.H)
	large := view.NewMarked(side, side)
	for p := range view.MarkCount {
		resize(large.Plane(p), side, f.marks.cut(v.Plane(p), r), r.Dx())
	}
	all := newMarks(side * side)
	for k := range all.keep {
		all.keep[k], all.drop[k] = float32(large.Plane(view.MarkKeep)[k]), float32(large.Plane(view.MarkDrop)[k])
	}
	within := make([]Hint, len(hints))
	for i, h := range hints {
		within[i] = f.marks.inside(h, r)
	}
	marker{side, side}.add(all, within)
	all.show(&large)
	found, err := f.network(ctx, &large)
	if err != nil {
		return nil, err
	}
	small := make([]uint8, r.Dx()*r.Dy())
	resize(small, r.Dx(), found, side)
	matte := f.marks.plane()
	f.marks.each(r, func(k, x, y int) { matte[k] = small[(y-r.Min.Y)*r.Dx()+x-r.Min.X] })
	return matte, nil
}

// fits reports whether a matte has a thing in a square that does not end at its border.
func (f *follower) fits(matte []uint8, r image.Rectangle) bool {
	border, on, found := 0, 0, false
	f.marks.each(r, func(k, x, y int) {
		found = found || matte[k] >= part
		left, right := x == r.Min.X && x > 0, x == r.Max.X-1 && r.Max.X < f.marks.w
		above, below := y == r.Min.Y && y > 0, y == r.Max.Y-1 && r.Max.Y < f.marks.h
		if !left && !right && !above && !below {
			return
		}
		border++
		if matte[k] >= part {
			on++
		}
	})
	return found && float64(on) < cutOff*float64(max(border, 1))
}

// resize fills a square of a side with another one.
func resize(to []uint8, side int, from []uint8, other int) {
	refine.Resize(
		&image.Alpha{Pix: to, Stride: side, Rect: image.Rect(0, 0, side, side)},
		&image.Alpha{Pix: from, Stride: other, Rect: image.Rect(0, 0, other, other)},
	)
}

// mean is that of a pixel in mattes and one more.
func mean(mattes [][]uint8, last []uint8, k int) uint8 {
	sum, n := int(last[k]), len(mattes)+1
	for _, m := range mattes {
		sum += int(m[k])
	}
	return uint8((sum + n/2) / n)
}
