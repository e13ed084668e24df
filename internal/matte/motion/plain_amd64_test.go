//go:build !purego

package motion_test

import (
	"slices"
	"testing"

	"github.com/bgremove/bgremove/internal/matte/motion"
)

// TestPlain: the assembly gives the bits that Go gives. It is not parallel, as it turns
// off the assembly for all.
func TestPlain(t *testing.T) {
	for _, size := range [][2]int{{427, 240}, {96, 64}, {33, 57}, {8, 8}, {7, 90}, {255, 2}} {
		s := newScene(size[0], size[1], pan(-3.5, 2))
		s.x, s.y, s.r, s.dx, s.noise = 0.4*float64(s.w), 0.4*float64(s.h), 0.3*float64(s.h), 4, 3
		a, b := s.frames()
		got := flow(&a, &b)
		var want *motion.Field
		if !motion.Plain(func() { want = flow(&a, &b) }) {
			t.Skip("no AVX2")
		}
		if !slices.Equal(got.X, want.X) || !slices.Equal(got.Y, want.Y) {
			t.Errorf("%v: another flow", size)
		}
		back := flow(&b, &a)
		trust, plain := make([]float32, len(got.X)), make([]float32, len(got.X))
		motion.Consistency(trust, got, back)
		motion.Plain(func() { motion.Consistency(plain, got, back) })
		if !slices.Equal(trust, plain) {
			t.Errorf("%v: another consistency", size)
		}
	}
}

func BenchmarkPlain(b *testing.B) { motion.Plain(func() { BenchmarkBetween(b) }) }
