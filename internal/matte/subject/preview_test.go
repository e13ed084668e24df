package subject_test

import (
	"context"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/bgremove/bgremove/internal/matte/subject"
	"github.com/bgremove/bgremove/internal/matte/view"
)

// A preview of each frame is as Guide chooses it, whichever hints there were before, in whichever
// order the frames are shown.
func TestPreview(t *testing.T) {
	t.Parallel()
	s := scene{still, func(t float64) []disc { return []disc{{40 + 5*t, 50, 22}, {180, 95, 22}} }}
	all := func(_ context.Context, v *view.Cells) ([]uint8, error) { return v.Plane(view.CellCoverage), nil }
	chosen := func(w subject.Wanted) *subject.Clip {
		c, _ := s.known(t)
		if err := c.Choose(t.Context(), w, all); err != nil {
			t.Fatal(err)
		}
		return c
	}
	one, later := click(12, true, 100, 50), click(18, false, 130, 60)
	marks := [][]subject.Hint{
		{one}, {one, later}, {one}, {one, later, click(3, true, 55, 60)}, {one, click(12, false, 180, 95)}, nil,
		{click(12, false, 100, 50)}, {one},
		{click(3, true, 55, 50), click(9, true, 180, 95), click(16, false, 120, 50), click(21, true, 145, 50)},
		{click(2, false, 50, 50), click(9, true, 180, 95)},
		{click(5, false, 65, 50), click(17, false, 180, 95)},
	}
	for _, wanted := range []subject.Wanted{subject.Auto, subject.Salient} {
		c := chosen(wanted)
		for n, hints := range marks {
			guided := chosen(wanted)
			if len(hints) > 0 {
				if err := guided.Guide(t.Context(), hints, marked); err != nil {
					t.Fatal(err)
				}
			}
			for _, i := range []int{15, 12, 23, 18, 4, 17, 0, 10, 15} {
				choice, err := c.Preview(t.Context(), i, hints, marked)
				if err != nil {
					t.Fatal(err)
				}
				_, m := s.frame(i)
				choice.Apply(m)
				if diff := cmp.Diff(s.cutOut(t, guided, i), m); diff != "" {
					t.Errorf("%v, hints %d, frame %d: %s", wanted, n, i, diff)
				}
			}
			if most := (subject.StatesMost + 2) * frames; c.States() > most { // one call more: to a turn and back
				t.Errorf("%d states are kept of %d frames", c.States(), frames)
			}
		}
	}
}

// A preview goes on from what those before have followed, as far as hints are the same.
func TestPreviewGoesOn(t *testing.T) {
	t.Parallel()
	s := scene{still, func(float64) []disc { return []disc{{60, 60, 22}, {160, 60, 22}} }}
	c, _ := s.known(t)
	const rest = 1 // more picture of a frame with hints
	first, later := click(6, true, 60, 60), click(18, true, 60, 64)
	for n, step := range []struct {
		frame, asks int
		hints       []subject.Hint
	}{
		{16, 11 + rest, []subject.Hint{first}},
		{9, 0, []subject.Hint{first}},
		{17, 1, []subject.Hint{first}},
		{4, 2, []subject.Hint{first}},
		{18, 1 + rest, []subject.Hint{first, later}},
		{15, 3, []subject.Hint{first, later}}, // back from the correction
		{15, 0, []subject.Hint{first}},
		{18, 1, []subject.Hint{first}},
		{15, 4 + rest, []subject.Hint{first, click(18, true, 60, 56)}},
		{15, 0, []subject.Hint{first, later}},
		{6, 1 + rest, []subject.Hint{click(6, true, 64, 60)}},
	} {
		var asked seen
		if _, err := c.Preview(t.Context(), step.frame, step.hints, asked.guide); err != nil {
			t.Fatal(err)
		}
		if len(asked.pictures) != step.asks {
			t.Errorf("step %d: the network was asked %d times, want %d", n, len(asked.pictures), step.asks)
		}
	}
}

// The frames that a preview has followed before it was given up are there for the next one.
func TestPreviewGivenUp(t *testing.T) {
	t.Parallel()
	s := scene{still, func(float64) []disc { return []disc{{60, 60, 22}} }}
	c, _ := s.known(t)
	hints := []subject.Hint{click(6, true, 60, 60)}
	ctx, stop := context.WithCancel(t.Context())
	var asked, again seen
	_, err := c.Preview(ctx, 20, hints, func(ctx context.Context, v *view.Marked) ([]uint8, error) {
		if asked.shown() == 8 {
			stop()
		}
		return asked.guide(ctx, v)
	})
	if !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	if _, err := c.Preview(t.Context(), 20, hints, again.guide); err != nil {
		t.Fatal(err)
	}
	if n := len(asked.pictures) + len(again.pictures); n != 16 {
		t.Errorf("the network was asked %d times for fifteen frames and a rest", n)
	}
}

// Calls that have no time get to a frame, too, also where two pages ask with hints of their own.
func TestPreviewsInTurn(t *testing.T) {
	t.Parallel()
	s := scene{still, func(float64) []disc { return []disc{{60, 60, 22}, {160, 60, 22}} }}
	c, _ := s.known(t)
	ctx, stop := context.WithCancel(t.Context())
	stop()
	for n := 1; ; n++ {
		_, one := c.Preview(ctx, 20, []subject.Hint{click(6, true, 60, 60)}, marked)
		_, other := c.Preview(ctx, 20, []subject.Hint{click(8, true, 160, 60)}, marked)
		if one == nil && other == nil {
			break
		}
		if n > frames {
			t.Fatalf("after %d calls: %v, %v", n, one, other)
		}
	}
}

// A preview that cannot read what is kept fails, and the next one begins anew.
func TestPreviewBroken(t *testing.T) {
	t.Parallel()
	s := scene{still, func(float64) []disc { return []disc{{60, 60, 22}} }}
	c, _ := s.known(t)
	hints := []subject.Hint{click(6, true, 60, 60)}
	for n, fails := range []bool{false, true, false, false} {
		if n == 1 {
			if err := c.BreakStates(); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := c.Preview(t.Context(), 8, hints, marked); (err != nil) != fails {
			t.Errorf("call %d: %v", n, err)
		}
	}
}

// A hint in the frame that is shown asks the network of that frame alone, and of its rest.
func TestPreviewIsShort(t *testing.T) {
	t.Parallel()
	s := scene{still, func(float64) []disc { return []disc{{60, 60, 22}, {160, 60, 22}} }}
	c, _ := s.known(t)
	var asked seen
	if _, err := c.Preview(t.Context(), 12, []subject.Hint{click(12, true, 60, 60)}, asked.guide); err != nil {
		t.Fatal(err)
	}
	if len(asked.pictures) != 2 {
		t.Errorf("the network was asked %d times", len(asked.pictures))
	}
}
