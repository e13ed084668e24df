package subject_test

import (
	"context"
	"errors"
	"image"
	"image/draw"
	"math/rand/v2"
	"os"
	"slices"
	"sync"
	"testing"

	"github.com/bgremove/bgremove/internal/matte/subject"
	"github.com/bgremove/bgremove/internal/matte/view"
)

// spots are features that tell where the left edge of a frame's first disc lies.
func (s scene) spots(n int) view.Features {
	f := view.Features{W: w / 8, H: h / 8}
	f.Pix = make([]uint8, view.FeatureCount*f.W*f.H)
	d := s.discs(float64(n))[0]
	for i := range f.W * f.H {
		if x := float64(i%f.W)*8 + 4; x > d.x-d.radius {
			f.Pix[i] = 200
		}
	}
	return f
}

// The matte and the features of a frame move on with the picture for three frames, then the network is due.
func TestCarry(t *testing.T) {
	t.Parallel()
	for name, s := range map[string]scene{
		"still camera":      {still, func(t float64) []disc { return []disc{{70 + 2*t, 60, 26}} }},
		"panning camera":    {func(t float64) float64 { return 2 * t }, func(float64) []disc { return []disc{{100, 60, 26}} }},
		"at the lower edge": {still, func(t float64) []disc { return []disc{{100, 110 - 2*t, 40}} }},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := begun(t, false)
			for n := range 9 {
				img, truth := s.frame(n)
				step := stepped(t, c, img, false)
				if due := n%4 == 0; step.Due != due {
					t.Fatalf("frame %d: due is %v", n, step.Due)
				}
				m, seen := truth, s.spots(n)
				if !step.Due {
					m, seen = c.Carry(step)
				}
				if iou := overlap(m, truth); iou < 0.9 {
					t.Errorf("frame %d: IoU %.3f", n, iou)
				}
				if d := difference(seen.Pix, s.spots(n).Pix); d > 6 {
					t.Errorf("frame %d: features differ by %.1f", n, d)
				}
				if a := m.AlphaAt(100, h-1).A; name == "at the lower edge" && a < 250 {
					t.Errorf("frame %d: alpha %d where the disc comes into the picture", n, a)
				}
				if err := c.Add(step, m, seen); err != nil {
					t.Fatal(err)
				}
			}
		})
	}
}

// stepped is a clip's next step.
func stepped(t *testing.T, c *subject.Clip, img *image.NRGBA, due bool) *subject.Step {
	t.Helper()
	step, err := c.Step(t.Context(), img, due)
	if err != nil {
		t.Fatal(err)
	}
	return step
}

// overlap is the IoU of two mattes.
func overlap(a, b *image.Alpha) float64 {
	var both, either int
	for i, v := range a.Pix {
		both += int(min(v, b.Pix[i]))
		either += int(max(v, b.Pix[i]))
	}
	return float64(both) / float64(either)
}

// difference is the mean difference of the first plane's bytes.
func difference(a, b []uint8) float64 {
	n, sum := len(a)/view.FeatureCount, 0
	for i := range n {
		sum += max(int(a[i])-int(b[i]), int(b[i])-int(a[i]))
	}
	return float64(sum) / float64(n)
}

// The network is due at the start, after a cut, and where pictures have nothing in common. It is also due
// where little is lost but that is much of the subject, and where the caller says so.
func TestDue(t *testing.T) {
	t.Parallel()
	s := scene{still, func(float64) []disc { return []disc{{100, 60, 12}} }}
	large := scene{still, func(float64) []disc { return []disc{{100, 60, 50}} }}
	usual, m := s.frame(0)
	_, wide := large.frame(0)
	seen := s.spots(0)
	noise := rand.New(rand.NewPCG(1, 2))
	noisy := func(part image.Rectangle) *image.NRGBA {
		img := image.NewNRGBA(usual.Rect)
		draw.Draw(img, img.Rect, usual, image.Point{}, draw.Src)
		for y := part.Min.Y; y < part.Max.Y; y++ {
			for x := part.Min.X; x < part.Max.X; x++ {
				g := uint8(noise.IntN(256))
				copy(img.Pix[img.PixOffset(x, y):], []uint8{g, g, g, 255})
			}
		}
		return img
	}
	for name, c := range map[string]struct {
		next *image.NRGBA
		m    *image.Alpha
		told bool
		due  bool
	}{
		"the same":                      {usual, m, false, false},
		"the same, but told":            {usual, m, true, true},
		"another picture":               {noisy(usual.Rect), m, false, true},
		"noise about the disc":          {noisy(image.Rect(80, 40, 120, 80)), m, false, true},
		"noise on a few pixels":         {noisy(image.Rect(10, 10, 18, 18)), m, false, false},
		"noise on a part of the matte":  {noisy(image.Rect(96, 32, 128, 64)), wide, false, true},
		"noise as large, but elsewhere": {noisy(image.Rect(160, 32, 192, 64)), wide, false, false},
		"a cut to a darker clip":        {image.NewNRGBA(usual.Rect), m, false, true},
	} {
		clip := begun(t, false)
		first := stepped(t, clip, usual, false)
		if !first.Due {
			t.Error("the first frame is not due")
		}
		if err := clip.Add(first, c.m, seen); err != nil {
			t.Fatal(err)
		}
		if step := stepped(t, clip, c.next, c.told); step.Due != c.due {
			t.Errorf("%s: due is %v", name, step.Due)
		}
	}
}

// Steps may go ahead of the mattes, by eight frames at most. At which frames the network is due does not change
// by that.
func TestStepsGoAhead(t *testing.T) {
	t.Parallel()
	s := scene{still, func(t float64) []disc { return []disc{{20 + 9*t, 60, 22}} }}
	var want []bool
	for _, ahead := range []int{1, 4, 8} {
		c := begun(t, false)
		var steps []*subject.Step
		var due []bool
		added := 0
		for n := range frames {
			for added <= n-ahead || added == 0 && n > 0 {
				_, m := s.frame(added)
				if err := c.Add(steps[added], m, s.spots(added)); err != nil {
					t.Fatal(err)
				}
				added++
			}
			img, _ := s.frame(n)
			step := stepped(t, c, img, false)
			steps, due = append(steps, step), append(due, step.Due)
		}
		if want == nil {
			want = due
		}
		if !slices.Equal(due, want) {
			t.Errorf("%d frames ahead the network is due at %v, and else at %v", ahead, due, want)
		}
	}
	if !slices.Contains(want[1:], true) || !slices.Contains(want, false) {
		t.Errorf("the network is due at %v", want)
	}
}

// Any number of cuts may follow each other.
func TestManyCuts(t *testing.T) {
	t.Parallel()
	c := begun(t, false)
	s := scene{still, func(float64) []disc { return []disc{{60, 60, 22}} }}
	light, m := s.frame(0)
	dark := image.NewNRGBA(light.Rect)
	var steps []*subject.Step
	for n := range 30 {
		if n >= 8 { // as far as steps may go ahead
			if err := c.Add(steps[n-8], m, s.spots(0)); err != nil {
				t.Fatal(err)
			}
		}
		step := stepped(t, c, []*image.NRGBA{light, dark}[n%2], false)
		if !step.Due {
			t.Errorf("after cut %d the network is not due", n)
		}
		steps = append(steps, step)
	}
	for _, step := range steps[22:] {
		if err := c.Add(step, m, s.spots(0)); err != nil {
			t.Fatal(err)
		}
	}
	decided(t, c, 30)
}

// A step that waits for a matte ends with its context.
func TestStepWaits(t *testing.T) {
	t.Parallel()
	c := begun(t, false)
	img, _ := scene{still, func(float64) []disc { return nil }}.frame(0)
	stepped(t, c, img, false)
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(os.ErrDeadlineExceeded)
	if _, err := c.Step(ctx, img, false); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("a step before any matte: %v", err)
	}
}

// carried is the clip of a scene, decided, and at how many frames the network had to look.
func (s scene) carried(t *testing.T) (c *subject.Clip, due int) {
	t.Helper()
	c = begun(t, true)
	for n := range frames {
		img, m := s.frame(n)
		step := stepped(t, c, img, false)
		if step.Due {
			due++
		}
		if err := c.Add(step, m, s.spots(n)); err != nil {
			t.Fatal(err)
		}
	}
	decided(t, c, frames)
	return c, due
}

// The chooser is asked about the frames at which the network had to look. Its choice moves on with the
// picture.
func TestChoiceIsCarried(t *testing.T) {
	t.Parallel()
	s := scene{still, func(t float64) []disc { return []disc{{60 + 2*t, 40, 22}, {180 - 2*t, 95, 22}} }}
	c, due := s.carried(t)
	var mu sync.Mutex
	asked := 0
	err := c.Choose(t.Context(), subject.Auto, func(_ context.Context, v *view.Cells) ([]uint8, error) {
		mu.Lock()
		defer mu.Unlock()
		asked++
		chosen := slices.Clone(v.Plane(view.CellCoverage))
		clear(chosen[v.H/2*v.W:]) // the second disc
		return chosen, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if asked != due || due > frames/3 {
		t.Errorf("of %d frames %d are due; the chooser was asked about %d", frames, due, asked)
	}
	for i := range frames {
		m := s.cutOut(t, c, i)
		if kept, rest := m.AlphaAt(60+2*i, 40).A, m.AlphaAt(180-2*i, 95).A; kept < 200 || rest > 20 {
			t.Errorf("frame %d: alpha %d of what was chosen, %d of the rest", i, kept, rest)
		}
	}
}

// Frames at which the network did not have to look are not shown to the guide either, but that with the
// hint. The thing that was clicked on is carried through them, in both directions.
func TestGuideIsCarried(t *testing.T) {
	t.Parallel()
	s := scene{still, func(t float64) []disc { return []disc{{60 + 2*t, 50, 22}, {180, 95, 22}} }}
	c, due := s.carried(t)
	var network seen
	if err := c.Guide(t.Context(), []subject.Hint{click(11, true, 82, 50)}, network.guide); err != nil {
		t.Fatal(err)
	}
	if n := len(network.pictures); due > frames/3 || n < due || n > due+1 {
		t.Errorf("of %d frames %d are due; the guide was shown %d", frames, due, n)
	}
	for i := range frames {
		m := s.cutOut(t, c, i)
		if kept, rest := m.AlphaAt(60+2*i, 50).A, m.AlphaAt(180, 95).A; kept < 200 || rest > 20 {
			t.Errorf("frame %d: alpha %d of what was clicked on, %d of the rest", i, kept, rest)
		}
	}
}
