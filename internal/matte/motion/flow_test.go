package motion_test

import (
	"fmt"
	"image"
	"math"
	"slices"
	"testing"

	"github.com/bgremove/bgremove/internal/matte/motion"
)

// TestFlow: the mean error stays below a bound on the backdrop and on the disc, both away from
// its edge, and near to that.
func TestFlow(t *testing.T) {
	t.Parallel()
	turn := motion.Camera{0.999, -0.02, 4, 0.02, 1.002, -1, 1e-5, -2e-5, 1}
	for _, c := range []struct {
		w, h               int
		camera             motion.Camera
		dx, dy, noise      float64
		backdrop, on, near float64 // pixels
	}{
		{427, 240, pan(0, 0), 0, 0, 0, 0.01, 0.01, 0.01},
		{427, 240, pan(0.2, -0.1), 0.5, 0.3, 0, 0.08, 0.12, 0.25},
		{427, 240, pan(0, 0), 3, -2, 0, 0.03, 0.05, 1},
		{427, 240, pan(-6.5, 2), 4, 5, 0, 0.15, 0.15, 3.5},
		{427, 240, turn, -5, 3, 0, 0.1, 0.1, 2},
		{427, 240, turn, -5, 3, 4, 0.25, 0.3, 2},
		{427, 240, pan(25, 5), 14, 0, 0, 0.3, 0.3, 5},
		{96, 64, pan(1, 0), -2, 1, 0, 0.05, 0.1, 0.6},
		{96, 64, pan(5, 2), 0, 1, 4, 0.3, 0.3, 2},
		{33, 57, pan(1.5, -0.5), 0, 0, 0, 0.1, 0.1, 0.6},
	} {
		t.Run(fmt.Sprintf("%dx%d/%.0f,%.0f/%.0f,%.0f/noise%.0f", c.w, c.h, c.camera[2], c.camera[5], c.dx, c.dy, c.noise), func(t *testing.T) {
			t.Parallel()
			s := newScene(c.w, c.h, c.camera)
			s.x, s.y, s.r = 0.45*float64(c.w), 0.55*float64(c.h), 0.25*float64(min(c.w, c.h))
			s.dx, s.dy, s.noise = c.dx, c.dy, c.noise
			a, b := s.frames()
			backdrop, on, near := s.errors(flow(&a, &b))
			t.Logf("backdrop %.3f, disc %.3f, near its edge %.3f pixels", backdrop, on, near)
			if backdrop > c.backdrop || on > c.on || near > c.near {
				t.Errorf("want at most %g, %g, %g", c.backdrop, c.on, c.near)
			}
		})
	}
}

// errors are the mean lengths of what f misses the truth by.
func (s *scene) errors(f *motion.Field) (backdrop, on, near float64) {
	var sum [3]float64
	var count [3]float64
	for i := range f.X {
		u, v, disc, edge, inside := s.truth(i%s.w, i/s.w)
		kind := 0
		if !inside {
			continue
		}
		if disc {
			kind = 1
		}
		if edge < 5 {
			kind = 2
		}
		sum[kind] += math.Hypot(float64(f.X[i])-u, float64(f.Y[i])-v)
		count[kind]++
	}
	return sum[0] / max(count[0], 1), sum[1] / max(count[1], 1), sum[2] / max(count[2], 1)
}

// TestFlat: of pictures without anything to see no motion is told, in whatever light.
func TestFlat(t *testing.T) {
	t.Parallel()
	for _, light := range [][2]uint8{{0, 0}, {128, 128}, {255, 255}, {100, 140}} {
		a, b := flat(70, 50, light[0]), flat(70, 50, light[1])
		f := flow(&a, &b)
		for i := range f.X {
			if math.Abs(float64(f.X[i]))+math.Abs(float64(f.Y[i])) > 1e-6 {
				t.Fatalf("light %v: pixel %d moves by %g, %g", light, i, f.X[i], f.Y[i])
			}
		}
	}
}

func flat(w, h int, v uint8) motion.Luma {
	return motion.Luma{W: w, H: h, Pix: slices.Repeat([]uint8{v}, w*h)}
}

// TestSizes: any size works, and gives numbers.
func TestSizes(t *testing.T) {
	t.Parallel()
	sides := []int{1, 2, 3, 7, 8, 9, 15, 16, 17, 18, 31, 33, 64, 129, 257}
	for _, w := range sides {
		t.Run(fmt.Sprint(w), func(t *testing.T) {
			t.Parallel()
			var pa, pb motion.Pyramid
			var f motion.Flow
			var field motion.Field
			for _, h := range sides {
				a, b := newScene(w, h, pan(1.5, 9)).frames()
				pa.Set(&a)
				pb.Set(&b)
				f.Between(&field, &pa, &pb)
				if field.W != w || field.H != h || len(field.X) != w*h || len(field.Y) != w*h {
					t.Fatalf("%d×%d: field of %d×%d", w, h, field.W, field.H)
				}
				for i := range field.X {
					if d := math.Hypot(float64(field.X[i]), float64(field.Y[i])); !(d < float64(2*max(w, h, 16))) {
						t.Fatalf("%d×%d: pixel %d moves by %g, %g", w, h, i, field.X[i], field.Y[i])
					}
				}
			}
		})
	}
}

func TestEmpty(t *testing.T) {
	t.Parallel()
	var p motion.Pyramid
	p.Set(&motion.Luma{})
	var f motion.Flow
	var field motion.Field
	f.Between(&field, &p, &p)
	if len(field.X) != 0 {
		t.Errorf("%d pixels", len(field.X))
	}
}

// TestSame: a flow does not depend on what was estimated before.
func TestSame(t *testing.T) {
	t.Parallel()
	a, b := newScene(200, 120, pan(3, 1)).frames()
	want := flow(&a, &b)
	var pa, pb, small motion.Pyramid
	var f motion.Flow
	var field motion.Field
	c, d := newScene(61, 300, pan(-9, 4)).frames()
	pa.Set(&c)
	small.Set(&d)
	f.Between(&field, &pa, &small)
	pa.Set(&a)
	pb.Set(&b)
	f.Between(&field, &pb, &pa)
	f.Between(&field, &pa, &pb)
	if !slices.Equal(field.X, want.X) || !slices.Equal(field.Y, want.Y) {
		t.Error("another flow the second time")
	}
}

// TestNoAllocations: once it has its memory, a flow takes no more. It is not parallel, as
// all count.
func TestNoAllocations(t *testing.T) {
	for _, size := range [][2]int{{427, 240}, {96, 64}, {400, 401}, {31, 30}} {
		a, b := newScene(size[0], size[1], pan(3, 1)).frames()
		var pa, pb motion.Pyramid
		var f motion.Flow
		var field motion.Field
		pa.Set(&a)
		pb.Set(&b)
		f.Between(&field, &pa, &pb)
		if n := testing.AllocsPerRun(2, func() { pa.Set(&a); f.Between(&field, &pb, &pa) }); n != 0 {
			t.Errorf("%v: %g allocations", size, n)
		}
	}
}

func TestLuma(t *testing.T) {
	t.Parallel()
	all := image.NewNRGBA(image.Rect(0, 0, 5, 3))
	for i := range all.Pix {
		all.Pix[i] = uint8(17 * i)
	}
	copy(all.Pix[all.PixOffset(2, 1):], []uint8{255, 255, 255, 0, 255, 0, 0, 9})
	copy(all.Pix[all.PixOffset(2, 2):], []uint8{0, 255, 0, 255, 0, 0, 255, 255})
	var l motion.Luma
	l.Set(all.SubImage(image.Rect(2, 1, 4, 3)).(*image.NRGBA))
	if want := []uint8{255, 77, 149, 29}; l.W != 2 || l.H != 2 || !slices.Equal(l.Pix, want) {
		t.Errorf("%d×%d %v, want %v", l.W, l.H, l.Pix, want)
	}
}

func BenchmarkBetween(b *testing.B) {
	for _, size := range [][2]int{{96, 64}, {427, 240}} {
		b.Run(fmt.Sprintf("%dx%d", size[0], size[1]), func(b *testing.B) {
			s := newScene(size[0], size[1], pan(-6.5, 2))
			s.x, s.y, s.r, s.dx = float64(s.w)/2, float64(s.h)/2, float64(s.h)/4, 3
			la, lb := s.frames()
			var pa, pb motion.Pyramid
			pa.Set(&la)
			pb.Set(&lb)
			var f motion.Flow
			var field motion.Field
			f.Between(&field, &pa, &pb)
			b.ReportAllocs()
			for b.Loop() {
				f.Between(&field, &pa, &pb)
			}
		})
	}
}

func BenchmarkPyramid(b *testing.B) {
	l, _ := newScene(427, 240, pan(0, 0)).frames()
	var p motion.Pyramid
	p.Set(&l)
	b.ReportAllocs()
	for b.Loop() {
		p.Set(&l)
	}
}
