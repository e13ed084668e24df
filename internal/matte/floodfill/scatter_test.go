package floodfill_test

import (
	"image"
	"image/color"
	"testing"

	"github.com/bgremove/bgremove/internal/matte/floodfill"
)

// Single pixels of a colour that is scattered over the backdrop go. Those of a colour that the subject has at
// the border stay, and so do all of a picture that is too small to tell.
func TestScatter(t *testing.T) {
	t.Parallel()
	white, yellow, red := color.NRGBA{252, 252, 255, 255}, color.NRGBA{252, 252, 170, 255}, color.NRGBA{200, 30, 20, 255}
	for name, c := range map[string]struct {
		side    int
		subject bool // has the colour, too, and reaches the border
		kept    bool
	}{
		"scattered":            {96, false, false},
		"the subject's colour": {96, true, true},
		"a small picture":      {24, false, true},
	} {
		img := image.NewNRGBA(image.Rect(0, 0, c.side, c.side))
		subject := image.Rect(c.side/3, c.side/3, c.side*2/3, c.side*2/3)
		for y := range c.side {
			for x := range c.side {
				v := white
				switch in := image.Pt(x, y).In(subject); {
				case in && (x+y)%2 == 0, c.subject && x < 8 && y > c.side/2, !in && x%6 == 1 && y%5 == 1:
					v = yellow
				case in:
					v = red
				}
				img.SetNRGBA(x, y, v)
			}
		}
		var s floodfill.Survey
		s.Add(img)
		m := image.NewAlpha(img.Rect)
		if err := floodfill.New(s.Backdrop(), floodfill.Options{}).Estimate(t.Context(), img, m); err != nil {
			t.Fatal(err)
		}
		if a := m.AlphaAt(13, 6).A; (a > 0) != c.kept {
			t.Errorf("%s: a pixel alone has alpha %d", name, a)
		}
		if a := m.AlphaAt(c.side/2, c.side/2).A; a < 255 {
			t.Errorf("%s: the subject has alpha %d", name, a)
		}
	}
}
