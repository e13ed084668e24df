package canvas_test

import (
	"bytes"
	"image"
	"image/color"
	"image/draw"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/bgremove/bgremove/internal/canvas"
	"github.com/bgremove/bgremove/internal/media"
	"github.com/bgremove/bgremove/pkg/option"
)

func TestPlan(t *testing.T) {
	t.Parallel()
	source := image.Pt(100, 60)
	box := image.Rect(20, 10, 60, 50) // 40×40
	r := image.Rect
	tests := map[string]struct {
		spec   canvas.Spec
		box    image.Rectangle
		size   image.Point
		window image.Rectangle
		target image.Rectangle
	}{
		"nothing":               {canvas.Spec{}, box, source, r(0, 0, 100, 60), r(0, 0, 100, 60)},
		"pad without crop":      {canvas.Spec{Pad: 12}, box, source, r(0, 0, 100, 60), r(0, 0, 100, 60)},
		"crop":                  {canvas.Spec{Crop: true}, box, image.Pt(40, 40), box, r(0, 0, 40, 40)},
		"crop and pad":          {canvas.Spec{Crop: true, Pad: 12}, box, image.Pt(64, 64), r(8, -2, 72, 62), r(0, 0, 64, 64)},
		"no subject":            {canvas.Spec{Crop: true, Pad: 12}, r(0, 0, 0, 0), source, r(0, 0, 100, 60), r(0, 0, 100, 60)},
		"both sides, centre":    {canvas.Spec{Crop: true, Width: 100, Height: 200}, box, image.Pt(100, 200), box, r(0, 50, 100, 150)},
		"both sides, bottom":    {canvas.Spec{Crop: true, Width: 100, Height: 200, Anchor: option.Bottom}, box, image.Pt(100, 200), box, r(0, 100, 100, 200)},
		"wide canvas":           {canvas.Spec{Crop: true, Width: 90, Height: 20}, box, image.Pt(90, 20), box, r(35, 0, 55, 20)},
		"width only":            {canvas.Spec{Width: 50}, box, image.Pt(50, 30), r(0, 0, 100, 60), r(0, 0, 50, 30)},
		"height only, up":       {canvas.Spec{Height: 120}, box, image.Pt(200, 120), r(0, 0, 100, 60), r(0, 0, 200, 120)},
		"odd size for mp4":      {canvas.Spec{Crop: true, Pad: 1, Even: true}, r(20, 10, 61, 50), image.Pt(44, 42), r(19, 9, 62, 51), r(0, 0, 43, 42)},
		"thin, other side min1": {canvas.Spec{Width: 16, Crop: true}, r(0, 0, 100, 1), image.Pt(16, 1), r(0, 0, 100, 1), r(0, 0, 16, 1)},
		"other side has limit":  {canvas.Spec{Width: 4096, Crop: true}, r(0, 0, 1, 60), image.Pt(4096, 4096), r(0, 0, 1, 60), r(2014, 0, 2082, 4096)},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := plan(tt.spec, source, tt.box)
			if l.Size != tt.size || l.Window != tt.window || l.Target != tt.target {
				t.Errorf("size %v, window %v, target %v\nwant %v, %v, %v", l.Size, l.Window, l.Target, tt.size, tt.window, tt.target)
			}
		})
	}
}

// Each anchor has a place of its own, and what is none has no place.
func TestAnchors(t *testing.T) {
	t.Parallel()
	seen := map[image.Point]option.Anchor{}
	for _, a := range append(option.Anchors(), "", "elsewhere") {
		l, err := canvas.Spec{Width: 100, Height: 200, Anchor: a}.Plan(image.Pt(10, 10), image.Rectangle{})
		if valid := a != "elsewhere"; valid != (err == nil) {
			t.Errorf("anchor %q: %v", a, err)
		}
		if err != nil {
			continue
		}
		if other, taken := seen[l.Target.Min]; taken && (a != "" || other != option.Anchors()[0]) {
			t.Errorf("anchor %q is where %q is", a, other)
		}
		seen[l.Target.Min] = a
	}
}

func plan(spec canvas.Spec, source image.Point, box image.Rectangle) canvas.Layout {
	l, err := spec.Plan(source, box)
	if err != nil {
		panic(err)
	}
	return l
}

func filled(w, h int, c color.NRGBA) *image.NRGBA {
	img := image.NewNRGBA(image.Rect(0, 0, w, h))
	for i := 0; i < len(img.Pix); i += 4 {
		img.Pix[i], img.Pix[i+1], img.Pix[i+2], img.Pix[i+3] = c.R, c.G, c.B, c.A
	}
	return img
}

func render(spec canvas.Spec, img *image.NRGBA, box image.Rectangle) *image.NRGBA {
	size := img.Rect.Size()
	return canvas.NewRenderer(plan(spec, size, box), size, new(media.Pool)).Render(img)
}

// Without scaling each pixel of the window is copied unchanged, and the area
// outside the picture is background.
func TestRenderCrop(t *testing.T) {
	t.Parallel()
	img := filled(10, 10, color.NRGBA{})
	want := color.NRGBA{10, 200, 30, 77}
	img.SetNRGBA(0, 9, want)
	out := render(canvas.Spec{Crop: true, Pad: 2}, img, image.Rect(0, 9, 1, 10))
	if out.Rect.Size() != image.Pt(5, 5) {
		t.Fatalf("size = %v", out.Rect.Size())
	}
	for y := range 5 {
		for x := range 5 {
			w := color.NRGBA{}
			if x == 2 && y == 2 {
				w = want
			}
			if got := out.NRGBAAt(x, y); got != w {
				t.Errorf("pixel %d,%d = %v, want %v", x, y, got, w)
			}
		}
	}
}

// Reused pictures leave nothing where the source does not reach.
func TestRenderUsedPictures(t *testing.T) {
	t.Parallel()
	box := image.Rect(2, 3, 8, 9)
	for name, spec := range map[string]canvas.Spec{
		"crop":            {Crop: true},
		"crop, padded":    {Crop: true, Pad: 5},
		"crop, even":      {Crop: true, Even: true, Width: 5, Height: 5},
		"scaled, padded":  {Crop: true, Pad: 5, Width: 20},
		"wide canvas":     {Width: 30, Height: 10},
		"wide and scaled": {Crop: true, Width: 50, Height: 20, Anchor: option.Bottom},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			source := image.Pt(10, 10)
			layout := plan(spec, source, box)
			pool := new(media.Pool)
			r := canvas.NewRenderer(layout, source, pool)
			render := func() *image.NRGBA { return r.Render(filled(10, 10, color.NRGBA{90, 80, 70, 128})) }
			want := render()
			for range 3 {
				pool.Put(filled(layout.Size.X, layout.Size.Y, color.NRGBA{255, 0, 255, 255}))
				if got := render(); !slices.Equal(got.Pix, want.Pix) {
					t.Fatal("a used picture shows")
				}
			}
		})
	}
}

// Scaling on straight colour would pull the hidden green of transparent pixels
// into the edge.
func TestScalingIsPremultiplied(t *testing.T) {
	t.Parallel()
	img := filled(40, 40, color.NRGBA{0, 255, 0, 0})
	for y := 10; y < 30; y++ {
		for x := 10; x < 30; x++ {
			img.SetNRGBA(x, y, color.NRGBA{200, 10, 10, 255})
		}
	}
	for _, side := range []int{17, 23, 90} {
		out := render(canvas.Spec{Width: side, Height: side}, img, image.Rectangle{})
		for i := 0; i < len(out.Pix); i += 4 {
			if a := out.Pix[i+3]; a > 40 && out.Pix[i+1] > 20 {
				t.Fatalf("side %d: green %d at alpha %d", side, out.Pix[i+1], a)
			}
		}
		img = filled(40, 40, color.NRGBA{0, 255, 0, 0})
	}
}

func TestFlatten(t *testing.T) {
	t.Parallel()
	img := image.NewNRGBA(image.Rect(0, 0, 3, 1))
	img.SetNRGBA(0, 0, color.NRGBA{255, 255, 255, 0})
	img.SetNRGBA(1, 0, color.NRGBA{200, 100, 0, 128})
	img.SetNRGBA(2, 0, color.NRGBA{1, 2, 3, 255})
	canvas.Flatten(img, color.NRGBA{0, 0, 100, 255})
	want := []uint8{0, 0, 100, 255, 100, 50, 50, 255, 1, 2, 3, 255}
	if d := cmp.Diff(want, img.Pix); d != "" {
		t.Error(d)
	}
}

// The backdrop's colour is gone where alpha is 0, and the subject's colour
// reaches slightly beyond its edge.
func TestBleed(t *testing.T) {
	t.Parallel()
	img := filled(20, 20, color.NRGBA{0, 255, 0, 0})
	img.SetNRGBA(10, 10, color.NRGBA{200, 0, 0, 255})
	canvas.Bleed(img, 2)
	for y := range 20 {
		for x := range 20 {
			c := img.NRGBAAt(x, y)
			if c.G != 0 {
				t.Errorf("green is left at %d,%d", x, y)
			}
			if near := abs(x-10) <= 2 && abs(y-10) <= 2; x != 10 || y != 10 {
				if want := near && x == 10 || near && y == 10; want && c.R != 200 {
					t.Errorf("colour did not reach %d,%d", x, y)
				}
				if c.A != 0 {
					t.Errorf("alpha changed at %d,%d", x, y)
				}
			}
		}
	}
}

// Black is a colour like any other: it stops another colour.
func TestBleedBlack(t *testing.T) {
	t.Parallel()
	img := filled(16, 60, color.NRGBA{0, 255, 0, 0})
	for x := range 16 {
		img.SetNRGBA(x, 0, color.NRGBA{A: 255})
	}
	img.SetNRGBA(8, 40, color.NRGBA{200, 0, 0, 255})
	canvas.Bleed(img, 8)
	coloured := 0
	for y := range 60 {
		for x := range 16 {
			if img.NRGBAAt(x, y).R != 0 {
				coloured++
			}
		}
	}
	if want := 16 + 2*8; coloured != want { // the row, and eight pixels above and below its pixel
		t.Errorf("%d pixels are red, want %d", coloured, want)
	}
}

// Pictures of all kinds give the same result as a plain pixel-by-pixel Bleed.
func TestBleedEveryPixel(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 2))
	for i := range 2000 {
		w, h, reach := 1+r.IntN(60), 1+r.IntN(60), 1+r.IntN(9)
		img := image.NewNRGBA(image.Rect(0, 0, w, h))
		for j := range img.Pix {
			img.Pix[j] = uint8(r.UintN(256))
		}
		for range r.IntN(8) { // areas without a subject
			area := image.Rect(0, 0, 1+r.IntN(20), 1+r.IntN(20)).Add(image.Pt(r.IntN(w), r.IntN(h)))
			draw.Draw(img, area, image.Transparent, image.Point{}, draw.Src)
		}
		for share, j := r.Float64()*r.Float64(), 3; j < len(img.Pix); j += 4 { // and single pixels
			if r.Float64() < share {
				img.Pix[j] = 0
			}
		}
		want := image.NewNRGBA(img.Rect)
		copy(want.Pix, img.Pix)
		bleedEveryPixel(want, reach)
		canvas.Bleed(img, reach)
		if !bytes.Equal(img.Pix, want.Pix) {
			t.Fatalf("picture %d, %d×%d, reach %d, differs", i, w, h, reach)
		}
	}
}

// bleedEveryPixel is Bleed without optimisations.
func bleedEveryPixel(img *image.NRGBA, reach int) {
	w, h := img.Rect.Dx(), img.Rect.Dy()
	hidden := func(x, y int) bool { return img.NRGBAAt(x, y).A == 0 }
	paint := func(x, y int, c color.NRGBA) { img.SetNRGBA(x, y, color.NRGBA{c.R, c.G, c.B, 0}) }
	for y := range h {
		for x := range w {
			if !hidden(x, y) {
				continue
			}
			var c color.NRGBA
			for d := reach; d > 0; d-- { // the nearest one wins, since it comes last; the left one comes first
				if x+d < w && !hidden(x+d, y) {
					c = img.NRGBAAt(x+d, y)
				}
			}
			for d := reach; d > 0; d-- {
				if x-d >= 0 && !hidden(x-d, y) {
					c = img.NRGBAAt(x-d, y)
				}
			}
			paint(x, y, c)
		}
	}
	for x := range w {
		for _, step := range []int{1, -1} {
			left := 0
			for i := 1; i < h; i++ {
				y := i
				if step < 0 {
					y = h - 1 - i
				}
				before := img.NRGBAAt(x, y-step)
				if before.A != 0 {
					left = reach
				}
				if !hidden(x, y) || left == 0 {
					continue
				}
				if img.NRGBAAt(x, y) == (color.NRGBA{}) {
					paint(x, y, before)
				}
				left--
			}
		}
	}
}

func abs(n int) int { return max(n, -n) }

func BenchmarkRender(b *testing.B) {
	for name, spec := range map[string]canvas.Spec{
		"copy":  {Crop: true, Pad: 12},
		"scale": {Width: 320, Height: 180},
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			pool := new(media.Pool)
			size := image.Pt(640, 360)
			r := canvas.NewRenderer(plan(spec, size, image.Rect(50, 50, 500, 300)), size, pool)
			for b.Loop() {
				pool.Put(r.Render(pool.Get(640, 360)))
			}
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "frames/s")
		})
	}
}

func BenchmarkBleed(b *testing.B) {
	square := func(x, y int) bool { return x >= 400 && x < 1300 && y >= 200 && y < 900 }
	for name, visible := range map[string]func(x, y int) bool{
		"square":   square,
		"halftone": func(x, y int) bool { return square(x, y) && (x+y)%2 == 0 },
	} {
		b.Run(name, func(b *testing.B) {
			img := filled(1920, 1080, color.NRGBA{})
			for i := range 1920 * 1080 {
				if x, y := i%1920, i/1920; visible(x, y) {
					img.SetNRGBA(x, y, color.NRGBA{200, 10, 10, 255})
				}
			}
			for b.Loop() {
				canvas.Bleed(img, 4)
			}
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "frames/s")
		})
	}
}
