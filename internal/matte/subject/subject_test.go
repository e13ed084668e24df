package subject_test

import (
	"context"
	"errors"
	"image"
	"image/color"
	"math"
	"os"
	"testing"

	"github.com/bgremove/bgremove/internal/matte/subject"
	"github.com/bgremove/bgremove/internal/matte/view"
)

const w, h, frames = 224, 128, 24

// texture is the brightness of an endless patterned surface.
func texture(x, y float64) float64 {
	return 110 + 40*math.Sin(x/5+math.Sin(y/7)) + 35*math.Cos(y/4+math.Sin(x/9)) + 20*math.Sin((x+2*y)/3)
}

// scene is a clip: the camera's place, and discs that look like a subject, by frame.
type scene struct {
	camera func(t float64) float64
	discs  func(t float64) []disc
}

// disc is a part of the matte at a place on the screen. Its texture moves with it.
type disc struct{ x, y, radius float64 }

func (s scene) frame(n int) (*image.NRGBA, *image.Alpha) {
	r := image.Rect(0, 0, w, h)
	img, m := image.NewNRGBA(r), image.NewAlpha(r)
	t := float64(n)
	for y := range h {
		for x := range w {
			v := texture(float64(x)+s.camera(t), float64(y))
			for i, d := range s.discs(t) {
				if math.Hypot(float64(x)-d.x, float64(y)-d.y) < d.radius {
					v = texture(1.7*(float64(x)-d.x)+500*float64(i+1), 1.7*(float64(y)-d.y))
					m.Pix[y*w+x] = 255
				}
			}
			g := uint8(min(max(v, 0), 255))
			img.SetNRGBA(x, y, color.NRGBA{g, g, g, 255})
		}
	}
	return img, m
}

// kept is which discs of each frame stay, as shares of their middle.
func (s scene) kept(t *testing.T, wanted subject.Wanted) (shares [][]float64) {
	t.Helper()
	c, err := subject.New(subject.Options{Wanted: wanted, TempDir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	for n := range frames {
		if err := c.Add(s.frame(n)); err != nil {
			t.Fatal(err)
		}
	}
	if err := c.Decide(t.Context()); err != nil {
		t.Fatal(err)
	}
	for n := range frames {
		_, m := s.frame(n)
		known, err := c.Frame(n)
		if err != nil {
			t.Fatal(err)
		}
		known.Strip(m)
		var of []float64
		for _, d := range s.discs(float64(n)) {
			of = append(of, float64(m.AlphaAt(int(d.x), int(d.y)).A)/255)
		}
		shares = append(shares, of)
	}
	if err := c.Close(); err != nil {
		t.Error(err)
	}
	return shares
}

func still(float64) float64 { return 0 }

// Of two discs in each mattes the first moves and the other is part of the backdrop, or
// both are still.
func TestClip(t *testing.T) {
	t.Parallel()
	pan := func(t float64) float64 { return 2.5 * t }
	walk := func(t float64) []disc { return []disc{{30 + 6*t, 50, 22}, {180, 90, 22}} }
	followed := func(t float64) []disc { return []disc{{80, 50, 22}, {200 - 2.5*t, 95, 22}} }
	pausing := func(t float64) []disc { return []disc{{40 + 6*min(t, 12), 50, 22}, {180, 90, 22}} }
	resting := func(t float64) []disc { return []disc{{80 + 0.3*math.Sin(t), 50, 22}, {180, 90, 22}} }
	for name, c := range map[string]struct {
		scene  scene
		wanted subject.Wanted
		second bool // whether the second disc stays
	}{
		"walks past":                 {scene{still, walk}, subject.Auto, false},
		"walks past, all wanted":     {scene{still, walk}, subject.Salient, true},
		"the camera follows":         {scene{pan, followed}, subject.Auto, false},
		"pauses":                     {scene{still, pausing}, subject.Auto, true},
		"all rest":                   {scene{still, resting}, subject.Auto, true},
		"pauses, what moves, wanted": {scene{still, pausing}, subject.Moving, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for n, shares := range c.scene.kept(t, c.wanted) {
				if shares[0] < 0.95 {
					t.Errorf("frame %d: %.2f of the first disc", n, shares[0])
				}
				if got := shares[1] > 0.5; got != c.second {
					t.Errorf("frame %d: %.2f of the second disc", n, shares[1])
				}
			}
		})
	}
}

// Each shot is judged by itself: nothing is dropped in a shot without motion after one
// with it.
func TestShots(t *testing.T) {
	t.Parallel()
	c, err := subject.New(subject.Options{Views: true, TempDir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	lively := scene{still, func(t float64) []disc { return []disc{{30 + 6*t, 50, 22}, {180, 90, 22}} }}
	quiet := scene{still, func(float64) []disc { return []disc{{100, 60, 30}} }}
	for n := range 2 * frames {
		img, m := lively.frame(n)
		if n >= frames {
			img, m = quiet.frame(n)
			for i := range img.Pix {
				if i%4 != 3 {
					img.Pix[i] = 255 - img.Pix[i]/3
				}
			}
		}
		if err := c.Add(img, m); err != nil {
			t.Fatal(err)
		}
	}
	if err := c.Decide(t.Context()); err != nil {
		t.Fatal(err)
	}
	for n := range 2 * frames {
		known, err := c.Frame(n)
		if err != nil {
			t.Fatal(err)
		}
		m := image.NewAlpha(image.Rect(0, 0, w, h))
		for i := range m.Pix {
			m.Pix[i] = 255
		}
		known.Strip(m)
		if a := m.AlphaAt(100, 60).A; n >= frames && a != 255 {
			t.Errorf("frame %d of the quiet shot has alpha %d", n, a)
		}
		if a := m.AlphaAt(180, 90).A; n < frames && a != 0 {
			t.Errorf("frame %d: the still disc has alpha %d", n, a)
		}
	}
}

// The planes of motion tell the moving disc from the backdrop, in views of any size.
func TestShow(t *testing.T) {
	t.Parallel()
	s := scene{still, func(t float64) []disc { return []disc{{30 + 6*t, 50, 22}} }}
	c, err := subject.New(subject.Options{Views: true, TempDir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	for n := range frames {
		if err := c.Add(s.frame(n)); err != nil {
			t.Fatal(err)
		}
	}
	if err := c.Decide(t.Context()); err != nil {
		t.Fatal(err)
	}
	known, err := c.Frame(10)
	if err != nil {
		t.Fatal(err)
	}
	for _, scale := range []float64{0.5, 1, 1.25} {
		v := view.New(int(w*scale), int(h*scale))
		known.Show(&v)
		at := func(p view.Plane, x, y float64) uint8 { return v.Plane(p)[int(y*scale)*v.W+int(x*scale)] }
		if moving, backdrop := at(view.TrackMotion, 90, 50), at(view.TrackMotion, 30, 100); moving < 200 || backdrop > 40 {
			t.Errorf("at %g: motion %d of the disc, %d of the backdrop", scale, moving, backdrop)
		}
		if at(view.TrackFrames, 30, 100) < 60 || at(view.Trust, 30, 100) < 200 || at(view.SubjectMotion, 0, 0) < 200 {
			t.Errorf("at %g: frames %d, trust %d, subject %d", scale, at(view.TrackFrames, 30, 100), at(view.Trust, 30, 100), at(view.SubjectMotion, 0, 0))
		}
	}
}

// Sizes of any kind are measured, and a clip that ends is told so.
func TestTiny(t *testing.T) {
	t.Parallel()
	for _, size := range []image.Point{{1, 1}, {3, 200}, {9, 9}, {200, 2}} {
		c, err := subject.New(subject.Options{Views: true, TempDir: t.TempDir()})
		if err != nil {
			t.Fatal(err)
		}
		for range 8 {
			r := image.Rectangle{Max: size}
			if err := c.Add(image.NewNRGBA(r), image.NewAlpha(r)); err != nil {
				t.Fatal(err)
			}
		}
		if err := c.Decide(t.Context()); err != nil {
			t.Errorf("%v: %v", size, err)
		}
		known, err := c.Frame(7)
		if err != nil {
			t.Errorf("%v: %v", size, err)
		}
		known.Strip(image.NewAlpha(image.Rect(0, 0, 5, 7)))
		v := view.New(5, 7)
		known.Show(&v)
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	}
}

func TestStopped(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	c, err := subject.New(subject.Options{TempDir: dir})
	if err != nil {
		t.Fatal(err)
	}
	r := image.Rect(0, 0, 16, 16)
	if err := c.Add(image.NewNRGBA(r), image.NewAlpha(r)); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(os.ErrDeadlineExceeded)
	if err := c.Decide(ctx); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("after its context ended: %v", err)
	}
	if err := c.Close(); err != nil {
		t.Error(err)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

func BenchmarkAdd(b *testing.B) {
	s := scene{still, func(t float64) []disc { return []disc{{30 + 6*t, 50, 22}, {180, 90, 22}} }}
	c, err := subject.New(subject.Options{TempDir: b.TempDir()})
	if err != nil {
		b.Fatal(err)
	}
	defer c.Close()
	type shot struct {
		img *image.NRGBA
		m   *image.Alpha
	}
	var shots []shot
	for n := range frames {
		img, m := s.frame(n)
		shots = append(shots, shot{img, m})
	}
	b.ReportAllocs()
	n := 0
	for b.Loop() {
		if err := c.Add(shots[n%frames].img, shots[n%frames].m); err != nil {
			b.Fatal(err)
		}
		n++
	}
}
