package surface_test

import (
	"math"
	"testing"

	"github.com/bgremove/bgremove/internal/matte/surface"
)

// TestFit: a surface is found again from points of it, and unweighted points do not count.
func TestFit(t *testing.T) {
	t.Parallel()
	want := surface.Surface{{100, 20, -10, 5, 3, -8}, {50, 0, 30, -12, 0, 6}, {200, -40, 0, 0, 9, 0}}
	var fit surface.Fit
	for i := range 400 {
		u, v := float64(i%20)/10-1, float64(i/20)/10-1
		fit.Add(u, v, want.At(u, v), 1)
		fit.Add(u, v, [3]float64{255, 255, 255}, 0)
	}
	got := fit.Solve()
	for i := range 100 {
		u, v := float64(i%10)/5-1, float64(i/10)/5-1
		a, b := got.At(u, v), want.At(u, v)
		for k := range a {
			if math.Abs(a[k]-b[k]) > 0.5 {
				t.Fatalf("at %g, %g: %v, want %v", u, v, a, b)
			}
		}
	}
	if span := got.Span(); math.Abs(span-want.Span()) > 1 {
		t.Errorf("span %g, want %g", span, want.Span())
	}
}

// TestFitNothing: without points all is 0.
func TestFitNothing(t *testing.T) {
	t.Parallel()
	var fit surface.Fit
	s := fit.Solve()
	if c := s.At(0.5, -0.5); c != [3]float64{} || s.Span() != 0 {
		t.Errorf("%v, span %g", c, s.Span())
	}
}
