package subject_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"image"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/bgremove/bgremove/internal/matte/subject"
	"github.com/bgremove/bgremove/internal/matte/view"
)

// marked chooses what hints keep, or what was chosen before, but not what they drop.
func marked(_ context.Context, v *view.Cells) ([]uint8, error) {
	chosen := make([]uint8, v.W*v.H)
	for k := range chosen {
		trust := uint16(v.Plane(view.MarkTrust)[k])
		chosen[k] = max(v.Plane(view.MarkKeep)[k], uint8(uint16(v.Plane(view.MarkBefore)[k])*trust/255))
		if v.Plane(view.MarkDrop)[k] > 100 {
			chosen[k] = 0
		}
	}
	return chosen, nil
}

// seen are the frames that a network was shown, in turn.
type seen struct{ cells []view.Cells }

func (s *seen) choose(ctx context.Context, v *view.Cells) ([]uint8, error) {
	s.cells = append(s.cells, *v)
	return marked(ctx, v)
}

// cutOut is the matte of a frame of a scene as a clip chooses it.
func (s scene) cutOut(t *testing.T, c *subject.Clip, i int) *image.Alpha {
	t.Helper()
	_, m := s.frame(i)
	choice, err := c.Choice(i)
	if err != nil {
		t.Fatal(err)
	}
	choice.Apply(m)
	return m
}

func click(frame int, keep bool, x, y float64) subject.Hint {
	return subject.Hint{Frame: frame, Keep: keep, Click: &subject.Point{X: x / w, Y: y / h}}
}

// What a hint marks is followed along its track to both ends of the shot, and is chosen
// there, with nothing else.
func TestGuide(t *testing.T) {
	t.Parallel()
	s := scene{still, func(t float64) []disc { return []disc{{40 + 5*t, 50, 22}, {180, 95, 22}} }}
	c, _ := s.known(t)
	if err := c.Guide(t.Context(), []subject.Hint{click(12, true, 100, 50)}, marked); err != nil {
		t.Fatal(err)
	}
	for _, i := range []int{3, 8, 12, 18, 23} {
		m := s.cutOut(t, c, i)
		if kept, rest := m.AlphaAt(40+5*i, 50).A, m.AlphaAt(180, 95).A; kept < 200 || rest > 20 {
			t.Errorf("frame %d: alpha %d of what was clicked on, %d of the rest", i, kept, rest)
		}
	}
}

// Where hints only drop something, that goes, and the rest of what was chosen stays.
func TestDrop(t *testing.T) {
	t.Parallel()
	s := scene{still, func(t float64) []disc { return []disc{{40 + 5*t, 50, 22}, {180, 95, 22}} }}
	for _, wanted := range []subject.Wanted{subject.Auto, subject.Salient} {
		c, _ := s.known(t)
		all := func(_ context.Context, v *view.Cells) ([]uint8, error) { return v.Plane(view.CellCoverage), nil }
		err := errors.Join(c.Choose(t.Context(), wanted, all), c.Guide(t.Context(), []subject.Hint{click(12, false, 100, 50)}, marked))
		if err != nil {
			t.Fatal(err)
		}
		for _, i := range []int{5, 12, 18} {
			m := s.cutOut(t, c, i)
			if gone, rest := m.AlphaAt(40+5*i, 50).A, m.AlphaAt(180, 95).A; gone > 40 || rest != 255 {
				t.Errorf("%d, frame %d: alpha %d of what was dropped, %d of the rest", wanted, i, gone, rest)
			}
		}
	}
}

// What is like the marked thing but does not touch it, is not taken.
func TestOthersAreLeftOut(t *testing.T) {
	t.Parallel()
	s := scene{still, func(t float64) []disc { return []disc{{40 + 5*t, 50, 22}, {180, 95, 22}} }}
	c, _ := s.known(t)
	all := func(_ context.Context, v *view.Cells) ([]uint8, error) {
		return slices.Clone(v.Plane(view.CellCoverage)), nil
	}
	if err := c.Guide(t.Context(), []subject.Hint{click(12, true, 100, 50)}, all); err != nil {
		t.Fatal(err)
	}
	for _, i := range []int{2, 12, 20} {
		m := s.cutOut(t, c, i)
		if kept, rest := m.AlphaAt(40+5*i, 50).A, m.AlphaAt(180, 95).A; kept < 200 || rest > 20 {
			t.Errorf("frame %d: alpha %d of what was clicked on, %d of another thing", i, kept, rest)
		}
	}
}

// Each hint holds on its own side of the middle between it and the next.
func TestNearerHintHolds(t *testing.T) {
	t.Parallel()
	s := scene{still, func(float64) []disc { return []disc{{60, 60, 22}, {160, 60, 22}} }}
	c, _ := s.known(t)
	hints := []subject.Hint{click(2, true, 60, 60), click(20, false, 60, 60), click(20, true, 160, 60)}
	if err := c.Guide(t.Context(), hints, marked); err != nil {
		t.Fatal(err)
	}
	for i, want := range map[int]bool{0: true, 2: true, 9: true, 13: false, 20: false, 23: false} {
		m := s.cutOut(t, c, i)
		if got := m.AlphaAt(60, 60).A > 127; got != want {
			t.Errorf("frame %d: kept %t", i, got)
		}
	}
}

// The network is shown the marks of each kind and form.
func TestMarks(t *testing.T) {
	t.Parallel()
	s := scene{still, func(float64) []disc { return []disc{{60, 60, 22}} }}
	mask := image.NewAlpha(image.Rect(0, 0, 2, 2))
	mask.Pix[3] = 255 // the lower right quarter
	for name, c := range map[string]struct {
		hint subject.Hint
		want map[image.Point]uint8 // of cells
	}{
		"click":  {click(0, true, 60, 60), map[image.Point]uint8{{15, 15}: 255, {14, 16}: 128, {17, 15}: 0}},
		"edge":   {click(0, true, w-1, h-1), map[image.Point]uint8{{w/4 - 1, h/4 - 1}: 255, {w/4 - 2, h/4 - 1}: 128}},
		"box":    {subject.Hint{Keep: true, Box: &[2]subject.Point{{X: 0.25, Y: 0.25}, {X: 0.5, Y: 0.5}}}, map[image.Point]uint8{{14, 8}: 100, {28, 16}: 100, {13, 8}: 0, {29, 16}: 0}},
		"stroke": {subject.Hint{Keep: true, Radius: 0.05, Stroke: []subject.Point{{X: 0.1, Y: 0.5}, {X: 0.9, Y: 0.5}}}, map[image.Point]uint8{{28, 15}: 255, {28, 16}: 255, {28, 20}: 0, {1, 16}: 0}},
		"point":  {subject.Hint{Keep: true, Radius: 0.001, Stroke: []subject.Point{{X: 0.5, Y: 0.5}}}, map[image.Point]uint8{{28, 16}: 255, {29, 16}: 0}},
		"mask":   {subject.Hint{Keep: true, Mask: mask}, map[image.Point]uint8{{28, 16}: 255, {55, 31}: 255, {27, 16}: 0, {28, 15}: 0}},
	} {
		for _, keep := range []bool{true, false} {
			c.hint.Keep = keep
			clip, _ := s.known(t)
			var network seen
			if err := clip.Guide(t.Context(), []subject.Hint{c.hint}, network.choose); err != nil {
				t.Fatal(err)
			}
			if len(network.cells) != frames {
				t.Fatalf("%s: the network was shown %d frames", name, len(network.cells))
			}
			first := &network.cells[0] // where nothing is kept, what is dropped is followed instead
			for p, want := range c.want {
				if got := first.Plane(view.MarkKeep)[p.Y*first.W+p.X]; got != want {
					t.Errorf("%s: mark %d in cell %v, want %d", name, got, p, want)
				}
			}
			if slices.Max(first.Plane(view.MarkDrop)) > 0 || slices.Max(first.Plane(view.MarkTrust)) > 0 {
				t.Errorf("%s: marks of another kind, or from before the first frame", name)
			}
		}
	}
}

// Where nothing is marked in a shot, the network sees what is like the marks elsewhere.
func TestLike(t *testing.T) {
	t.Parallel()
	c, err := subject.New(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	img, m := scene{still, func(float64) []disc { return nil }}.frame(0)
	features := view.Features{}.Fit(view.Places(w/4, h/4))
	for y := range features.H {
		for x := range features.W {
			kind := 0
			if x >= features.W/2 {
				kind = 1
			}
			features.Pix[(kind*features.H+y)*features.W+x] = 200
		}
	}
	if err := errors.Join(c.Add(img, m, features), c.Decide(t.Context())); err != nil {
		t.Fatal(err)
	}
	var network seen
	if err := c.Guide(t.Context(), []subject.Hint{click(0, true, 20, 20), click(0, false, 200, 20)}, network.choose); err != nil {
		t.Fatal(err)
	}
	v := &network.cells[0]
	for plane, want := range map[view.CellPlane][2]bool{view.LikeKeep: {true, false}, view.LikeDrop: {false, true}} {
		for i, x := range []float64{40, 180} {
			if got := at(v, plane, x, 100); got > 200 != want[i] || got > 20 && !want[i] {
				t.Errorf("plane %d at %v: %d", plane, x, got)
			}
		}
	}
}

// Training marks cells likewise.
func TestTraining(t *testing.T) {
	t.Parallel()
	program, err := os.ReadFile("../../../tools/train/marks.py")
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		fmt.Sprintf("\nCLICKED, NEAR, BOXED = %d, %d, %d ", subject.Clicked, subject.Near, subject.Boxed),
		fmt.Sprintf("\nSAMPLES = %d ", subject.Most),
	} {
		if !strings.Contains(string(program), want) {
			t.Errorf("marks.py does not say %q", want)
		}
	}
}

func TestGuideFails(t *testing.T) {
	t.Parallel()
	s := scene{still, func(float64) []disc { return []disc{{60, 60, 22}} }}
	c, _ := s.known(t)
	hints := []subject.Hint{click(3, true, 60, 60)}
	failing := func(context.Context, *view.Cells) ([]uint8, error) { return nil, os.ErrInvalid }
	if err := c.Guide(t.Context(), hints, failing); !errors.Is(err, os.ErrInvalid) {
		t.Errorf("a network that fails: %v", err)
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(os.ErrDeadlineExceeded)
	if err := c.Guide(ctx, hints, marked); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("after its context ended: %v", err)
	}
}

// What is marked holds at its place, whatever the network says of it.
func TestMarksHold(t *testing.T) {
	t.Parallel()
	s := scene{still, func(float64) []disc { return []disc{{60, 60, 22}, {160, 60, 22}} }}
	everything := func(_ context.Context, v *view.Cells) ([]uint8, error) {
		return bytes.Repeat([]uint8{255}, v.W*v.H), nil
	}
	line := func(keep bool, x float64) subject.Hint {
		return subject.Hint{Frame: 12, Keep: keep, Stroke: []subject.Point{{X: x / w, Y: 52. / h}, {X: x / w, Y: 68. / h}}, Radius: 10. / h}
	}
	for name, network := range map[string]subject.Chooser{"everything": everything, "nothing": nothing} {
		c, _ := s.known(t)
		if err := c.Guide(t.Context(), []subject.Hint{line(true, 60), line(false, 160)}, network); err != nil {
			t.Fatal(err)
		}
		m := s.cutOut(t, c, 12)
		if kept, dropped := m.AlphaAt(60, 60).A, m.AlphaAt(160, 60).A; kept < 250 || dropped > 5 {
			t.Errorf("with a network that takes %s: alpha %d where it is to be kept, %d where it is to be dropped", name, kept, dropped)
		}
	}
}
