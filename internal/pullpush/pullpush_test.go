package pullpush_test

import (
	"math"
	"testing"

	"github.com/bgremove/bgremove/internal/pullpush"
)

// What is known stays; between two colours the rest goes over from one to the other.
func TestFill(t *testing.T) {
	t.Parallel()
	const w, h = 37, 9
	var g pullpush.Grid
	for range 2 { // the second time in used memory
		known := g.Begin(w, h)
		for y := range h {
			known[y*w], known[y*w+w-1] = pullpush.Sample{10, 0, 0, 1}, pullpush.Sample{200, 80, 0, 1}
		}
		g.Fill()
		row := g.Samples()[4*w:][:w]
		if row[0][0] != 10 || row[w-1] != (pullpush.Sample{200, 80, 0, 1}) {
			t.Errorf("the ends have become %v and %v", row[0], row[w-1])
		}
		for x := 1; x < w; x++ {
			if row[x][0] < row[x-1][0]-1 || math.Abs(float64(row[x][3])-1) > 1e-3 {
				t.Errorf("%v comes after %v", row[x], row[x-1])
			}
		}
	}
}

// Where nothing is known, nothing is filled in.
func TestFillOfNothing(t *testing.T) {
	t.Parallel()
	for _, size := range [][2]int{{1, 1}, {5, 3}} {
		var g pullpush.Grid
		g.Begin(size[0], size[1])
		g.Fill()
		for _, s := range g.Samples() {
			if s != (pullpush.Sample{}) {
				t.Errorf("%v: %v", size, s)
			}
		}
	}
}
