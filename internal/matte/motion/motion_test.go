package motion_test

import (
	"math"
	"testing"

	"github.com/bgremove/bgremove/internal/matte/motion"
)

// TestConsistency: 1 where both ways agree, less the more they do not, 0 outside.
func TestConsistency(t *testing.T) {
	t.Parallel()
	var forward, back motion.Field
	forward.Set(20, 10)
	back.Set(20, 10)
	for i := range forward.X {
		forward.X[i], forward.Y[i], back.X[i], back.Y[i] = 4, 0.5, -4, -0.5
	}
	forward.X[0], forward.X[1], forward.Y[2] = float32(math.NaN()), float32(math.Inf(1)), float32(math.Inf(-1))
	back.X[5*20+10], back.X[6*20+10] = -2, -2 // half of both is a miss of 2 pixels
	dst := make([]float32, 200)
	motion.Consistency(dst, &forward, &back)
	s := 1 + 0.05*math.Hypot(4, 0.5)
	for _, c := range []struct {
		x, y int
		want float64
	}{
		{3, 3, 1}, {15, 3, 1}, {16, 3, 0}, {3, 9, 0}, {0, 0, 0}, {1, 0, 0}, {2, 0, 0}, {6, 5, s * s / (s*s + 4)}, {6, 4, s * s / (s*s + 1)},
	} {
		if got := float64(dst[c.y*20+c.x]); math.Abs(got-c.want) > 1e-3 {
			t.Errorf("%d, %d: %g, want %g", c.x, c.y, got, c.want)
		}
	}
}

// TestOcclusion: what the disc covers in the second picture is not consistent, the rest
// is.
func TestOcclusion(t *testing.T) {
	t.Parallel()
	s := newScene(320, 200, pan(1, 0))
	s.x, s.y, s.r, s.dx = 140, 100, 50, 13
	a, b := s.frames()
	dst := make([]float32, s.w*s.h)
	motion.Consistency(dst, flow(&a, &b), flow(&b, &a))
	var sum, count [2]float64
	for i, v := range dst {
		x, y := i%s.w, i/s.w
		u, w, disc, edge, inside := s.truth(x, y)
		px, py := float64(x)+u, float64(y)+w
		covered := !disc && math.Hypot(px-s.x-s.dx, py-s.y-s.dy) < s.r-2
		kind := 0
		switch {
		case covered && edge > 2:
			kind = 1
		case !inside || edge < 8 || covered:
			continue
		}
		sum[kind] += float64(v)
		count[kind]++
	}
	if seen, hidden := sum[0]/count[0], sum[1]/count[1]; seen < 0.97 || hidden > 0.35 || count[1] < 300 {
		t.Errorf("consistency is %.3f where seen, %.3f where hidden (%g pixels)", seen, hidden, count[1])
	}
}

func TestCarry(t *testing.T) {
	t.Parallel()
	f := motion.Field{W: 4, H: 2, X: []float32{0, 1, 0.25, 0.5, -1, -1, 1, 0}, Y: []float32{0, 0, 0.5, 0, 0, 0, -1, 0.1}}
	src := []float32{0, 10, 20, 30, 40, 50, 60, 70}
	dst := make([]float32, len(src))
	f.Carry(dst, src, -1)
	for i, want := range []float32{0, 20, 42.5, -1, -1, 40, 30, -1} {
		if math.Abs(float64(dst[i]-want)) > 1e-4 {
			t.Errorf("pixel %d is %g, want %g", i, dst[i], want)
		}
	}
	line := motion.Field{W: 1, H: 3, X: make([]float32, 3), Y: []float32{0.5, 1, -0.5}}
	line.Carry(dst, src, -1)
	for i, want := range []float32{5, 20, 15} {
		if dst[i] != want {
			t.Errorf("pixel %d of a line is %g, want %g", i, dst[i], want)
		}
	}
}

func BenchmarkConsistency(b *testing.B) {
	c, d := pan(3, -2), pan(-3, 2)
	forward, back, dst := moved(&c, 0.2, 0.4), moved(&d, 0.2, 0.4), make([]float32, w*h)
	b.ReportAllocs()
	for b.Loop() {
		motion.Consistency(dst, forward, back)
	}
}

func BenchmarkCarry(b *testing.B) {
	c := pan(3, -2)
	f, dst := moved(&c, 0.2, 0.4), make([]float32, w*h)
	b.ReportAllocs()
	for b.Loop() {
		f.Carry(dst, f.X, 0)
	}
}
