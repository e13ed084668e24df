package subject_test

import (
	"image"
	"testing"

	"github.com/bgremove/bgremove/internal/matte/subject"
	"github.com/bgremove/bgremove/internal/matte/view"
)

// halved is the clip of two scenes, with a cut in the middle. The network sees the disc of the
// first one in every third frame, and that of the second one in none. In the other frames its matte is half there.
func halved(t *testing.T) *subject.Clip {
	t.Helper()
	c := begun(t, false)
	for n := range 2 * frames {
		s := scene{pan, func(t float64) []disc { return []disc{{40 + 3*t, 64, 24}} }}
		if n >= frames {
			s = scene{func(t float64) float64 { return 900 + pan(t) }, func(t float64) []disc { return []disc{{40 + 3*(t-frames), 64, 24}} }}
		}
		img, m := s.frame(n)
		if n >= frames {
			for i := range img.Pix {
				if i%4 < 3 {
					img.Pix[i] = 255 - img.Pix[i]/4
				}
			}
		}
		if n%3 > 0 || n >= frames {
			for i, a := range m.Pix {
				m.Pix[i] = a/255*90 + 30
			}
		}
		if err := looked(t.Context(), c, img, m, view.Features{}); err != nil {
			t.Fatal(err)
		}
	}
	if err := c.Decide(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := c.Choose(t.Context(), subject.Auto, nil); err != nil {
		t.Fatal(err)
	}
	if err := c.Endure(t.Context()); err != nil {
		t.Fatal(err)
	}
	return c
}

// TestSureFramesTell checks that frames of which the matte is sure tell of the others of their shot.
func TestSureFramesTell(t *testing.T) {
	t.Parallel()
	c := halved(t)
	size := image.Pt(w/2, h/2)
	for n := range 2 * frames {
		choice, err := c.Choice(n)
		if err != nil {
			t.Fatal(err)
		}
		coverage, weight := choice.Lasting(size)
		if len(coverage) != size.X*size.Y || len(weight) != size.X*size.Y {
			t.Fatalf("%d and %d pixels of %v", len(coverage), len(weight), size)
		}
		inside, outside := 32*size.X+(40+3*(n%frames))/2, 8*size.X+size.X/2
		sure := weight[inside] > 0.005 && weight[outside] > 0.005
		switch {
		case n < frames && !(sure && coverage[inside] > 0.9 && coverage[outside] < 0.1):
			t.Errorf("frame %d: %.2f by %.3f and %.2f by %.3f, want 1 and 0", n, coverage[inside], weight[inside], coverage[outside], weight[outside])
		case n >= frames && (coverage[inside] < 0.4 || coverage[inside] > 0.6):
			t.Errorf("frame %d has %.2f by %.3f: the shot before told of it", n, coverage[inside], weight[inside])
		}
	}
}

// TestNothingLasts checks that hints and Salient leave a frame to itself.
func TestNothingLasts(t *testing.T) {
	t.Parallel()
	s := scene{still, func(t float64) []disc { return []disc{{60 + t, 64, 20}} }}
	for _, hinted := range []bool{false, true} {
		c, wanted := begun(t, hinted), subject.Auto
		if !hinted {
			wanted = subject.Salient
		}
		img, m := s.frame(0)
		if err := looked(t.Context(), c, img, m, view.Features{}); err != nil {
			t.Fatal(err)
		}
		decided(t, c, 1)
		chosen(t, c, wanted, nil, 0)
		if err := c.Endure(t.Context()); err != nil {
			t.Fatal(err)
		}
		choice, err := c.Choice(0)
		if err != nil {
			t.Fatal(err)
		}
		_, weight := choice.Lasting(image.Pt(30, 20))
		for _, v := range weight {
			if v != 0 {
				t.Fatalf("hinted %t: a pixel has the weight %v", hinted, v)
			}
		}
	}
}
