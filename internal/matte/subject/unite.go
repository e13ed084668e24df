package subject

import (
	"cmp"
	"context"
	"slices"

	"github.com/bgremove/bgremove/internal/matte/view"
)

const (
	// A piece that may belong to a thing has pieceLeast to pieceMost of the clip's own matte. A smaller
	// one is an edge, and a larger one is rather another thing.
	pieceLeast, pieceMost = 0.05, 0.3
	// fewPieces is how many of these are asked about in a frame, the largest first.
	fewPieces = 3
	// foundToo is the share of a thing from which on a click on a piece finds it as well.
	foundToo = 0.08
)

// unite adds to a kept thing the pieces of the clip's own matte that belong to it, in a frame with hints. The
// network leaves out parts that look otherwise than what was clicked, such as heads and legs. If a click
// on such a piece finds some of the thing as well, they are one.
//
// hints are those of the frame, and all their marks with what other frames say. What is dropped, or
// outside of a box around the thing, does not belong to it.
func (f *follower) unite(ctx context.Context, v *view.Marked, hints []Hint, all marks, own, matte []uint8) error {
	if f.drops || !keeps(hints) {
		return nil
	}
	size := count(own)
	within := slices.ContainsFunc(hints, func(h Hint) bool { return h.Keep && h.Box != nil })
	var pieces [][]int
	f.marks.pieces(func(k int) bool { return own[k] >= part && matte[k] < part }, func(piece []int) {
		on := func(marks []float32) bool {
			return slices.ContainsFunc(piece, func(k int) bool { return marks[k] >= boxed })
		}
		share := float64(len(piece)) / float64(size)
		if share >= pieceLeast && share <= pieceMost && !on(all.drop) && (!within || on(all.keep)) {
			pieces = append(pieces, piece)
		}
	})
	slices.SortStableFunc(pieces, func(a, b []int) int { return cmp.Compare(len(b), len(a)) })
	for _, piece := range pieces[:min(len(pieces), fewPieces)] {
		found, err := f.find(ctx, v, f.marks.innermost(piece))
		if err != nil {
			return err
		}
		for k, a := range found {
			found[k] = min(a, matte[k])
		}
		if float64(count(found)) < foundToo*float64(count(matte)) {
			continue
		}
		for _, k := range piece {
			matte[k] = own[k]
		}
	}
	return nil
}

// count is how many pixels of a matte are rather in it than not.
func count(matte []uint8) (n int) {
	for _, a := range matte {
		if a >= part {
			n++
		}
	}
	return n
}

// find is the network's matte of what a click on a pixel shows in the picture of v, of which nothing else is known.
func (f *follower) find(ctx context.Context, v *view.Marked, at int) ([]uint8, error) {
	place := centre(at%v.W, at/v.W, v.W, v.H)
	click := []Hint{{Keep: true, Click: &place}}
	picture, marks := v.Unmarked(), newMarks(v.W*v.H)
	f.marks.add(marks, click)
	return f.look(ctx, &picture, marks, click)
}

// innermost is the pixel of a piece that is farthest from its edge.
func (m marker) innermost(piece []int) int {
	in, reached := make([]bool, m.w*m.h), make([]bool, m.w*m.h)
	for _, k := range piece {
		in[k] = true
	}
	var edge []int
	for _, k := range piece {
		around := 0
		m.each(m.beside(k), func(k, _, _ int) {
			if in[k] {
				around++
			}
		})
		if around < 9 {
			edge, reached[k] = append(edge, k), true
		}
	}
	inwards := m.spread(reached, edge, func(k int) bool { return in[k] })
	return inwards[len(inwards)-1]
}
