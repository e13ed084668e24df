package subject_test

import (
	"context"
	"image"
	"image/draw"
	"slices"
	"testing"

	"github.com/bgremove/bgremove/internal/matte/subject"
	"github.com/bgremove/bgremove/internal/matte/view"
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
	subject.Agree(m, own)
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

// The hints of a frame hold there, whatever the clip's own matte has.
func TestHintsHold(t *testing.T) {
	t.Parallel()
	s := scene{still, func(float64) []disc { return []disc{{60, 60, 22}} }}
	c, _ := s.known(t)
	_, m := s.frame(0)
	all := func(_ context.Context, v *view.Marked) ([]uint8, error) {
		if v.W == v.H || v.Plane(view.MarkDrop)[75*w+60] > 0 { // a part, and the rest
			return make([]uint8, v.W*v.H), nil
		}
		return slices.Clone(m.Pix), nil
	}
	scratch := subject.Hint{Frame: 12, Radius: 1.2 / h, Stroke: []subject.Point{{X: 50. / w, Y: 60. / h}, {X: 70. / w, Y: 60. / h}}}
	if err := c.Guide(t.Context(), []subject.Hint{click(12, true, 60, 75), scratch}, all); err != nil {
		t.Fatal(err)
	}
	cut := s.cutOut(t, c, 12)
	if on, beside := cut.AlphaAt(60, 60).A, cut.AlphaAt(60, 66).A; on > 0 || beside < 255 {
		t.Errorf("alpha %d where a stroke drops, and %d beside it", on, beside)
	}
}
