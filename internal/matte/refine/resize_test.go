package refine_test

import (
	"image"
	"math"
	"slices"
	"testing"

	"github.com/bgremove/bgremove/internal/matte/refine"
)

// A ramp is a ramp in any size, also of one side larger and the other smaller, and
// what is even stays even.
func TestResize(t *testing.T) {
	t.Parallel()
	ramp := image.NewAlpha(image.Rect(0, 0, 64, 40))
	even := image.NewAlpha(ramp.Rect)
	for i := range ramp.Pix {
		ramp.Pix[i], even.Pix[i] = uint8(4*(i%64)), 77
	}
	for _, to := range []image.Point{{64, 40}, {128, 80}, {16, 10}, {128, 10}, {21, 97}, {1, 1}} {
		dst := image.NewAlpha(image.Rectangle{Max: to})
		refine.Resize(dst, ramp)
		for i, v := range dst.Pix {
			want := 4 * ((float64(i%to.X)+0.5)*64/float64(to.X) - 0.5)
			if edge := i%to.X == 0 || i%to.X == to.X-1; !edge && math.Abs(float64(v)-want) > 2 {
				t.Fatalf("%v: %d at column %d, want %.1f", to, v, i%to.X, want)
			}
		}
		refine.Resize(dst, even)
		for _, v := range dst.Pix {
			if v != 77 {
				t.Fatalf("%v: %d of an even matte", to, v)
			}
		}
	}
	dst := image.NewAlpha(image.Rect(0, 0, 3, 2))
	dst.Pix[0] = 9
	if refine.Resize(dst, image.NewAlpha(image.Rectangle{})); dst.Pix[0] != 0 {
		t.Error("nothing does not become nothing")
	}
}

// A part of a matte is replaced, and nothing around it.
func TestPlace(t *testing.T) {
	t.Parallel()
	m, part := image.NewAlpha(image.Rect(0, 0, 4, 3)), image.NewAlpha(image.Rect(0, 0, 2, 2))
	copy(part.Pix, []uint8{1, 2, 3, 4})
	refine.Place(m, image.Rect(1, 1, 3, 3), part)
	if want := []uint8{0, 0, 0, 0, 0, 1, 2, 0, 0, 3, 4, 0}; !slices.Equal(m.Pix, want) {
		t.Errorf("got %v", m.Pix)
	}
}
