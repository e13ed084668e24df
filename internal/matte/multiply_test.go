package matte_test

import (
	"image"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/bgremove/bgremove/internal/matte"
)

// Whatever lies beside what, each pixel is as its own matte says.
func TestMultiply(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		w, h := 1+r.IntN(70), 1+r.IntN(9)
		img, m := image.NewNRGBA(image.Rect(0, 0, w, h)), image.NewAlpha(image.Rect(0, 0, w, h))
		v := uint8(0)
		for i := range m.Pix {
			if r.IntN(12) == 0 {
				v = []uint8{0, 255, uint8(r.IntN(256))}[r.IntN(3)]
			}
			m.Pix[i] = v
		}
		for i := range img.Pix {
			img.Pix[i] = uint8(r.IntN(256))
		}
		want := make([]uint8, len(img.Pix))
		for i, v := range m.Pix {
			if v == 0 {
				continue
			}
			copy(want[4*i:], img.Pix[4*i:4*i+3])
			want[4*i+3] = uint8((int(img.Pix[4*i+3])*int(v) + 127) / 255)
		}
		matte.Multiply(img, m)
		if d := cmp.Diff(want, img.Pix); d != "" {
			t.Fatal(d)
		}
	}
}
