package motion_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/bgremove/bgremove/internal/matte/motion"
)

const w, h = 427, 240

// moved is the field of a camera, with a deviation of noise pixels. A rectangle with outliers, a
// share of the picture, moves in another way, and so do a hundred single pixels.
func moved(c *motion.Camera, noise, outliers float64) *motion.Field {
	var f motion.Field
	f.Set(w, h)
	r := rand.New(rand.NewPCG(3, 4))
	for i := range f.X {
		x, y := float64(i%w), float64(i/w)
		u, v := c.At(x, y)
		u, v = u-x, v-y
		if x < outliers*w {
			u, v = u+9, v-4+0.02*y
		}
		f.X[i], f.Y[i] = float32(u+noise*r.NormFloat64()), float32(v+noise*r.NormFloat64())
	}
	for range 100 {
		f.X[r.IntN(w*h)] = float32(math.NaN())
		f.Y[r.IntN(w*h)] = float32(math.Inf(1))
	}
	return &f
}

func trust() []float32 { return slices.Repeat([]float32{1}, w*h) }

// apart is by how many pixels two cameras differ at most over the picture.
func apart(a, b *motion.Camera) (most float64) {
	for y := 0.0; y < h; y++ {
		for x := 0.0; x < w; x++ {
			p, q := a.At(x, y)
			u, v := b.At(x, y)
			most = max(most, math.Hypot(p-u, q-v))
		}
	}
	return most
}

var cameras = map[string]motion.Camera{
	"still":       pan(0, 0),
	"slow":        pan(0.15, -0.1),
	"pan":         pan(-22, 5),
	"zoom":        {1.04, 0, -8, 0, 1.04, -5, 0, 0, 1},
	"rotation":    {0.9986, -0.0523, 9, 0.0523, 0.9986, -12, 0, 0, 1},
	"perspective": {1.01, 0.01, 3, -0.02, 0.99, 6, 4e-5, -6e-5, 1},
}

func TestFitCamera(t *testing.T) {
	t.Parallel()
	for name, want := range cameras {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, c := range []struct{ noise, outliers, most float64 }{{0, 0, 0.01}, {0, 0.4, 0.01}, {0.15, 0.4, 0.1}, {0.6, 0.4, 0.3}} {
				got, sigma, ok := motion.FitCamera(moved(&want, c.noise, c.outliers), trust())
				if !ok {
					t.Fatalf("noise %g, outliers %g: no camera", c.noise, c.outliers)
				}
				if d := apart(&got, &want); d > c.most {
					t.Errorf("noise %g, outliers %g: %.3f pixels off, want at most %g", c.noise, c.outliers, d, c.most)
				}
				if sigma < 0.85*c.noise || sigma > 1.15*c.noise+0.001 {
					t.Errorf("noise %g, outliers %g: sigma is %.3f", c.noise, c.outliers, sigma)
				}
			}
		})
	}
}

// TestFitCameraTrust: a majority that is not trusted does not matter.
func TestFitCameraTrust(t *testing.T) {
	t.Parallel()
	want := cameras["perspective"]
	weight := trust()
	for i := range weight {
		if i%w < w*7/10 {
			weight[i] = 0.05
		}
	}
	got, _, ok := motion.FitCamera(moved(&want, 0.1, 0.7), weight)
	if d := apart(&got, &want); !ok || d > 0.3 {
		t.Errorf("%.3f pixels off, %v", d, ok)
	}
}

// TestFitCameraRefuses: what tells no camera gives the one that stands still.
func TestFitCameraRefuses(t *testing.T) {
	t.Parallel()
	still := pan(0, 0)
	chaos := moved(&still, 40, 0)
	corner := trust()
	for i := range corner {
		if i%w > 30 || i/w > 30 {
			corner[i] = 0
		}
	}
	fold := motion.Camera{1, 0, 0, 0, 1, 0, -1.0 / 250, 0, 1}
	for name, c := range map[string]struct {
		field  *motion.Field
		weight []float32
	}{
		"no trust": {moved(&still, 0, 0), make([]float32, w*h)},
		"corner":   {moved(&still, 0.1, 0), corner},
		"chaos":    {chaos, trust()},
		"folded":   {moved(&fold, 0, 0), trust()},
		"empty":    {&motion.Field{}, nil},
		"tiny":     {&motion.Field{W: 2, H: 1, X: make([]float32, 2), Y: make([]float32, 2)}, []float32{1, 1}},
	} {
		if got, sigma, ok := motion.FitCamera(c.field, c.weight); ok || got != motion.Identity() || sigma != 0 {
			t.Errorf("%s: %v, sigma %g, %v", name, got, sigma, ok)
		}
	}
}

func TestResidual(t *testing.T) {
	t.Parallel()
	for name, c := range cameras {
		f := moved(&c, 0, 0.3)
		got := make([]float32, w*h)
		c.Residual(got, f)
		for i, g := range got {
			x, y := i%w, i/w
			u, v := c.At(float64(x), float64(y))
			want := math.Hypot(float64(x)+float64(f.X[i])-u, float64(y)+float64(f.Y[i])-v)
			if math.Abs(float64(g)-want) > 1e-3 {
				t.Fatalf("%s: pixel %d, %d departs by %g, want %g", name, x, y, g, want)
			}
		}
	}
}

// TestFlowThenCamera: a real flow gives the camera that made it.
func TestFlowThenCamera(t *testing.T) {
	t.Parallel()
	for name, want := range cameras {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newScene(w, h, want)
			s.x, s.y, s.r, s.dx, s.dy, s.noise = 200, 120, 80, 4, -3, 2
			a, b := s.frames()
			got, sigma, ok := motion.FitCamera(flow(&a, &b), trust())
			if d := apart(&got, &want); !ok || d > 0.5 || sigma > 0.2 {
				t.Errorf("%.3f pixels off, sigma %.3f, %v", d, sigma, ok)
			}
		})
	}
}

func BenchmarkFitCamera(b *testing.B) {
	c := cameras["perspective"]
	f, weight := moved(&c, 0.2, 0.4), trust()
	b.ReportAllocs()
	for b.Loop() {
		motion.FitCamera(f, weight)
	}
}

func BenchmarkResidual(b *testing.B) {
	c := cameras["perspective"]
	f, dst := moved(&c, 0.2, 0.4), make([]float32, w*h)
	b.ReportAllocs()
	for b.Loop() {
		c.Residual(dst, f)
	}
}
