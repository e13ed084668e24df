package segment_test

import (
	"image"
	"slices"
	"testing"

	"github.com/bgremove/bgremove/internal/matte/segment"
	"github.com/bgremove/bgremove/internal/matte/view"
	"github.com/bgremove/bgremove/internal/network/model"
)

// calm is a view of a plate that is known everywhere, and a matte that agrees with it:
// a subject, unlike the plate, in a part of it.
func calm(w, h int, subject image.Rectangle) view.View {
	v := view.New(w, h)
	for y := range h {
		for x := range w {
			pixel := [view.Count]uint8{100, 120, 140, 0, 128, 128, 128, 8, 10, 255, 0}
			if image.Pt(x, y).In(subject) {
				pixel = [view.Count]uint8{200, 60, 50, 255, 178, 98, 83, 255, 10, 255, 0}
			}
			for p, b := range pixel {
				v.Plane(view.Plane(p))[y*w+x] = b
			}
		}
	}
	return v
}

// mark sets a plane in a part of a view.
func mark(v *view.View, p view.Plane, r image.Rectangle, b uint8) {
	for y := r.Min.Y; y < r.Max.Y; y++ {
		for x := r.Min.X; x < r.Max.X; x++ {
			v.Plane(p)[y*v.W+x] = b
		}
	}
}

func TestDoubts(t *testing.T) {
	t.Parallel()
	here, there, subject := image.Rect(50, 40, 60, 46), image.Rect(200, 100, 204, 104), image.Rect(16, 80, 120, 110)
	for name, c := range map[string]struct {
		change func(*view.View)
		want   []image.Rectangle
	}{
		"none":                       {func(*view.View) {}, nil},
		"a few pixels":               {func(v *view.View) { mark(v, view.Coverage, image.Rect(50, 40, 55, 41), 128) }, nil},
		"an unsure matte":            {func(v *view.View) { mark(v, view.Coverage, here, 128) }, []image.Rectangle{{image.Pt(32, 16), image.Pt(80, 64)}}},
		"missed":                     {func(v *view.View) { mark(v, view.Unusual, here, 200) }, []image.Rectangle{{image.Pt(32, 16), image.Pt(80, 64)}}},
		"missed, but no plate":       {func(v *view.View) { mark(v, view.Unusual, here, 200); mark(v, view.Frames, here, 0) }, nil},
		"backdrop taken for subject": {func(v *view.View) { mark(v, view.Unusual, image.Rect(64, 96, 70, 99), 3) }, []image.Rectangle{{image.Pt(48, 80), image.Pt(96, 128)}}},
		"two places": {func(v *view.View) { mark(v, view.Coverage, here, 128); mark(v, view.Coverage, there, 100) }, []image.Rectangle{
			{image.Pt(32, 16), image.Pt(80, 64)}, {image.Pt(176, 80), image.Pt(210, 128)},
		}},
		"one place in two blocks": {func(v *view.View) { mark(v, view.Coverage, image.Rect(50, 20, 60, 44), 128) }, []image.Rectangle{{image.Pt(32, 0), image.Pt(80, 64)}}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			v := calm(210, 130, subject)
			c.change(&v)
			got := segment.Doubts(&v)
			if len(got) != len(c.want) {
				t.Fatalf("%v, want %v", got, c.want)
			}
			for i, r := range got {
				if r != c.want[i] {
					t.Errorf("%v, want %v", r, c.want[i])
				}
			}
		})
	}
}

// TestKeepSure: where the plate is not known, what was sure stays. Elsewhere the reviser decides.
func TestKeepSure(t *testing.T) {
	t.Parallel()
	old := []uint8{0, 25, 26, 229, 230, 255}
	for known, want := range map[bool][]uint8{true: {99, 99, 99, 99, 99, 99}, false: {0, 25, 99, 99, 230, 255}} {
		v := view.New(len(old), 1)
		if known {
			mark(&v, view.Frames, image.Rect(0, 0, len(old), 1), 24)
		}
		m := &image.Alpha{Pix: slices.Repeat([]uint8{99}, len(old)), Stride: len(old), Rect: image.Rect(0, 0, len(old), 1)}
		segment.KeepSure(&v, m, &image.Alpha{Pix: old, Stride: len(old), Rect: m.Rect})
		if !slices.Equal(m.Pix, want) {
			t.Errorf("known %t: %v, want %v", known, m.Pix, want)
		}
	}
}

// TestRevisedParts: a part in doubt is decided as it is in the whole picture.
func TestRevisedParts(t *testing.T) {
	n := openAs(t, "distance.onnx", model.Spec{Plate: true})
	v := calm(320, 224, image.Rect(100, 80, 180, 150))
	edge := image.Rect(96, 80, 104, 150)
	mark(&v, view.Coverage, edge, 128)
	whole, err := n.Revise(t.Context(), v)
	if err != nil {
		t.Fatal(err)
	}
	parts := segment.Doubts(&v)
	if len(parts) != 1 || !edge.In(parts[0]) {
		t.Fatalf("in doubt: %v", parts)
	}
	part, err := n.Revise(t.Context(), v.Part(parts[0]))
	if err != nil {
		t.Fatal(err)
	}
	for y := edge.Min.Y; y < edge.Max.Y; y++ {
		for x := edge.Min.X; x < edge.Max.X; x++ {
			a, b := whole.AlphaAt(x, y).A, part.AlphaAt(x-parts[0].Min.X, y-parts[0].Min.Y).A
			if a < 64 && b >= 128 || a >= 192 && b < 128 {
				t.Errorf("at %d, %d: %d in the whole picture, %d in its part", x, y, a, b)
			}
		}
	}
}
