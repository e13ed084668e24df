package subject_test

import (
	"bytes"
	"context"
	"slices"
	"testing"

	"github.com/bgremove/bgremove/internal/matte/subject"
	"github.com/bgremove/bgremove/internal/matte/view"
)

// A thing that is hidden for some frames is found again by the clip's own matte. Others that were
// there before, or come far from it, are not taken for it.
func TestSeenAgain(t *testing.T) {
	t.Parallel()
	const from, to = 9, 14 // hidden
	thing, beside, far := disc{90, 60, 22}, disc{152, 60, 22}, disc{205, 100, 16}
	s := scene{still, func(t float64) []disc {
		switch {
		case t < from:
			return []disc{thing, beside}
		case t < to:
			return []disc{{}, beside}
		}
		return []disc{thing, beside, far}
	}}
	hidden, _ := s.frame(from)
	at := int(thing.y)*w + int(thing.x)
	// forgetful is a network that does not find the thing when it comes back.
	forgetful := func(ctx context.Context, v *view.Marked) ([]uint8, error) {
		if v.W != v.H && (v.Plane(view.MarkRed)[at] == hidden.Pix[4*at] || slices.Max(v.Plane(view.MarkBefore)) == 0 && slices.Max(v.Plane(view.MarkTrust)) > 0) {
			return make([]uint8, v.W*v.H), nil
		}
		return shy(ctx, v)
	}
	for name, keep := range map[string]bool{"keep": true, "drop": false} {
		c, _ := s.known(t)
		all := func(_ context.Context, v *view.Cells) ([]uint8, error) { return v.Plane(view.CellCoverage), nil }
		if err := c.Choose(t.Context(), subject.Auto, all); err != nil {
			t.Fatal(err)
		}
		if err := c.Guide(t.Context(), []subject.Hint{click(4, keep, thing.x, thing.y)}, forgetful); err != nil {
			t.Fatal(err)
		}
		for i := range frames {
			if i == to {
				continue // the motion from the frame before, in which it was not there, is anything
			}
			m := s.cutOut(t, c, i)
			for of, d := range map[string]disc{"the thing": thing, "another beside it": beside, "one far from it": far} {
				_, own := s.frame(i)
				want := own.AlphaAt(int(d.x), int(d.y)).A > 0 && (d == thing) == keep
				if a := m.AlphaAt(int(d.x), int(d.y)).A; a > 127 != want {
					t.Errorf("%s, frame %d: alpha %d of %s, want it kept: %t", name, i, a, of, want)
				}
			}
		}
	}
}

// wide is a network that takes a wide part around its mark for the thing, and all for the rest as well.
func wide(_ context.Context, v *view.Marked) ([]uint8, error) {
	matte := make([]uint8, v.W*v.H)
	switch {
	case slices.Max(v.Plane(view.MarkDrop)) > 0:
		return slices.Clone(v.Plane(view.MarkBefore)), nil
	case v.W == v.H: // it fits in no part
		return bytes.Repeat([]byte{245}, len(matte)), nil
	}
	for k, mark := range v.Plane(view.MarkKeep) {
		if mark == 255 {
			for n := -40; n <= 40; n++ {
				matte[k+n] = 245
			}
		}
	}
	return matte, nil
}

// A kept thing is within what the clip has by itself: the network's matte, and of that what Choose
// left, if the thing was left.
func TestKeptWithin(t *testing.T) {
	t.Parallel()
	s := scene{still, func(t float64) []disc { return []disc{{76, 60, 22}, {114, 60, 22}} }}
	for wanted, want := range map[string][2]bool{
		"all": {true, true}, "first": {true, false}, "second": {true, true},
	} {
		c, _ := s.known(t)
		err := c.Choose(t.Context(), subject.Moving, func(_ context.Context, v *view.Cells) ([]uint8, error) {
			chosen := slices.Clone(v.Plane(view.CellCoverage))
			for k := range chosen {
				if first := k%v.W < 95/4; wanted == "first" && !first || wanted == "second" && first {
					chosen[k] = 0
				}
			}
			return chosen, nil
		})
		if err != nil {
			t.Fatal(err)
		}
		if err := c.Guide(t.Context(), []subject.Hint{click(0, true, 76, 60)}, wide); err != nil {
			t.Fatal(err)
		}
		m := s.cutOut(t, c, 0)
		got := [2]bool{m.AlphaAt(76, 60).A > 127, m.AlphaAt(108, 60).A > 127}
		if ground := m.AlphaAt(44, 60).A; got != want || ground > 200 {
			t.Errorf("chosen %s: kept of the first and the second thing: %t, want %t; alpha %d of the ground", wanted, got, want, ground)
		}
	}
}
