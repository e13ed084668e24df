package subject_test

import (
	"image"
	"image/draw"
	"testing"

	"github.com/bgremove/bgremove/internal/matte/subject"
)

// Where the clip's own matte is of the thing that hints led to, its edges are taken. Other things
// stay out, and what it lacks of the thing stays in.
func TestAgree(t *testing.T) {
	t.Parallel()
	drawn := func(parts ...image.Rectangle) *image.Alpha {
		m := image.NewAlpha(image.Rect(0, 0, w, h))
		for _, r := range parts {
			draw.Draw(m, r, image.Opaque, image.Point{}, draw.Src)
		}
		return m
	}
	body, hat, bag := image.Rect(40, 40, 80, 120), image.Rect(50, 20, 70, 40), image.Rect(80, 70, 120, 100)
	m := drawn(body.Inset(-1), hat)
	own := drawn(body, bag)
	soft := image.Pt(39, 100)
	own.Pix[own.PixOffset(soft.X, soft.Y)] = 90
	subject.Agree(m, own, 1.0/32)
	for what, p := range map[string]struct {
		at        image.Point
		low, high uint8
	}{
		"the body":            {image.Pt(60, 80), 255, 255},
		"its edge":            {image.Pt(40, 60), 255, 255},
		"beyond its edge":     {image.Pt(39, 60), 0, 90},
		"its soft edge":       {soft, 90, 160},
		"the hat":             {image.Pt(60, 25), 255, 255},
		"the bag":             {image.Pt(110, 85), 0, 0},
		"the bag at the body": {image.Pt(82, 85), 0, 60},
		"the rest":            {image.Pt(200, 20), 0, 0},
	} {
		if a := m.AlphaAt(p.at.X, p.at.Y).A; a < p.low || a > p.high {
			t.Errorf("%s has alpha %d, want %d to %d", what, a, p.low, p.high)
		}
	}
}
