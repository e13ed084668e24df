package canvas_test

import (
	"errors"
	"image"
	"image/color"
	"math"
	"testing"

	"github.com/bgremove/bgremove/internal/canvas"
	"github.com/bgremove/bgremove/internal/media"
)

var white = color.NRGBA{255, 255, 255, 255}

// subject is a red rectangle on nothing.
func subject(w, h int, r image.Rectangle) *image.NRGBA {
	img := image.NewNRGBA(image.Rect(0, 0, w, h))
	for y := r.Min.Y; y < r.Max.Y; y++ {
		for x := r.Min.X; x < r.Max.X; x++ {
			img.SetNRGBA(x, y, color.NRGBA{255, 0, 0, 255})
		}
	}
	return img
}

// The line is as wide as was asked for on straight sides, round at corners, and
// antialiased there.
func TestOutline(t *testing.T) {
	t.Parallel()
	img := subject(40, 40, image.Rect(15, 15, 25, 25))
	canvas.Rim{Outline: &canvas.Outline{Colour: white, Width: 4}}.Draw(img)
	for y := range 40 {
		for x := range 40 {
			dx, dy := float64(max(15-x, x-24, 0)), float64(max(15-y, y-24, 0))
			want := color.NRGBA{255, 0, 0, 255}
			if d := math.Hypot(dx, dy); d > 0 {
				want = color.NRGBA{255, 255, 255, uint8(255*min(max(5-d, 0), 1) + 0.5)}
				if want.A == 0 {
					want = color.NRGBA{}
				}
			}
			if got := img.NRGBAAt(x, y); got != want {
				t.Fatalf("%d,%d is %v, want %v", x, y, got, want)
			}
		}
	}
}

// A half covered edge moves the line by half a pixel, and lies over it.
func TestOutlineOfSoftEdge(t *testing.T) {
	t.Parallel()
	img := subject(40, 1, image.Rect(20, 0, 30, 1))
	img.SetNRGBA(19, 0, color.NRGBA{255, 0, 0, 51})
	canvas.Rim{Outline: &canvas.Outline{Colour: white, Width: 3}}.Draw(img)
	for x, want := range map[int]color.NRGBA{
		19: {255, 204, 204, 255}, 18: white, 17: white, 16: {255, 255, 255, 51}, 15: {}, 32: white, 33: {},
	} {
		if got := img.NRGBAAt(x, 0); got != want {
			t.Errorf("%d is %v, want %v", x, got, want)
		}
	}
}

// A shadow is the shape, moved and softened, under the subject and the line.
func TestShadow(t *testing.T) {
	t.Parallel()
	img := subject(60, 60, image.Rect(20, 20, 40, 40))
	canvas.Rim{Shadow: &canvas.Shadow{X: 5, Y: -3, Opacity: 40}}.Draw(img)
	for at, want := range map[image.Point]color.NRGBA{
		{30, 30}: {255, 0, 0, 255}, {44, 17}: {0, 0, 0, 102}, {45, 17}: {}, {44, 16}: {}, {24, 17}: {}, {25, 17}: {0, 0, 0, 102},
	} {
		if got := img.NRGBAAt(at.X, at.Y); got != want {
			t.Errorf("hard: %v is %v, want %v", at, got, want)
		}
	}
	img = subject(60, 60, image.Rect(20, 20, 40, 40))
	canvas.Rim{Outline: &canvas.Outline{Colour: white, Width: 2}, Shadow: &canvas.Shadow{Blur: 2, Opacity: 100}}.Draw(img)
	// The line ends at 42. Three boxes of 5 reach 6 pixels from there.
	last := uint8(255)
	for x := 40; x < 60; x++ {
		got := img.NRGBAAt(x, 30)
		switch {
		case x < 42 && got != white:
			t.Errorf("the line at %d is %v", x, got)
		case x >= 42 && x < 47 && (got.R != 0 || got.A == 0 || got.A >= last):
			t.Errorf("the shadow at %d is %v after %d", x, got, last)
		case x >= 48 && got.A != 0:
			t.Errorf("%d is %v", x, got)
		}
		if x >= 42 {
			last = got.A
		}
	}
}

// The output grows by the rim, so nothing of it is cut off; a canvas keeps its size
// and the subject shrinks.
func TestRimHasRoom(t *testing.T) {
	t.Parallel()
	rim := canvas.Rim{Outline: &canvas.Outline{Colour: white, Width: 5}, Shadow: &canvas.Shadow{X: 3, Y: 9, Blur: 2, Opacity: 50}}
	for name, c := range map[string]struct {
		spec   canvas.Spec
		size   image.Point
		target image.Rectangle
	}{
		"crop":   {canvas.Spec{Crop: true, Rim: rim}, image.Pt(62, 65), image.Rect(8, 5, 48, 45)},
		"canvas": {canvas.Spec{Crop: true, Width: 42, Height: 42, Rim: rim}, image.Pt(42, 42), image.Rect(9, 5, 26, 22)},
		"width":  {canvas.Spec{Crop: true, Width: 102, Rim: rim}, image.Pt(102, 105), image.Rect(8, 5, 88, 85)},
	} {
		l := plan(c.spec, image.Pt(100, 60), image.Rect(20, 10, 60, 50))
		if l.Size != c.size || l.Target != c.target {
			t.Errorf("%s: size %v, target %v", name, l.Size, l.Target)
		}
		img := subject(100, 60, image.Rect(20, 10, 60, 50))
		out := canvas.NewRenderer(l, image.Pt(100, 60), new(media.Pool)).RenderSubject(img, nil)
		if got := out.NRGBAAt(l.Target.Min.X-5, l.Target.Min.Y+9); got != white {
			t.Errorf("%s: the line's edge is %v", name, got)
		}
	}
	if _, err := (canvas.Spec{Width: 22, Rim: rim}).Plan(image.Pt(9, 9), image.Rectangle{}); !errors.Is(err, canvas.ErrNoRoom) {
		t.Errorf("without room: %v", err)
	}
}

func BenchmarkRim1080(b *testing.B) {
	rim := canvas.Rim{Outline: &canvas.Outline{Colour: white, Width: 8}, Shadow: &canvas.Shadow{Y: 6, Blur: 8, Opacity: 50}}
	from := subject(1920, 1080, image.Rect(600, 200, 1300, 1080))
	img := image.NewNRGBA(from.Rect)
	for b.Loop() {
		copy(img.Pix, from.Pix)
		rim.Draw(img)
	}
}
