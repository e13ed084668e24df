package subject_test

import (
	"context"
	"errors"
	"image"
	"image/color"
	"image/draw"
	"math"
	"slices"
	"testing"

	"github.com/bgremove/bgremove/internal/matte/subject"
	"github.com/bgremove/bgremove/internal/matte/view"
)

// In a frame with a hint that drops, the network is also shown the frame's own matte, with the
// mark on what is wrong in it. A mask that drops tells enough by itself.
func TestRestIsShown(t *testing.T) {
	t.Parallel()
	s := scene{still, func(float64) []disc { return []disc{{60, 60, 22}, {160, 60, 22}} }}
	mask := image.NewAlpha(image.Rect(0, 0, w, h))
	draw.Draw(mask, image.Rect(50, 50, 70, 70), image.Opaque, image.Point{}, draw.Src)
	for name, c := range map[string]struct {
		hint  subject.Hint
		shown int
	}{
		"click": {click(0, false, 60, 60), frames + 1},
		"mask":  {subject.Hint{Mask: mask}, frames},
	} {
		clip, _ := s.known(t)
		var network seen
		if err := clip.Guide(t.Context(), []subject.Hint{c.hint}, network.guide); err != nil {
			t.Fatal(err)
		}
		if len(network.pictures) != c.shown {
			t.Errorf("%s: the network was shown %d pictures, want %d", name, len(network.pictures), c.shown)
		}
		if c.shown == frames {
			continue
		}
		rest := &network.pictures[1]
		_, m := s.frame(0)
		marked := slices.Max(rest.Plane(view.MarkKeep)) > 0 || rest.Plane(view.MarkDrop)[60*w+60] != 255 || rest.Plane(view.MarkDrop)[60*w+160] > 0
		known := slices.Equal(rest.Plane(view.MarkBefore), m.Pix) && slices.Min(rest.Plane(view.MarkTrust)) == 255
		if marked || !known {
			t.Errorf("%s: the network was shown wrong marks: %t, the matte: %t", name, marked, known)
		}
	}
}

// doubtful is a network that is sure of a thing near its mark, and of the rest far from it.
func doubtful(_ context.Context, v *view.Marked) ([]uint8, error) {
	marks, near, matte := v.Plane(view.MarkKeep), uint8(255), make([]uint8, v.W*v.H)
	if dropped := v.Plane(view.MarkDrop); slices.Max(dropped) > 0 {
		marks, near, matte = dropped, 0, slices.Clone(v.Plane(view.MarkBefore))
	}
	mark := slices.Index(marks, slices.Max(marks))
	for k := range matte {
		away := math.Hypot(float64(k%v.W-mark%v.W), float64(k/v.W-mark/v.W))
		switch {
		case away < 12:
			matte[k] = near
		case away < 40 || v.W == v.H: // a part of the picture says nothing
			matte[k] = 128
		}
	}
	return matte, nil
}

// Of two things that touch, what moves as the clicked one does goes or stays with it, and the
// other does not.
func TestMotionDivides(t *testing.T) {
	t.Parallel()
	for name, walk := range map[string]func(t float64) []disc{
		"the clicked thing moves": func(t float64) []disc { return []disc{{76 + 2*t, 50, 22}, {138, 60, 22}} },
		"the other thing moves":   func(t float64) []disc { return []disc{{100, 50, 22}, {162 - 2*t, 60, 22}} },
	} {
		for _, keep := range []bool{true, false} {
			s := scene{still, walk}
			c, _ := s.known(t)
			if err := c.Guide(t.Context(), []subject.Hint{click(12, keep, 100, 50)}, doubtful); err != nil {
				t.Fatal(err)
			}
			for _, i := range []int{9, 12, 15} {
				m, discs := s.cutOut(t, c, i), walk(float64(i))
				for of, places := range [][]image.Point{{{0, 0}, {-16, 0}, {0, 16}, {0, -16}}, {{-10, 4}, {0, -14}, {14, 0}}} {
					for _, p := range places {
						at := p.Add(image.Pt(int(discs[of].x), int(discs[of].y)))
						if a := m.AlphaAt(at.X, at.Y).A; a > 127 != (keep == (of == 0)) {
							t.Errorf("%s, keep %t, frame %d: alpha %d at %v of thing %d", name, keep, i, a, p, of)
						}
					}
				}
			}
		}
	}
}

// shy is a network that finds only what is near its mark, and no rest.
func shy(_ context.Context, v *view.Marked) ([]uint8, error) {
	marks, before, matte := v.Plane(view.MarkKeep), v.Plane(view.MarkBefore), make([]uint8, v.W*v.H)
	mark := slices.Index(marks, slices.Max(marks))
	if slices.Max(marks) == 0 {
		return matte, nil
	}
	for k := range matte {
		if before[k] > 127 || math.Hypot(float64(k%v.W-mark%v.W), float64(k/v.W-mark/v.W)) < 12 {
			matte[k] = 250
		}
	}
	return matte, nil
}

// A thing that is kept is whole where it moves against the backdrop, though the network finds
// only a part. Where all stands still, nothing tells that the rest belongs to it.
func TestKeptWhole(t *testing.T) {
	t.Parallel()
	for _, speed := range []float64{0, 2} {
		s := scene{still, func(t float64) []disc { return []disc{{76 + speed*t, 60, 30}} }}
		c, _ := s.known(t)
		clicked := []subject.Hint{click(12, true, 76+12*speed, 60)}
		shown, err := c.Preview(t.Context(), 12, clicked, shy)
		if err = errors.Join(err, c.Guide(t.Context(), clicked, shy)); err != nil {
			t.Fatal(err)
		}
		_, m := s.frame(12)
		if shown.Apply(m); m.AlphaAt(200, 20).A != 0 {
			t.Errorf("speed %g: alpha %d far away", speed, m.AlphaAt(200, 20).A)
		}
		for _, i := range []int{9, 12, 15} {
			m := s.cutOut(t, c, i)
			for _, p := range []image.Point{{0, 0}, {-24, 0}, {24, 0}, {0, 24}, {0, -24}} {
				a := m.AlphaAt(76+int(speed)*i+p.X, 60+p.Y).A
				if want := p == (image.Point{}) || speed > 0; a > 127 != want {
					t.Errorf("speed %g, frame %d: alpha %d at %v, want it kept: %t", speed, i, a, p, want)
				}
			}
		}
	}
}

// brightGoes is a network that is quite sure of what is bright, but leaves it to the rest as well.
func brightGoes(_ context.Context, v *view.Marked) ([]uint8, error) {
	matte := slices.Clone(v.Plane(view.MarkBefore))
	if slices.Max(v.Plane(view.MarkDrop)) > 0 {
		return matte, nil
	}
	for k, red := range v.Plane(view.MarkRed) {
		if red > 150 {
			matte[k] = 245
		}
	}
	return matte, nil
}

// A dropped thing goes with its soft edges, and with a thin part that leads out of the part of the
// picture that the network is shown enlarged.
func TestDroppedWhole(t *testing.T) {
	t.Parallel()
	img, m := image.NewNRGBA(image.Rect(0, 0, w, h)), image.NewAlpha(image.Rect(0, 0, w, h))
	for _, thing := range []image.Rectangle{image.Rect(40, 50, 60, 70), image.Rect(60, 58, 200, 60)} {
		draw.Draw(m, thing.Inset(-2), image.NewUniform(color.Alpha{50}), image.Point{}, draw.Src)
		draw.Draw(img, thing.Inset(-2), image.White, image.Point{}, draw.Src)
	}
	draw.Draw(m, image.Rect(40, 50, 60, 70), image.Opaque, image.Point{}, draw.Src)
	draw.Draw(m, image.Rect(60, 58, 200, 60), image.Opaque, image.Point{}, draw.Src)
	c := begun(t, true)
	if err := looked(t.Context(), c, img, m, view.Features{}); err != nil {
		t.Fatal(err)
	}
	decided(t, c, 1)
	if err := c.Guide(t.Context(), []subject.Hint{click(0, false, 50, 60)}, brightGoes); err != nil {
		t.Fatal(err)
	}
	choice, err := c.Choice(0)
	if err != nil {
		t.Fatal(err)
	}
	choice.Apply(m)
	for _, p := range []image.Point{{50, 60}, {39, 60}, {50, 49}, {120, 59}, {190, 59}} {
		if a := m.AlphaAt(p.X, p.Y).A; a > 10 {
			t.Errorf("alpha %d at %v", a, p)
		}
	}
}
