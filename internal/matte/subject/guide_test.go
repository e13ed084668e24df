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
	"sync"
	"testing"

	"github.com/bgremove/bgremove/internal/matte/subject"
	"github.com/bgremove/bgremove/internal/matte/view"
)

// marked chooses what hints keep, or what was chosen before, but not what they drop.
func marked(_ context.Context, v *view.Marked) ([]uint8, error) {
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

// seen are the frames that a network was shown, and the square parts of some: in turn on each way from
// the first.
type seen struct {
	mu              sync.Mutex
	pictures, parts []view.Marked
}

func (s *seen) add(v *view.Marked) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if v.W == v.H {
		s.parts = append(s.parts, *v)
	} else {
		s.pictures = append(s.pictures, *v)
	}
}

// shown is how many pictures the network was shown so far.
func (s *seen) shown() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.pictures)
}

func (s *seen) guide(ctx context.Context, v *view.Marked) ([]uint8, error) {
	s.add(v)
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

// A thing that a hint marks is followed along its track to both ends of the shot, and is chosen
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

// A thing that is like the marked one but does not touch it is not taken.
func TestOthersAreLeftOut(t *testing.T) {
	t.Parallel()
	s := scene{still, func(t float64) []disc { return []disc{{40 + 5*t, 50, 22}, {180, 95, 22}} }}
	c, _ := s.known(t)
	mattes := map[string][]uint8{} // by the picture's red
	for i := range frames {
		img, m := s.frame(i)
		mattes[red(img)] = m.Pix
	}
	all := func(ctx context.Context, v *view.Marked) ([]uint8, error) {
		if v.W == v.H { // a part of the first frame
			return marked(ctx, v)
		}
		return slices.Clone(mattes[string(v.Plane(view.MarkRed))]), nil
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

// The hint that was given first says which thing is wanted. One given later, for a frame before
// it, corrects that.
func TestFirstGivenHintLeads(t *testing.T) {
	t.Parallel()
	s := scene{still, func(t float64) []disc { return []disc{{40 + 5*t, 50, 22}} }}
	c, _ := s.known(t)
	var network seen
	hints := []subject.Hint{click(12, true, 100, 50), click(4, true, 60, 60)}
	if err := c.Guide(t.Context(), hints, network.guide); err != nil {
		t.Fatal(err)
	}
	for i, known := range map[int]bool{12: false, 4: true} {
		img, _ := s.frame(i)
		shown := slices.IndexFunc(network.pictures, func(v view.Marked) bool {
			return v.Plane(view.MarkRed)[50*w+100] == img.Pix[4*(50*w+100)] && v.Plane(view.MarkRed)[60*w+60] == img.Pix[4*(60*w+60)]
		})
		if shown < 0 {
			t.Fatalf("frame %d was not shown", i)
		}
		if got := slices.Max(network.pictures[shown].Plane(view.MarkTrust)) > 0; got != known {
			t.Errorf("frame %d: another frame before it is known: %t", i, got)
		}
	}
}

// The network is shown the marks of each kind and form.
func TestMarks(t *testing.T) {
	t.Parallel()
	s := scene{still, func(float64) []disc { return []disc{{60, 60, 22}} }}
	for name, c := range map[string]struct {
		hint subject.Hint
		want map[image.Point]uint8
	}{
		"click":  {click(0, true, 60, 60), map[image.Point]uint8{{60, 60}: 255, {61, 61}: 255, {64, 60}: 0}},
		"edge":   {click(0, true, w-1, h-1), map[image.Point]uint8{{w - 1, h - 1}: 255, {w - 5, h - 1}: 0}},
		"box":    {subject.Hint{Keep: true, Box: &[2]subject.Point{{X: 0.25, Y: 0.25}, {X: 0.5, Y: 0.5}}}, map[image.Point]uint8{{56, 32}: 102, {112, 64}: 102, {55, 32}: 0, {113, 64}: 0}},
		"stroke": {subject.Hint{Keep: true, Radius: 0.05, Stroke: []subject.Point{{X: 0.1, Y: 0.5}, {X: 0.9, Y: 0.5}}}, map[image.Point]uint8{{112, 60}: 255, {112, 68}: 255, {112, 80}: 0, {4, 64}: 0}},
		"point":  {subject.Hint{Keep: true, Radius: 0.001, Stroke: []subject.Point{{X: 0.5, Y: 0.5}}}, map[image.Point]uint8{{112, 64}: 255, {114, 64}: 0}},
	} {
		for _, keep := range []bool{true, false} {
			c.hint.Keep = keep
			clip, _ := s.known(t)
			var network seen
			if err := clip.Guide(t.Context(), []subject.Hint{c.hint}, network.guide); err != nil {
				t.Fatal(err)
			}
			n := len(network.pictures) // with the rest of the first frame, unless the matte has nothing to keep there
			if n != frames+1 && (n != frames || !keep) {
				t.Fatalf("%s: the network was shown %d pictures", name, n)
			}
			first := &network.pictures[0] // where nothing is kept, what is dropped is followed instead
			for p, want := range c.want {
				if got := first.Plane(view.MarkKeep)[p.Y*first.W+p.X]; got != want {
					t.Errorf("%s: mark %d at %v, want %d", name, got, p, want)
				}
			}
			if slices.Max(first.Plane(view.MarkDrop)) > 0 || slices.Max(first.Plane(view.MarkTrust)) > 0 {
				t.Errorf("%s: marks of another kind, or from before the first frame", name)
			}
		}
	}
}

// A mask that keeps is shown as a matte that is sure, and one that drops as marks. Both hold.
func TestMasks(t *testing.T) {
	t.Parallel()
	s := scene{still, func(float64) []disc { return []disc{{60, 60, 22}} }}
	mask := image.NewAlpha(image.Rect(0, 0, 2, 2))
	mask.Pix[3] = 255 // the lower right quarter
	corner, rest := (h-10)*w+w-10, 10*w+10
	for _, keep := range []bool{true, false} {
		c, _ := s.known(t)
		var network seen
		hints := []subject.Hint{{Keep: keep, Mask: mask}, click(0, true, 60, 60)}
		if err := c.Guide(t.Context(), hints, network.guide); err != nil {
			t.Fatal(err)
		}
		planes := []view.MarkPlane{view.MarkDrop}
		if keep {
			planes = []view.MarkPlane{view.MarkBefore, view.MarkTrust}
		}
		for _, p := range planes {
			if plane := network.pictures[0].Plane(p); plane[corner] != 255 || plane[rest] > 0 && p != view.MarkTrust {
				t.Errorf("keep %t: plane %d has %d in the mask and %d beside it", keep, p, plane[corner], plane[rest])
			}
		}
		if m := s.cutOut(t, c, 0); m.Pix[corner] > 127 != keep {
			t.Errorf("keep %t: alpha %d in the mask", keep, m.Pix[corner])
		}
	}
}

// In a shot without hints, what looks like the thing that was marked elsewhere is followed, and
// nothing where nothing does.
func TestShotsWithoutHints(t *testing.T) {
	t.Parallel()
	s := scene{still, func(float64) []disc { return nil }}
	for name, there := range map[string]bool{"there": true, "not there": false} {
		c := begun(t, true)
		for i := range 2 * frames {
			img, m := s.frame(i % frames)
			features := view.Features{}.Fit(view.Places(w/4, h/4))
			for k := range features.W * features.H {
				features.Pix[k] = 200
			}
			if later := i >= frames; !later || there {
				at := 5*features.W + 5 // where the thing is
				if later {
					at = 9*features.W + 20
				}
				features.Pix[at], features.Pix[features.W*features.H+at] = 0, 200
			}
			if i >= frames { // another place
				for k := range img.Pix {
					img.Pix[k] = 255 - img.Pix[k]
				}
			}
			if err := looked(t.Context(), c, img, m, features); err != nil {
				t.Fatal(err)
			}
		}
		if err := c.Decide(t.Context()); err != nil {
			t.Fatal(err)
		}
		var network seen
		hints := []subject.Hint{click(3, true, 44, 44)}
		_, preview := s.frame(4)
		choice, err := c.Preview(t.Context(), frames+4, hints, marked)
		if err != nil {
			t.Fatal(err)
		}
		choice.Apply(preview)
		if err := c.Guide(t.Context(), hints, network.guide); err != nil {
			t.Fatal(err)
		}
		want := frames // the clip's own matte has nothing there, and tells of no rest
		if there {
			want = 2 * frames
		}
		if len(network.pictures) != want {
			t.Errorf("%s: the network was asked of %d frames, want %d", name, len(network.pictures), want)
		}
		for _, m := range []*image.Alpha{s.cutOut(t, c, frames+4), preview} {
			if m.AlphaAt(164, 76).A > 127 != there {
				t.Errorf("%s: alpha %d where it is in the second shot", name, m.AlphaAt(164, 76).A)
			}
		}
	}
}

// Training draws marks likewise.
func TestTraining(t *testing.T) {
	t.Parallel()
	program, err := os.ReadFile("../../../tools/train/marked.py")
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		fmt.Sprintf("\nCLICKED, BOXED = %.1f, %.1f ", subject.Clicked/255., subject.Boxed/255.),
		fmt.Sprintf("\nRADIUS = 1 / %g ", 1/subject.Finger),
	} {
		if !strings.Contains(string(program), want) {
			t.Errorf("marked.py does not say %q", want)
		}
	}
}

func TestGuideFails(t *testing.T) {
	t.Parallel()
	s := scene{still, func(float64) []disc { return []disc{{60, 60, 22}} }}
	c, _ := s.known(t)
	hints := []subject.Hint{click(3, true, 60, 60)}
	failing := func(context.Context, *view.Marked) ([]uint8, error) { return nil, os.ErrInvalid }
	if err := c.Guide(t.Context(), hints, failing); !errors.Is(err, os.ErrInvalid) {
		t.Errorf("a network that fails: %v", err)
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(os.ErrDeadlineExceeded)
	if err := c.Guide(ctx, hints, marked); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("after its context ended: %v", err)
	}
}

func nothingMarked(_ context.Context, v *view.Marked) ([]uint8, error) {
	return make([]uint8, v.W*v.H), nil
}

// A mark holds at its place, whatever the network says of it.
func TestMarksHold(t *testing.T) {
	t.Parallel()
	s := scene{still, func(float64) []disc { return []disc{{60, 60, 22}, {160, 60, 22}} }}
	everything := func(_ context.Context, v *view.Marked) ([]uint8, error) {
		return bytes.Repeat([]uint8{255}, v.W*v.H), nil
	}
	line := func(keep bool, x float64) subject.Hint {
		return subject.Hint{Frame: 12, Keep: keep, Stroke: []subject.Point{{X: x / w, Y: 52. / h}, {X: x / w, Y: 68. / h}}, Radius: 10. / h}
	}
	for name, network := range map[string]subject.Guide{"everything": everything, "nothing": nothingMarked} {
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
