//go:build !purego

package plate_test

import (
	"bytes"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/bgremove/bgremove/internal/matte/plate"
	"github.com/bgremove/bgremove/internal/matte/view"
)

// TestPlain: the assembly gives the bits that Go gives. It is not parallel, as it turns
// off the assembly for all.
func TestPlain(t *testing.T) {
	o := newWorld(3)
	views := func() (all []view.View) {
		r := rand.New(rand.NewPCG(1, 2))
		var p plate.Plate
		for n := range 70 {
			x, y, light := 100+0.7*float64(n), 100+3*math.Sin(float64(n)), 1+0.2*math.Sin(float64(n)/9)
			if n == 40 {
				x, y = 160, 150 // the camera moves far
			}
			if n%9 == 5 {
				x, y = math.Round(x), math.Round(y)
			}
			img, m := o.shot(x, y, light, 30+float64(n), 50)
			for i := range m.Pix {
				if r.IntN(300) == 0 {
					m.Pix[i] = uint8(r.IntN(256))
				}
				img.Pix[4*i+1] += uint8(r.IntN(6))
			}
			if n < 12 {
				p.Sample(img, m)
			}
			all = append(all, p.Next(img, m))
		}
		return all
	}
	got := views()
	var want []view.View
	if !plate.Plain(func() { want = views() }) {
		t.Skip("no AVX2")
	}
	for n, v := range want {
		for p := range view.Count {
			if !bytes.Equal(got[n].Plane(p), v.Plane(p)) {
				t.Fatalf("frame %d: plane %d differs", n, p)
			}
		}
		if got[n].Known != v.Known {
			t.Errorf("frame %d: %g known, want %g", n, got[n].Known, v.Known)
		}
	}
}
