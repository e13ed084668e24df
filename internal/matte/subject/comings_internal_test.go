package subject

import (
	"testing"

	"github.com/bgremove/bgremove/internal/matte/motion"
)

// A camera that pans or zooms moves. It stands still where what moves is in one quarter of the picture.
func TestDrift(t *testing.T) {
	t.Parallel()
	const w, h = 32, 24
	for name, c := range map[string]struct {
		way  func(x, y int) (float32, float32) // in cells a frame
		want bool
	}{
		"still": {func(int, int) (float32, float32) { return 0, 0 }, false},
		"pan":   {func(int, int) (float32, float32) { return 0.05, 0 }, true},
		"zoom":  {func(x, y int) (float32, float32) { return 0.01 * float32(x-w/2), 0.01 * float32(y-h/2) }, true},
		"one quarter": {func(x, y int) (float32, float32) {
			if x < w/2 && y < h/2 {
				return 0.3, 0
			}
			return 0, 0
		}, false},
	} {
		var d drift
		var back motion.Field
		back.Set(w, h)
		for k := range back.X {
			back.X[k], back.Y[k] = c.way(k%w, k/w)
		}
		for range 60 {
			d.add(&back, make([]float32, w*h))
		}
		if d.far() != c.want {
			t.Errorf("%s: %v, far %v", name, d, d.far())
		}
	}
}
