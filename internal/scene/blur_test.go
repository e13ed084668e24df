package scene_test

import (
	"bytes"
	"image"
	"image/color"
	"testing"

	"github.com/bgremove/bgremove/internal/canvas"
	"github.com/bgremove/bgremove/internal/scene"
)

// stripe is a grey column on black.
func stripe(w, h, x int, grey uint8) *image.NRGBA {
	img := image.NewNRGBA(image.Rect(0, 0, w, h))
	for i := range w * h {
		img.SetNRGBA(i%w, i/w, color.NRGBA{A: 255})
	}
	for y := range h {
		img.SetNRGBA(x, y, color.NRGBA{grey, grey, grey, 255})
	}
	return img
}

// under shows a frame without a subject to a scene's first shot and draws that under a canvas.
func under(t *testing.T, s scene.Scene, l canvas.Layout, frame, img *image.NRGBA) {
	t.Helper()
	var matte *image.Alpha
	if frame != nil {
		matte = image.NewAlpha(frame.Rect)
	}
	underSubject(t, s, l, frame, matte, img)
}

// underSubject is under with a matte of the subject.
func underSubject(t *testing.T, s scene.Scene, l canvas.Layout, frame *image.NRGBA, matte *image.Alpha, img *image.NRGBA) {
	t.Helper()
	pass, err := s.Open(t.Context(), l)
	if err != nil {
		t.Fatal(err)
	}
	defer pass.Close()
	shot, err := pass.At(t.Context(), 0)
	if err != nil {
		t.Fatal(err)
	}
	if frame != nil {
		shot.See(frame, matte)
	}
	shot.Under(img)
}

// Three boxes of three pixels make 1, 3, 6, 7, 6, 3, 1 of 27 of a line, where the
// line lies in the frame.
func TestBlur(t *testing.T) {
	t.Parallel()
	frame := stripe(30, 8, 10, 243)
	for name, c := range map[string]struct {
		layout canvas.Layout
		at     int // where the line is
	}{
		"whole":          {scene.Plain(image.Pt(30, 8)), 10},
		"beyond an edge": {canvas.Layout{Size: image.Pt(30, 4), Window: image.Rect(-3, 2, 27, 6), Target: image.Rect(0, 0, 30, 4)}, 13},
		"cropped":        {canvas.Layout{Size: image.Pt(14, 4), Window: image.Rect(4, 0, 18, 4), Target: image.Rect(0, 0, 14, 4)}, 6},
		"on a canvas":    {canvas.Layout{Size: image.Pt(40, 8), Window: image.Rect(0, 0, 30, 8), Target: image.Rect(5, 0, 35, 8)}, 15},
	} {
		img := image.NewNRGBA(image.Rectangle{Max: c.layout.Size})
		under(t, scene.Blur{Radius: 1}, c.layout, frame, img)
		for i, want := range []uint8{0, 9, 27, 54, 63, 54, 27, 9, 0} {
			if got := img.NRGBAAt(c.at-4+i, 1); got != (color.NRGBA{want, want, want, 255}) {
				t.Errorf("%s: %d beside the line is %v, want %d", name, i-4, got, want)
			}
		}
	}
}

// Where the subject was, the colours around it go on, and none of its own shine beside it. A
// subject that is everywhere is blurred itself.
func TestBlurBehindSubject(t *testing.T) {
	t.Parallel()
	const w, h = 64, 48
	frame, matte := image.NewNRGBA(image.Rect(0, 0, w, h)), image.NewAlpha(image.Rect(0, 0, w, h))
	for i := range w * h {
		c := color.NRGBA{40, 60, 200, 255}
		if x, y := i%w, i/w; x >= 20 && x < 40 && y >= 16 {
			c = color.NRGBA{250, 10, 0, 255}
			matte.Pix[i] = 255
		}
		frame.SetNRGBA(i%w, i/w, c)
	}
	drawn := func(m *image.Alpha) *image.NRGBA {
		img := image.NewNRGBA(frame.Rect)
		underSubject(t, scene.Blur{Radius: 5}, scene.Plain(frame.Rect.Size()), frame, m, img)
		return img
	}
	without := drawn(matte)
	for i := range w * h {
		if got := without.NRGBAAt(i%w, i/w); got != (color.NRGBA{40, 60, 200, 255}) {
			t.Fatalf("%d, %d is %v", i%w, i/w, got)
		}
	}
	for i := range matte.Pix {
		matte.Pix[i] = 255
	}
	if got := drawn(matte).NRGBAAt(30, 40); got.R < 200 {
		t.Errorf("all is subject, and its middle is %v", got)
	}
}

// The edge is repeated outside the frame, and the subject lies over the blur.
func TestBlurOutside(t *testing.T) {
	t.Parallel()
	frame := image.NewNRGBA(image.Rect(0, 0, 20, 20))
	canvas.Flatten(frame, color.NRGBA{100, 150, 200, 255})
	img := image.NewNRGBA(image.Rect(0, 0, 60, 60))
	img.SetNRGBA(1, 1, color.NRGBA{255, 0, 0, 255})
	img.SetNRGBA(2, 1, color.NRGBA{0, 0, 0, 51})
	under(t, scene.Blur{Radius: 9}, canvas.Layout{Size: image.Pt(60, 60), Window: image.Rect(-5, -5, 25, 25), Target: image.Rect(0, 0, 60, 60)}, frame, img)
	for at, want := range map[image.Point]color.NRGBA{
		{}: {100, 150, 200, 255}, {59, 59}: {100, 150, 200, 255}, {30, 30}: {100, 150, 200, 255},
		{1, 1}: {255, 0, 0, 255}, {2, 1}: {80, 120, 160, 255},
	} {
		if got := img.NRGBAAt(at.X, at.Y); got != want {
			t.Errorf("%v is %v, want %v", at, got, want)
		}
	}
}

// Without a radius the blur follows the size: a step in a larger frame is wider.
func TestBlurDefault(t *testing.T) {
	t.Parallel()
	width := func(side int) (n int) {
		frame := stripe(side, side, 0, 0)
		for i := range side * side / 2 {
			frame.SetNRGBA(i%(side/2), i/(side/2), color.NRGBA{255, 255, 255, 255})
		}
		img := image.NewNRGBA(frame.Rect)
		under(t, scene.Blur{}, scene.Plain(frame.Rect.Size()), frame, img)
		for x := range side {
			if v := img.NRGBAAt(x, side/2).R; v > 25 && v < 230 {
				n++
			}
		}
		return n
	}
	if small, large := width(120), width(480); large < 3*small || small == 0 {
		t.Errorf("the step takes %d pixels of 120 and %d of 480", small, large)
	}
}

func BenchmarkBlur1080(b *testing.B) {
	for _, radius := range []int{3, 0} {
		b.Run(map[int]string{0: "default", 3: "3"}[radius], func(b *testing.B) {
			frame := stripe(1920, 1080, 900, 255)
			pass, _ := scene.Blur{Radius: radius}.Open(b.Context(), scene.Plain(frame.Rect.Size()))
			img, matte := image.NewNRGBA(frame.Rect), image.NewAlpha(frame.Rect)
			copy(matte.Pix[len(matte.Pix)/2:], bytes.Repeat([]uint8{255}, 1920*200))
			b.ReportAllocs()
			for b.Loop() {
				clear(img.Pix)
				shot, _ := pass.At(b.Context(), 0)
				shot.See(frame, matte)
				shot.Under(img)
			}
		})
	}
}
