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

// pan is a camera that follows nothing. Still things move by -pan(t) on the screen.
func pan(t float64) float64 { return 2 * t }

// A thing that is hidden for some frames is found again by the clip's own matte. Others that were
// there before, or that come far from it or where it left the picture, are not taken for it.
func TestSeenAgain(t *testing.T) {
	t.Parallel()
	const from, to, late = 9, 14, 22 // the thing is hidden, and another comes
	standing := func(x float64) func(t float64) disc { return func(t float64) disc { return disc{x - pan(t), 60, 22} } }
	thing, beside := standing(120), standing(182)
	for name, c := range map[string]struct {
		scene func(t float64) []disc // the thing, and another one
		comes int                    // when the thing, or another one, comes
	}{
		"beside another": {func(t float64) []disc {
			if t >= from && t < to {
				return []disc{{}, beside(t)}
			}
			return []disc{thing(t), beside(t)}
		}, to},
		"another far away": {func(t float64) []disc {
			switch {
			case t < from:
				return []disc{thing(t)}
			case t < to:
				return nil
			}
			return []disc{{}, {200, 100, 10}}
		}, to},
		"another once it has left": {func(t float64) []disc {
			if t < late {
				return []disc{{185 + 3*t, 100, 22}}
			}
			return []disc{{}, {20, 20, 10}}
		}, late},
	} {
		for _, keep := range []bool{true, false} {
			s := scene{pan, c.scene}
			clip, _ := s.known(t)
			all := func(_ context.Context, v *view.Cells) ([]uint8, error) { return v.Plane(view.CellCoverage), nil }
			if err := clip.Choose(t.Context(), subject.Auto, all); err != nil {
				t.Fatal(err)
			}
			first := c.scene(4)[0]
			if err := clip.Guide(t.Context(), []subject.Hint{click(4, keep, first.x, first.y)}, s.forgetful(from, c.comes)); err != nil {
				t.Fatal(err)
			}
			for i := range frames {
				if i >= from && i <= c.comes {
					continue // the motion from a frame without the thing to one with it is anything
				}
				m := s.cutOut(t, clip, i)
				for of, d := range c.scene(float64(i)) {
					if d.radius == 0 || d.x > w-10 {
						continue
					}
					want := (of == 0) == keep
					if a := m.AlphaAt(int(d.x), int(d.y)).A; a > 127 != want {
						t.Errorf("%s, keep %t, frame %d: alpha %d of %d, want it kept: %t", name, keep, i, a, of, want)
					}
				}
			}
		}
	}
}

// forgetful is a network that does not find the scene's thing any more once it was hidden, from a frame on,
// until something comes.
func (s scene) forgetful(from, comes int) subject.Guide {
	shown := map[string]int{} // frames by the picture's red
	for i := range frames {
		img, _ := s.frame(i)
		shown[red(img)] = i
	}
	return func(ctx context.Context, v *view.Marked) ([]uint8, error) {
		i, ok := shown[string(v.Plane(view.MarkRed))]
		if ok && i >= from && (i < comes || slices.Max(v.Plane(view.MarkBefore)) < 128) {
			return make([]uint8, v.W*v.H), nil
		}
		return shy(ctx, v)
	}
}

// red are a picture's values of red.
func red(img *image.NRGBA) string {
	var all []byte
	for k := 0; k < len(img.Pix); k += 4 {
		all = append(all, img.Pix[k])
	}
	return string(all)
}

// both is a network that finds two discs, but not the second, at a place, where that is dropped.
func both(discs []uint8, first, second int) subject.Guide {
	return func(_ context.Context, v *view.Marked) ([]uint8, error) {
		switch drop := v.Plane(view.MarkDrop); {
		case v.W == v.H: // they fit in no part
			return bytes.Repeat([]byte{250}, v.W*v.H), nil
		case drop[first] > 0: // the rest
			return make([]uint8, v.W*v.H), nil
		case drop[second] == 0:
			return slices.Clone(discs), nil
		}
		left := slices.Clone(discs)
		for k := range left {
			if k%w > 95 {
				left[k] = 0
			}
		}
		return left, nil
	}
}

// A thing that a later hint drops is not seen again.
func TestDroppedForGood(t *testing.T) {
	t.Parallel()
	s := scene{still, func(float64) []disc { return []disc{{76, 60, 22}, {114, 60, 22}} }}
	c, _ := s.known(t)
	_, m := s.frame(0)
	hints := []subject.Hint{click(4, true, 76, 60), click(10, false, 114, 60)}
	if err := c.Guide(t.Context(), hints, both(m.Pix, 60*w+76, 60*w+114)); err != nil {
		t.Fatal(err)
	}
	for i := range frames {
		if m := s.cutOut(t, c, i); m.AlphaAt(66, 60).A < 128 || m.AlphaAt(124, 60).A > 127 != (i < 8) {
			t.Errorf("frame %d: alpha %d of the first, %d of the second, which was dropped in frame 10", i, m.AlphaAt(66, 60).A, m.AlphaAt(124, 60).A)
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

// A hint that only drops something else leaves a kept thing within what the clip has by itself,
// though the marks of what is kept have faded.
func TestKeptWithinLater(t *testing.T) {
	t.Parallel()
	jolt := func(t float64) float64 { return pan(t) + 6*math.Sin(40*t) }
	s := scene{jolt, func(t float64) []disc { return []disc{{130 - jolt(t), 60, 22}} }}
	c, _ := s.known(t)
	sure := func(_ context.Context, v *view.Marked) ([]uint8, error) { // also of the ground
		if slices.Min(v.Plane(view.MarkTrust)) == 255 {
			return make([]uint8, v.W*v.H), nil
		}
		return bytes.Repeat([]byte{245}, v.W*v.H), nil
	}
	box := [2]subject.Point{{X: 100. / w, Y: 38. / h}, {X: 144. / w, Y: 82. / h}}
	hints := []subject.Hint{{Frame: 4, Keep: true, Box: &box}, click(10, false, 20, 20)}
	if err := c.Guide(t.Context(), hints, sure); err != nil {
		t.Fatal(err)
	}
	for i := range frames {
		x := 130 - int(jolt(float64(i)))
		m := s.cutOut(t, c, i)
		if thing, ground := m.AlphaAt(x, 60).A, m.AlphaAt(x+30, 60).A; thing < 240 || ground > 200 {
			t.Errorf("frame %d: alpha %d of the thing, %d of the ground", i, thing, ground)
		}
	}
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
