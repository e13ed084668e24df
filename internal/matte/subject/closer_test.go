package subject_test

import (
	"context"
	"image"
	"image/color"
	"image/draw"
	"slices"
	"testing"

	"github.com/bgremove/bgremove/internal/matte/subject"
	"github.com/bgremove/bgremove/internal/matte/view"
)

// bright chooses what is bright in a picture, and remembers the parts that it was shown.
func (s *seen) bright(_ context.Context, v *view.Marked) ([]uint8, error) {
	s.add(v)
	chosen := make([]uint8, v.W*v.H)
	for k, red := range v.Plane(view.MarkRed) {
		if red > 150 {
			chosen[k] = 255
		}
	}
	return chosen, nil
}

// Where a thing fits into a part of the picture, the network is shown that, too, and only the
// thing there is chosen. A larger thing is chosen by the whole picture.
func TestCloser(t *testing.T) {
	t.Parallel()
	other := image.Rect(180, 90, 200, 110)
	for name, c := range map[string]struct {
		thing image.Rectangle
		alone bool
	}{
		"small":           {image.Rect(50, 40, 70, 60), true},
		"at the edge":     {image.Rect(0, 0, 24, 30), true},
		"middling":        {image.Rect(30, 30, 100, 100), true},
		"large":           {image.Rect(10, 5, 130, 124), false},
		"over the corner": {image.Rect(-40, 60, 70, 200), false},
	} {
		img := image.NewNRGBA(image.Rect(0, 0, w, h))
		draw.Draw(img, img.Rect, image.NewUniform(color.Gray{60}), image.Point{}, draw.Src)
		draw.Draw(img, c.thing, image.White, image.Point{}, draw.Src)
		draw.Draw(img, other, image.White, image.Point{}, draw.Src)
		var network seen
		m := hintedStill(t, img, &network, middle(c.thing.Intersect(img.Rect), true))
		for y := range h {
			for x := range w {
				at := image.Pt(x, y)
				in := at.In(c.thing)
				if near := at.In(c.thing.Inset(-2)) && !at.In(c.thing.Inset(2)); near || at.In(other.Inset(-2)) {
					continue
				}
				if got := m.AlphaAt(x, y).A; got > 127 != in {
					t.Fatalf("%s: alpha %d at %v", name, got, at)
				}
			}
		}
		if chosen := m.AlphaAt(190, 100).A > 127; chosen {
			t.Errorf("%s: another thing is chosen", name)
		}
		if len(network.parts) != 2 {
			t.Errorf("%s: the network was shown %d parts", name, len(network.parts))
		}
	}
}

// In a part of the picture hints have their places, and those outside none. Boxes are cut.
func TestCloserMarks(t *testing.T) {
	t.Parallel()
	img := image.NewNRGBA(image.Rect(0, 0, w, h))
	var network seen
	box := func(x, y, toX, toY float64) subject.Hint {
		return subject.Hint{Box: &[2]subject.Point{{X: x / w, Y: y / h}, {X: toX / w, Y: toY / h}}}
	}
	hintedStill(t, img, &network,
		click(0, true, 112, 64), click(0, false, 128, 64), click(0, false, 10, 10),
		box(96, 80, 104, 88), box(60, 50, 79.9, 60), box(84, 20, 124, 30), box(136, 70, 150, 76),
		subject.Hint{Radius: 2. / h, Stroke: []subject.Point{{X: 90. / w, Y: 40. / h}, {X: 134. / w, Y: 40. / h}}},
	)
	half := &network.parts[0] // 64 × 64 pixels around the first click, in twice their size
	at := func(p view.MarkPlane, x, y int) uint8 { return half.Plane(p)[2*(y-32)*half.W+2*(x-80)] }
	for _, c := range []struct {
		plane view.MarkPlane
		x, y  int
		want  uint8
	}{
		{view.MarkKeep, 112, 64, 255}, {view.MarkKeep, 128, 64, 0},
		{view.MarkDrop, 128, 64, 255}, {view.MarkDrop, 112, 64, 0},
		{view.MarkDrop, 100, 84, 102}, {view.MarkDrop, 108, 84, 0},
		{view.MarkDrop, 112, 40, 255}, {view.MarkDrop, 112, 46, 0},
		{view.MarkDrop, 80, 32, 0},
		{view.MarkDrop, 80, 55, 0}, {view.MarkDrop, 104, 32, 0}, // boxes outside
		{view.MarkDrop, 143, 72, 102}, // a box over the border
	} {
		if got := at(c.plane, c.x, c.y); got != c.want {
			t.Errorf("plane %d has %d at %d,%d, want %d", c.plane, got, c.x, c.y, c.want)
		}
	}
}

// A wide stroke, and a mask, say enough of the thing's size.
func TestNoCloser(t *testing.T) {
	t.Parallel()
	mask := image.NewAlpha(image.Rect(0, 0, w, h))
	draw.Draw(mask, image.Rect(50, 40, 70, 60), image.Opaque, image.Point{}, draw.Src)
	for name, hint := range map[string]subject.Hint{
		"stroke": {Keep: true, Radius: 0.02, Stroke: []subject.Point{{X: 0.2, Y: 0.5}, {X: 0.8, Y: 0.5}}},
		"mask":   {Keep: true, Mask: mask},
	} {
		var network seen
		hintedStill(t, image.NewNRGBA(image.Rect(0, 0, w, h)), &network, hint)
		if len(network.parts) > 0 {
			t.Errorf("%s: the network was shown %d parts", name, len(network.parts))
		}
	}
}

// A kept thing is looked at closely in all frames, as long as it is known where it is.
func TestCloserOnTheWay(t *testing.T) {
	t.Parallel()
	s := scene{still, func(t float64) []disc { return []disc{{40 + 5*t, 50, 22}, {180, 95, 22}} }}
	c, _ := s.known(t)
	var all seen
	if err := c.Guide(t.Context(), []subject.Hint{click(12, true, 100, 50)}, all.guide); err != nil {
		t.Fatal(err)
	}
	if whole := frames + 1; len(all.pictures) != whole || len(all.parts) != 2*frames { // one more is of the rest
		t.Errorf("the network was shown %d pictures and %d parts of %d frames", len(all.pictures), len(all.parts), frames)
	}
	var dropped seen
	if err := c.Guide(t.Context(), []subject.Hint{click(12, false, 100, 50)}, dropped.guide); err != nil {
		t.Fatal(err)
	}
	if len(dropped.parts) != 2 { // of the frame with the hint
		t.Errorf("the network was shown %d parts of what is dropped", len(dropped.parts))
	}
	var lost seen
	nothing := func(_ context.Context, v *view.Marked) ([]uint8, error) {
		lost.add(v)
		return make([]uint8, v.W*v.H), nil
	}
	mask := image.NewAlpha(image.Rect(0, 0, w, h))
	draw.Draw(mask, image.Rect(20, 30, 60, 70), image.Opaque, image.Point{}, draw.Src)
	if err := c.Guide(t.Context(), []subject.Hint{{Frame: 0, Keep: true, Mask: mask}}, nothing); err != nil {
		t.Fatal(err)
	}
	if len(lost.parts) != 2 { // of the second frame; in the first, the mask holds
		t.Errorf("the network was shown %d parts of frames in which nothing is known", len(lost.parts))
	}
}

// middle is a click on the middle of a thing in the first frame.
func middle(thing image.Rectangle, keep bool) subject.Hint {
	at := thing.Min.Add(thing.Max).Div(2)
	return click(0, keep, float64(at.X), float64(at.Y))
}

// hintedStill is the matte by hints of a clip of one frame, of which all was marked.
func hintedStill(t *testing.T, img *image.NRGBA, network *seen, hints ...subject.Hint) *image.Alpha {
	t.Helper()
	c := begun(t, true)
	m := &image.Alpha{Pix: slices.Repeat([]uint8{255}, w*h), Stride: w, Rect: img.Rect}
	if err := looked(t.Context(), c, img, m, view.Features{}); err != nil {
		t.Fatal(err)
	}
	decided(t, c, 1)
	if err := c.Guide(t.Context(), hints, network.bright); err != nil {
		t.Fatal(err)
	}
	choice, err := c.Choice(0)
	if err != nil {
		t.Fatal(err)
	}
	choice.Apply(m)
	return m
}
