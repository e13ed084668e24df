package subject_test

import (
	"bytes"
	"context"
	"image"
	"math"
	"slices"
	"testing"

	"github.com/bgremove/bgremove/internal/matte/subject"
	"github.com/bgremove/bgremove/internal/matte/view"
)

// Where nothing moves and the network finds nothing, what mattes always have is kept, unless only
// what moves is wanted.
func TestStill(t *testing.T) {
	t.Parallel()
	s := scene{still, func(t float64) []disc { return []disc{{80 + 0.1*math.Sin(t), 50, 22}, {180, 90, 22}} }}
	for w, want := range map[subject.Wanted]uint8{subject.Auto: 255, subject.Moving: 0} {
		c, _ := s.known(t)
		_, m := s.frame(10)
		choice := chosen(t, c, w, nothing, 10)
		choice.Apply(m)
		choice.Strip(m)
		if got := m.AlphaAt(180, 90).A; got != want {
			t.Errorf("%d: alpha %d, want %d", w, got, want)
		}
	}
}

// nothing is a network that chooses nothing.
func nothing(_ context.Context, v *view.Cells) ([]uint8, error) { return make([]uint8, v.W*v.H), nil }

// chosen is what is chosen of frame i of a clip that has been decided.
func chosen(t *testing.T, c *subject.Clip, w subject.Wanted, network subject.Chooser, i int) subject.Choice {
	t.Helper()
	if err := c.Choose(t.Context(), w, network); err != nil {
		t.Fatal(err)
	}
	choice, err := c.Choice(i)
	if err != nil {
		t.Fatal(err)
	}
	return choice
}

// A choice changes mattes of any size, of cells that a network chose, and only of those.
func TestChoice(t *testing.T) {
	t.Parallel()
	grid := image.Pt(w/4, h/4)
	before := bytes.Repeat([]byte{128}, grid.X*grid.Y)
	// choose leaves cells as they are, but for some columns.
	choose := func(x0, x1 int, value uint8) subject.Choice {
		after := slices.Clone(before)
		for k := range after {
			if x := k % grid.X * 4; x >= x0 && x < x1 {
				after[k] = value
			}
		}
		return subject.NewChoice(before, after, grid, w, h)
	}
	for _, size := range []image.Point{{w, h}, {w / 2, h / 2}, {3 * w, 3 * h}} {
		scale := float64(size.X) / w
		filled := func(value uint8) *image.Alpha {
			return &image.Alpha{Pix: bytes.Repeat([]byte{value}, size.X*size.Y), Stride: size.X, Rect: image.Rectangle{Max: size}}
		}
		at := func(m *image.Alpha, x, y float64) uint8 { return m.AlphaAt(int(x*scale), int(y*scale)).A }
		none := choose(0, 0, 0)
		for _, value := range []uint8{0, 1, 77, 254, 255} {
			m := filled(value)
			none.Apply(m)
			if i := slices.IndexFunc(m.Pix, func(a uint8) bool { return a != value }); i >= 0 {
				t.Errorf("%v: nothing chosen anew made %d of %d", size, m.Pix[i], value)
			}
		}
		without := choose(140, w, 0)
		m := filled(255)
		without.Strip(m)
		if gone, stays := at(m, 180, 90), at(m, 90, 50); gone != 0 || stays != 255 {
			t.Errorf("%v: revised, alpha %d of what was not chosen, %d of what was", size, gone, stays)
		}
		m = filled(255)
		without.Apply(m)
		if gone, stays := at(m, 180, 90), at(m, 90, 50); gone != 0 || stays != 255 {
			t.Errorf("%v: alpha %d of what was not chosen, %d of what was", size, gone, stays)
		}
		with := choose(0, 40, 255)
		m = filled(20)
		with.Apply(m)
		if more, stays := at(m, 15, 100), at(m, 110, 100); more < 200 || stays != 20 {
			t.Errorf("%v: alpha %d of what was chosen, %d of the rest", size, more, stays)
		}
	}
}

// Moving drops what stands still, and Salient nothing.
func TestWanted(t *testing.T) {
	t.Parallel()
	s := scene{still, func(t float64) []disc { return []disc{{30 + 6*t, 50, 22}, {180, 90, 22}} }}
	for wanted, want := range map[subject.Wanted][2]uint8{subject.Moving: {255, 0}, subject.Salient: {255, 255}} {
		c, _ := s.known(t)
		choice := chosen(t, c, wanted, nil, 10)
		_, m := s.frame(10)
		choice.Apply(m)
		choice.Strip(m)
		if got := [2]uint8{m.AlphaAt(90, 50).A, m.AlphaAt(180, 90).A}; got != want {
			t.Errorf("%d: alpha %d of what moves and what stands, want %d", wanted, got, want)
		}
	}
}
