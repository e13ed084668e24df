package scene_test

import (
	"image"
	"image/color"
	"slices"
	"testing"

	"github.com/bgremove/bgremove/internal/canvas"
	"github.com/bgremove/bgremove/internal/scene"
)

// plain is a picture of one colour.
func plain(size image.Point, c color.NRGBA) *image.NRGBA {
	img := image.NewNRGBA(image.Rectangle{Max: size})
	for i := range size.X * size.Y {
		img.SetNRGBA(i%size.X, i/size.X, c)
	}
	return img
}

// noise is a picture of all sorts of colours around one, of all alphas.
func noise(size image.Point, around color.NRGBA, width int) *image.NRGBA {
	img := image.NewNRGBA(image.Rectangle{Max: size})
	state := uint32(1)
	next := func(v uint8) uint8 {
		state = state*1664525 + 1013904223
		return uint8(min(max(int(v)+int(state>>16)%(2*width+1)-width, 0), 255))
	}
	for i := 0; i < len(img.Pix); i += 4 {
		img.Pix[i], img.Pix[i+1], img.Pix[i+2] = next(around.R), next(around.G), next(around.B)
		img.Pix[i+3] = uint8(i / 4 % 256)
	}
	return img
}

func clone(img *image.NRGBA) *image.NRGBA {
	return &image.NRGBA{Pix: slices.Clone(img.Pix), Stride: img.Stride, Rect: img.Rect}
}

// means are those of the channels where alpha is at least a half.
func means(img *image.NRGBA) (m [3]float64) {
	n := 0.0
	for i := 0; i < len(img.Pix); i += 4 {
		if img.Pix[i+3] >= 128 {
			n++
			for c := range 3 {
				m[c] += float64(img.Pix[i+c])
			}
		}
	}
	for c := range m {
		m[c] /= n
	}
	return m
}

var (
	grey   = color.NRGBA{128, 128, 128, 255}
	warm   = color.NRGBA{240, 150, 60, 255}
	night  = color.NRGBA{16, 24, 60, 255}
	ivory  = color.NRGBA{255, 255, 255, 255}
	square = image.Pt(64, 64)
)

// The subject goes towards the backdrop in light and colour, but only a little; alpha
// stays.
func TestHarmony(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		backdrop color.NRGBA
		r, g, b  int // the sign of each channel's change
	}{
		"warm": {warm, 1, 0, -1}, "night": {night, -1, -1, -1}, "white": {ivory, 1, 1, 1}, "black": {black, -1, -1, -1},
	} {
		img := noise(square, grey, 50)
		before := clone(img)
		h := scene.Harmonise(scene.ToneOf(img), scene.ToneOf(plain(square, c.backdrop)), nil)
		h.Apply(img, nil)
		was, is := means(before), means(img)
		for i, sign := range []int{c.r, c.g, c.b} {
			d := is[i] - was[i]
			if sign != 0 && d*float64(sign) < 2 || d > 40 || d < -40 {
				t.Errorf("%s: channel %d goes from %.0f to %.0f", name, i, was[i], is[i])
			}
		}
		for i := 3; i < len(img.Pix); i += 4 {
			if img.Pix[i] != before.Pix[i] {
				t.Fatalf("%s: alpha %d becomes %d", name, before.Pix[i], img.Pix[i])
			}
		}
	}
}

// Whatever subject and backdrop are, no colour changes much, black stays black, white is
// no darker than the limit of light allows, and greys keep their order.
func TestHarmonyIsBounded(t *testing.T) {
	t.Parallel()
	all := []color.NRGBA{black, ivory, grey, red, blue, warm, night, {0, 255, 0, 255}, {255, 255, 0, 255}}
	for _, own := range all {
		for _, other := range all {
			for _, width := range []int{0, 40, 128} {
				h := scene.Harmonise(scene.ToneOf(noise(square, own, width)), scene.ToneOf(noise(square, other, 128-width)), nil)
				colours := image.NewNRGBA(image.Rect(0, 0, 9*9, 9))
				for i := range 9 * 9 * 9 {
					colours.SetNRGBA(i%81, i/81, color.NRGBA{uint8(i % 9 * 255 / 8), uint8(i / 9 % 9 * 255 / 8), uint8(i / 81 * 255 / 8), 255})
				}
				before := clone(colours)
				h.Apply(colours, nil)
				for i, v := range colours.Pix {
					if d := int(v) - int(before.Pix[i]); d > 110 || d < -110 {
						t.Fatalf("%v on %v: %v becomes %v", own, other, before.Pix[i/4*4:][:4], colours.Pix[i/4*4:][:4])
					}
				}
				if got := colours.NRGBAAt(0, 0); got != black {
					t.Errorf("%v on %v: black becomes %v", own, other, got)
				}
				ramp := image.NewNRGBA(image.Rect(0, 0, 256, 1))
				for i := range 256 {
					ramp.SetNRGBA(i, 0, color.NRGBA{uint8(i), uint8(i), uint8(i), 255})
				}
				h.Apply(ramp, nil)
				for i := 4; i < len(ramp.Pix); i++ {
					if ramp.Pix[i] < ramp.Pix[i-4] {
						t.Fatalf("%v on %v: grey %d becomes %v, after %v", own, other, i/4, ramp.Pix[i/4*4:][:4], ramp.Pix[i/4*4-4:][:4])
					}
				}
			}
		}
	}
}

// A backdrop without colour gives none: greys stay grey, and red is as red as before.
func TestHarmonyWithGreyHasNoTint(t *testing.T) {
	t.Parallel()
	for _, backdrop := range []color.NRGBA{black, grey, ivory} {
		h := scene.Harmonise(scene.ToneOf(plain(square, red)), scene.ToneOf(plain(square, backdrop)), nil)
		img := plain(square, color.NRGBA{90, 90, 90, 255})
		h.Apply(img, nil)
		if p := img.Pix; max(p[0], p[1], p[2])-min(p[0], p[1], p[2]) > 1 {
			t.Errorf("on %v grey becomes %v", backdrop, p[:4])
		}
	}
}

// A subject that is like its backdrop stays as it is, to the bit. So does one without
// a subject or a backdrop to compare.
func TestNoHarmonyNeeded(t *testing.T) {
	t.Parallel()
	img := noise(square, warm, 60)
	before := clone(img)
	tone := scene.ToneOf(img)
	scene.Harmonise(tone, tone, nil).Apply(img, nil)
	none := scene.ToneOf(image.NewNRGBA(image.Rectangle{Max: square}))
	for name, h := range map[string]*scene.Harmony{
		"no subject": scene.Harmonise(none, tone, nil), "no backdrop": scene.Harmonise(tone, scene.Tone{}, nil),
	} {
		if h != nil || !none.Empty() {
			t.Errorf("%s: there is a harmony", name)
		}
		h.Apply(img, nil)
	}
	if !slices.Equal(img.Pix, before.Pix) {
		t.Error("it is changed")
	}
}

// A harmony is kept while it hardly changes.
func TestHarmonyIsKept(t *testing.T) {
	t.Parallel()
	subject, backdrop := scene.ToneOf(noise(square, grey, 50)), scene.ToneOf(plain(square, warm))
	h := scene.Harmonise(subject, backdrop, nil)
	if scene.Harmonise(subject, backdrop, h) != h {
		t.Error("the same tones have another harmony")
	}
	if other := scene.Harmonise(subject, scene.ToneOf(plain(square, night)), h); other == h || other == nil {
		t.Error("another backdrop has the same harmony")
	}
}

// The subject's tone is that of what the matte keeps.
func TestToneOfSubject(t *testing.T) {
	t.Parallel()
	img := halves(64, 64)
	m := image.NewAlpha(img.Rect)
	for i := range m.Pix {
		if i%64 < 32 {
			m.Pix[i] = 255
		} else {
			m.Pix[i] = 100
		}
	}
	on := scene.ToneOf(plain(square, grey))
	a, b := plain(square, grey), plain(square, grey)
	scene.Harmonise(on, scene.ToneOfSubject(img, m), nil).Apply(a, nil)
	scene.Harmonise(on, scene.ToneOf(plain(square, red)), nil).Apply(b, nil)
	if a.NRGBAAt(0, 0) != b.NRGBAAt(0, 0) || a.NRGBAAt(0, 0) == grey {
		t.Errorf("the red half makes %v, red %v", a.NRGBAAt(0, 0), b.NRGBAAt(0, 0))
	}
	clear(m.Pix)
	if !scene.ToneOfSubject(img, m).Empty() {
		t.Error("an empty matte has a tone")
	}
}

// lit is what a light does to a grey subject on a canvas of 240×240, beside an edge at
// 120 that goes from top to bottom.
func lit(t *testing.T, s scene.Scene, frame *image.NRGBA) *image.NRGBA {
	t.Helper()
	size := image.Pt(240, 240)
	pass, err := s.Open(t.Context(), scene.Plain(size))
	if err != nil {
		t.Fatal(err)
	}
	defer pass.Close()
	shot, err := pass.At(t.Context(), 0)
	if err != nil {
		t.Fatal(err)
	}
	shot.See(frame, image.NewAlpha(frame.Rect))
	img := subjectBeside(size)
	tone := scene.ToneOf(img)
	scene.Harmonise(tone, tone, nil).Apply(img, shot.Light()) // the light alone
	return img
}

func subjectBeside(size image.Point) *image.NRGBA {
	img := image.NewNRGBA(image.Rectangle{Max: size})
	for y := range size.Y {
		for x := size.X / 2; x < size.X; x++ {
			img.SetNRGBA(x, y, grey)
		}
	}
	return img
}

// Light comes around the subject's edge, less with each pixel, and not around the
// canvas's. It only brightens.
func TestLightWrap(t *testing.T) {
	t.Parallel()
	frame := plain(image.Pt(240, 240), ivory)
	picture, _ := scene.Picture(frame, "")
	for name, s := range map[string]scene.Scene{"colour": scene.Colour(ivory), "picture": picture, "blur": scene.Blur{Radius: 3}} {
		img := lit(t, s, frame)
		for y := range 240 {
			last := uint8(255)
			for x := 120; x < 240; x++ {
				got := img.NRGBAAt(x, y)
				if got.R > last || got.R < grey.R || got.R != got.B || got.A != 255 {
					t.Fatalf("%s: %d,%d is %v after %d", name, x, y, got, last)
				}
				last = got.R
			}
			if edge, inside := img.NRGBAAt(120, y), img.NRGBAAt(132, y); edge.R < 140 || edge.R > 180 || inside != grey {
				t.Fatalf("%s: the edge is %v, far inside is %v", name, edge, inside)
			}
		}
	}
	if got := lit(t, scene.Colour(black), frame); !slices.Equal(got.Pix, subjectBeside(image.Pt(240, 240)).Pix) {
		t.Error("black shines")
	}
}

// In small pictures nothing shines: pixel art stays crisp.
func TestNoLightWrapInPixelArt(t *testing.T) {
	t.Parallel()
	pass, err := scene.Colour(ivory).Open(t.Context(), scene.Plain(square))
	if err != nil {
		t.Fatal(err)
	}
	shot, err := pass.At(t.Context(), 0)
	if err != nil {
		t.Fatal(err)
	}
	img := subjectBeside(square)
	before := clone(img)
	tone := scene.ToneOf(img)
	scene.Harmonise(tone, tone, nil).Apply(img, shot.Light())
	if !slices.Equal(img.Pix, before.Pix) {
		t.Error("it shines")
	}
}

// The light of a blur is that of what it draws, wherever the frame lies.
func TestLightOfBlur(t *testing.T) {
	t.Parallel()
	frame := halves(200, 100)
	l := canvas.Layout{Size: image.Pt(300, 300), Window: image.Rect(-20, 10, 130, 110), Target: image.Rect(0, 50, 300, 250)}
	pass, err := scene.Blur{Radius: 4}.Open(t.Context(), l)
	if err != nil {
		t.Fatal(err)
	}
	shot, err := pass.At(t.Context(), 0)
	if err != nil {
		t.Fatal(err)
	}
	shot.See(frame, image.NewAlpha(frame.Rect))
	tone := shot.Light().Tone()
	drawn := image.NewNRGBA(image.Rectangle{Max: l.Size})
	shot.Under(drawn)
	h := scene.Harmonise(scene.ToneOf(plain(square, grey)), tone, nil)
	if scene.Harmonise(scene.ToneOf(plain(square, grey)), scene.ToneOf(drawn), h) != h {
		t.Error("the light is of another picture than the one that is drawn")
	}
}

func BenchmarkHarmony1080(b *testing.B) {
	size := image.Pt(1920, 1080)
	from := image.NewNRGBA(image.Rectangle{Max: size})
	draw := noise(image.Pt(700, 880), grey, 100)
	for y := range 880 {
		copy(from.Pix[from.PixOffset(600, 200+y):], draw.Pix[y*draw.Stride:][:draw.Stride])
		for x := 600; x < 1300; x++ {
			from.Pix[from.PixOffset(x, 200+y)+3] = 255
		}
	}
	matte := image.NewAlpha(from.Rect)
	for i := range matte.Pix {
		matte.Pix[i] = from.Pix[4*i+3]
	}
	pass, _ := scene.Gradient(warm, night, 90).Open(b.Context(), scene.Plain(size))
	shot, _ := pass.At(b.Context(), 0)
	light := shot.Light()
	h := scene.Harmonise(scene.ToneOf(from), light.Tone(), nil)
	img := clone(from)
	for name, f := range map[string]func(){
		"tone":    func() { scene.ToneOfSubject(from, matte) },
		"table":   func() { scene.Harmonise(scene.ToneOf(draw), light.Tone(), nil) },
		"colours": func() { copy(img.Pix, from.Pix); h.Apply(img, nil) },
		"wrapped": func() { copy(img.Pix, from.Pix); h.Apply(img, light) },
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				f()
			}
		})
	}
}
