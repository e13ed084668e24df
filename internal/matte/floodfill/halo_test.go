package floodfill_test

import (
	"image"
	"image/color"
	"testing"

	"github.com/bgremove/bgremove/internal/matte/floodfill"
)

// TestHalo counts edges that have the backdrop's colour, but not those of a subject
// that is nearly of it.
func TestHalo(t *testing.T) {
	t.Parallel()
	backdrop := color.NRGBA{220, 60, 40, 255}
	for _, tt := range []struct {
		name          string
		rim, subject  color.NRGBA
		wantEdge, bad int
	}{
		{"clean", color.NRGBA{20, 40, 200, 255}, color.NRGBA{20, 40, 200, 255}, 40, 0},
		{"a rim of the backdrop", color.NRGBA{210, 70, 50, 255}, color.NRGBA{20, 40, 200, 255}, 40, 40},
		{"a subject near the backdrop", color.NRGBA{235, 85, 45, 255}, color.NRGBA{235, 85, 45, 255}, 40, 0},
	} {
		img, m := image.NewNRGBA(image.Rect(0, 0, 40, 20)), image.NewAlpha(image.Rect(0, 0, 40, 20))
		for y := range 20 {
			for x := range 40 {
				c := backdrop
				if x >= 10 && x < 30 {
					c, m.Pix[y*40+x] = tt.subject, 255
				}
				if x == 10 || x == 29 {
					c = tt.rim
				}
				img.SetNRGBA(x, y, c)
			}
		}
		var s floodfill.Survey
		s.Add(img)
		edge, left := floodfill.New(s.Backdrop(), floodfill.Options{}).Halo(img, m)
		if edge != tt.wantEdge || left != tt.bad {
			t.Errorf("%s: %d of %d edges, want %d of %d", tt.name, left, edge, tt.bad, tt.wantEdge)
		}
	}
}
