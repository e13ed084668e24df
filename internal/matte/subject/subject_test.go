package subject_test

import (
	"context"
	"errors"
	"image"
	"image/color"
	"image/draw"
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

// known is what a clip tells of each frame of a scene.
func (s scene) known(t *testing.T) (c *subject.Clip, cells []view.Cells) {
	t.Helper()
	c = s.clip(t, 1)
	return c, decided(t, c, frames)
}

// begun is a clip without frames.
func begun(t *testing.T, hinted bool) *subject.Clip {
	t.Helper()
	c, err := subject.New(t.TempDir(), hinted)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	})
	return c
}

// looked adds a frame at which the network looked.
func looked(ctx context.Context, c *subject.Clip, img *image.NRGBA, m *image.Alpha, seen view.Features) error {
	step, err := c.Step(ctx, img, true)
	if err != nil {
		return err
	}
	return c.Add(step, m, seen)
}

// clip is the clip of a scene. Its mattes have what lies right of the middle in every so many
// frames.
func (s scene) clip(t *testing.T, every int) *subject.Clip {
	t.Helper()
	c := begun(t, true)
	for n := range frames {
		img, m := s.frame(n)
		if n%every > 0 {
			draw.Draw(m, image.Rect(w/2, 0, w, h), image.Transparent, image.Point{}, draw.Src)
		}
		if err := looked(t.Context(), c, img, m, view.Features{}); err != nil {
			t.Fatal(err)
		}
	}
	return c
}

// decided is what a clip of n frames tells of each.
func decided(t *testing.T, c *subject.Clip, n int) (cells []view.Cells) {
	t.Helper()
	if err := c.Decide(t.Context()); err != nil {
		t.Fatal(err)
	}
	for i := range n {
		v, err := c.Frame(i)
		if err != nil {
			t.Fatal(err)
		}
		cells = append(cells, v)
	}
	return cells
}

// at is a plane at a pixel of the picture.
func at(v *view.Cells, p view.CellPlane, x, y float64) uint8 {
	return v.Plane(p)[int(y)/4*v.W+int(x)/4]
}

func still(float64) float64 { return 0 }

// However long a clip is, what is gathered of a place is of the frames around the present
// one: in the middle of 200 as many count as in the middle of 100.
func TestLongClipsFade(t *testing.T) {
	t.Parallel()
	var counted [2]uint8
	for i, n := range []int{100, 200} {
		c := begun(t, false)
		img, m := scene{still, func(float64) []disc { return []disc{{80, 50, 22}} }}.frame(0)
		for range n {
			if err := looked(t.Context(), c, img, m, view.Features{}); err != nil {
				t.Fatal(err)
			}
		}
		counted[i] = at(&decided(t, c, n)[n/2], view.TrackFrames, 180, 90)
	}
	if d := int(counted[1]) - int(counted[0]); d > 6 {
		t.Errorf("TrackFrames is %d of 100 frames and %d of 200", counted[0], counted[1])
	}
}

// Of two discs in each matte the first moves, and the second does what is said of it.
// The mean motion along the track tells both in every frame, and its direction what the
// camera follows from what stands nearer than the backdrop.
func TestTracks(t *testing.T) {
	t.Parallel()
	pan := func(t float64) float64 { return 2.5 * t }
	walk := func(t float64) []disc { return []disc{{30 + 6*t, 50, 22}, {180, 90, 22}} }
	followed := func(t float64) []disc { return []disc{{80, 50, 22}, {200 - 2.5*t, 95, 22}} }
	nearer := func(t float64) []disc { return []disc{{80, 40, 22}, {220 - 5*t, 95, 22}} }
	pausing := func(t float64) []disc { return []disc{{40 + 6*min(t, 12), 50, 22}, {180, 90, 22}} }
	resting := func(t float64) []disc { return []disc{{80 + 0.3*math.Sin(t), 50, 22}, {180, 90, 22}} }
	type bounds struct{ min, max uint8 }
	lively, low, free := bounds{150, 255}, bounds{0, 40}, bounds{0, 255}
	for name, c := range map[string]struct {
		scene         scene
		first, second bounds
		along         bounds // of the first disc
		alongSecond   bounds
	}{
		"walks past":         {scene{still, walk}, lively, low, free, free},
		"the camera follows": {scene{pan, followed}, lively, low, bounds{0, 60}, free},
		"nearer":             {scene{pan, nearer}, lively, lively, bounds{0, 60}, bounds{190, 255}},
		"pauses":             {scene{still, pausing}, bounds{60, 200}, low, free, free},
		"all rest":           {scene{still, resting}, bounds{0, 150}, low, free, free},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, cells := c.scene.known(t)
			for n, v := range cells {
				discs := c.scene.discs(float64(n))
				for i, b := range []bounds{c.first, c.second} {
					d := discs[i]
					if d.x > w-d.radius || d.x < d.radius {
						continue // leaves the picture
					}
					if got := at(&v, view.TrackMotion, d.x, d.y); got < b.min || got > b.max {
						t.Errorf("frame %d: motion %d of disc %d, want %v", n, got, i, b)
					}
					want := []bounds{c.along, c.alongSecond}[i]
					if got := at(&v, view.TrackAlong, d.x, d.y); got < want.min || got > want.max {
						t.Errorf("frame %d: %d along the camera's way of disc %d, want %v", n, got, i, want)
					}
				}
			}
		})
	}
}

// A part that the matte misses in every second frame has half of the coverage along its
// track in all.
func TestCoverage(t *testing.T) {
	t.Parallel()
	c := begun(t, true)
	s := scene{still, func(t float64) []disc { return []disc{{40 + 4*t, 60, 22}} }}
	for n := range frames {
		img, m := s.frame(n)
		if n%2 == 1 {
			clear(m.Pix)
		}
		if err := looked(t.Context(), c, img, m, view.Features{}); err != nil {
			t.Fatal(err)
		}
	}
	for n, v := range decided(t, c, frames) {
		if got := at(&v, view.TrackCoverage, 40+4*float64(n), 60); got < 90 || got > 165 {
			t.Errorf("frame %d: coverage %d along the track", n, got)
		}
		if got, want := at(&v, view.CellCoverage, 40+4*float64(n), 60), uint8(255*(1-n%2)); got != want {
			t.Errorf("frame %d: coverage %d, want %d", n, got, want)
		}
	}
}

// Each shot is judged by itself.
func TestShots(t *testing.T) {
	t.Parallel()
	c := begun(t, true)
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
		if err := looked(t.Context(), c, img, m, view.Features{}); err != nil {
			t.Fatal(err)
		}
	}
	for n, v := range decided(t, c, 2*frames) {
		subject, share := v.Plane(view.ShotSubject)[0], v.Plane(view.ShotLively)[0]
		if moves := n < frames; moves != (subject > 150) || moves != (share > 150) {
			t.Errorf("frame %d: motion %d of the subject, lively %d", n, subject, share)
		}
	}
}

// Sizes of any kind are measured, and a clip that ends is told so.
func TestTiny(t *testing.T) {
	t.Parallel()
	for _, size := range []image.Point{{1, 1}, {3, 200}, {9, 9}, {200, 2}} {
		c, err := subject.New(t.TempDir(), true)
		if err != nil {
			t.Fatal(err)
		}
		for range 8 {
			r := image.Rectangle{Max: size}
			if err := looked(t.Context(), c, image.NewNRGBA(r), image.NewAlpha(r), view.Features{}); err != nil {
				t.Fatal(err)
			}
		}
		if err := c.Decide(t.Context()); err != nil {
			t.Errorf("%v: %v", size, err)
		}
		choice := chosen(t, c, subject.Moving, nothing, 7)
		for _, m := range []*image.Alpha{image.NewAlpha(image.Rect(0, 0, 5, 7)), image.NewAlpha(image.Rect(0, 0, 1, 1))} {
			choice.Apply(m)
			choice.Strip(m)
		}
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	}
}

func TestStopped(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	c, err := subject.New(dir, true)
	if err != nil {
		t.Fatal(err)
	}
	r := image.Rect(0, 0, 16, 16)
	if err := looked(t.Context(), c, image.NewNRGBA(r), image.NewAlpha(r), view.Features{}); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(os.ErrDeadlineExceeded)
	if err := c.Decide(ctx); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("decided after its context ended: %v", err)
	}
	if err := errors.Join(c.Decide(t.Context()), c.Choose(ctx, subject.Auto, nothing)); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("chosen after its context ended: %v", err)
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
	c, err := subject.New(b.TempDir(), true)
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
		if err := looked(b.Context(), c, shots[n%frames].img, shots[n%frames].m, view.Features{}); err != nil {
			b.Fatal(err)
		}
		n++
	}
}

// The table of logarithms gives what the function does, but for a step's last digits.
func TestLogarithm(t *testing.T) {
	t.Parallel()
	for v := float32(0); v < 1e6; v = max(v*1.0003, v+0.001) {
		exact := min(16*math.Log2(1+float64(v)), 255)
		if got := float64(subject.Logarithm(v)); math.Abs(got-exact) > 0.5001 {
			t.Fatalf("%v of %v frames, want %v", got, v, exact)
		}
	}
	if got := subject.Logarithm(float32(math.Inf(1))); got != 255 {
		t.Errorf("%d of endlessly many", got)
	}
}

func BenchmarkLogarithm(b *testing.B) {
	v := float32(0)
	for b.Loop() {
		subject.Logarithm(v)
		if v += 0.37; v > 300 {
			v = 0
		}
	}
}
