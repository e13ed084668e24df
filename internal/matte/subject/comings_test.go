package subject_test

import (
	"context"
	"testing"

	"github.com/bgremove/bgremove/internal/matte/subject"
	"github.com/bgremove/bgremove/internal/matte/view"
)

// visit is a scene in which a disc comes in, waits before the middle of the picture for most of the
// time, and leaves. Another disc is always there.
func visit(camera func(float64) float64) scene {
	const comes, leaves, way = 20.0, 100.0, 110.0
	return scene{camera, func(t float64) []disc {
		x := way*min(t/comes, 1) - 30
		if t > leaves {
			x += 10 * (t - leaves)
		}
		return []disc{{x, 50, 24}, {190, 100, 16}}
	}}
}

const visitFrames, waiting = 120, 60

// movers is a chooser that chooses what moves now.
func movers(_ context.Context, v *view.Cells) ([]uint8, error) {
	chosen := make([]uint8, v.W*v.H)
	for k, m := range v.Plane(view.CellMotion) {
		if m > 100 {
			chosen[k] = v.Plane(view.CellCoverage)[k]
		}
	}
	return chosen, nil
}

// left is what is left of both discs in a frame.
func (s scene) left(t *testing.T, n int, w subject.Wanted, network subject.Chooser, frame int) (first, second uint8) {
	t.Helper()
	c := begun(t, false)
	for i := range n {
		img, m := s.frame(i)
		if err := looked(t.Context(), c, img, m, view.Features{}); err != nil {
			t.Fatal(err)
		}
	}
	if err := c.Decide(t.Context()); err != nil {
		t.Fatal(err)
	}
	choice := chosen(t, c, w, network, frame)
	_, m := s.frame(frame)
	choice.Apply(m)
	choice.Strip(m)
	at := s.discs(float64(frame))
	return m.AlphaAt(int(at[0].x), int(at[0].y)).A, m.AlphaAt(int(at[1].x), int(at[1].y)).A
}

// A thing that comes in, waits and leaves is kept while nothing of it moves. One that is always there goes.
func TestVisit(t *testing.T) {
	t.Parallel()
	for _, w := range []subject.Wanted{subject.Auto, subject.Moving} {
		if waits, stands := visit(still).left(t, visitFrames, w, movers, waiting); waits != 255 || stands != 0 {
			t.Errorf("%d: alpha %d of what waits, %d of what is always there", w, waits, stands)
		}
	}
}

// Where the camera moves, places cannot be compared: the network decides alone.
func TestVisitBeforeMovingCamera(t *testing.T) {
	t.Parallel()
	pans := func(t float64) float64 { return t / 4 }
	if waits, _ := visit(pans).left(t, visitFrames, subject.Moving, nothing, waiting); waits != 0 {
		t.Errorf("alpha %d of what nothing chose", waits)
	}
}

// Where most of what is there never comes or goes, it stays, as people at desks whom somebody passes.
func TestPassingBy(t *testing.T) {
	t.Parallel()
	s := scene{still, func(t float64) []disc { return []disc{{-30 + 20*t, 20, 12}, {60, 80, 30}, {160, 80, 30}} }}
	if _, stands := s.left(t, frames, subject.Auto, nothing, 20); stands != 255 {
		t.Errorf("alpha %d of what is always there", stands)
	}
}

// A thing of which a part moves is one that moves, and stays whole.
func TestMovingKeepsWholeThings(t *testing.T) {
	t.Parallel()
	s := scene{still, func(t float64) []disc { return []disc{{70, 80, 20}, {70, 50 - 2*float64(int(t)%2), 22}, {180, 90, 22}} }}
	c, _ := s.known(t)
	choice := chosen(t, c, subject.Moving, nil, 10)
	_, m := s.frame(10)
	choice.Apply(m)
	choice.Strip(m)
	if body, other := m.AlphaAt(70, 90).A, m.AlphaAt(180, 90).A; body != 255 || other != 0 {
		t.Errorf("alpha %d of the still part of what moves, %d of what stands still", body, other)
	}
}
