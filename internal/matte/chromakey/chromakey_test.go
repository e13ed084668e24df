package chromakey_test

import (
	"fmt"
	"image"
	"image/color"
	"testing"

	"github.com/bgremove/bgremove/internal/matte/chromakey"
)

var green = color.NRGBA{50, 168, 74, 255}

// scene is a block of a colour before a green that darkens to the right.
func scene(w, h int, subject color.NRGBA) *image.NRGBA {
	img := image.NewNRGBA(image.Rect(0, 0, w, h))
	for y := range h {
		for x := range w {
			c := subject
			if x < w/4 || x >= w*3/4 || y < h/4 {
				dim := func(v uint8) uint8 { return uint8(int(v) * (2*w - x) / (2 * w)) }
				c = color.NRGBA{dim(green.R), dim(green.G), dim(green.B), 255}
			}
			img.SetNRGBA(x, y, c)
		}
	}
	return img
}

func screenOf(t *testing.T, img *image.NRGBA) chromakey.Screen {
	t.Helper()
	var s chromakey.Survey
	s.Add(img)
	screen := s.Screen()
	if ok, why := screen.Recognise(); !ok {
		t.Fatal(why)
	}
	return screen
}

// TestColours wants skin, greys and other hues to stay whole, and to keep their
// colours to the step.
func TestColours(t *testing.T) {
	t.Parallel()
	screen := screenOf(t, scene(160, 120, color.NRGBA{200, 160, 140, 255}))
	for _, c := range []color.NRGBA{{224, 172, 140, 255}, {96, 60, 44, 255}, {128, 128, 128, 255}, {0, 0, 0, 255}, {255, 255, 255, 255}, {220, 40, 30, 255}, {40, 60, 200, 255}, {240, 210, 60, 255}, {60, 200, 200, 255}, {40, 160, 170, 255}} {
		img := scene(160, 120, c)
		e := chromakey.New(screen, chromakey.Options{})
		m := image.NewAlpha(img.Rect)
		if err := e.Estimate(t.Context(), img, m); err != nil {
			t.Fatal(err)
		}
		e.Decontaminate(img, m, nil)
		for y := range 120 {
			for x := range 160 {
				inside := x >= 40 && x < 120 && y >= 30
				a := m.AlphaAt(x, y).A
				if edge := x >= 39 && x <= 40 || x >= 119 && x <= 120 || y >= 29 && y <= 30; edge {
					continue
				}
				if inside && (a != 255 || img.NRGBAAt(x, y) != c) || !inside && a != 0 {
					t.Fatalf("%v: at %d, %d alpha is %d, colour %v", c, x, y, a, img.NRGBAAt(x, y))
				}
			}
		}
	}
}

// TestSpill wants the screen's light to be taken out of a grey that it falls on.
func TestSpill(t *testing.T) {
	t.Parallel()
	img := scene(160, 120, color.NRGBA{120 + 5, 120 + 17, 120 + 7, 255})
	e := chromakey.New(screenOf(t, img), chromakey.Options{})
	m := image.NewAlpha(img.Rect)
	if err := e.Estimate(t.Context(), img, m); err != nil {
		t.Fatal(err)
	}
	e.Decontaminate(img, m, nil)
	if c := img.NRGBAAt(80, 80); max(c.R, c.G, c.B)-min(c.R, c.G, c.B) > 2 || m.AlphaAt(80, 80).A != 255 {
		t.Errorf("%v, alpha %d", c, m.AlphaAt(80, 80).A)
	}
}

// shadowed is a block of a colour in its shadow on a green screen, with what covers it: the block,
// and the shadow to its right. Its edge goes over 3 pixels, and video has blurred its colour.
func shadowed(w, h int, subject color.NRGBA) (img *image.NRGBA, block, shadow []float64) {
	img, block, shadow = image.NewNRGBA(image.Rect(0, 0, w, h)), make([]float64, w*h), make([]float64, w*h)
	for y := range h {
		for x := range w {
			i := y*w + x
			ramp := func(from, to float64) float64 { return min(max((float64(x)-from)/(to-from), 0), 1) }
			if y >= h/4 {
				block[i] = ramp(40, 43) * (1 - ramp(77, 80))
				shadow[i] = 0.5 * (1 - ramp(100, 130))
			}
			if x < w/2-20 {
				shadow[i] = 0
			}
			mixed := func(s, g uint8) uint8 {
				return uint8(float64(s)*block[i] + float64(g)*(1-block[i])*(1-shadow[i]) + 0.5)
			}
			img.SetNRGBA(x, y, color.NRGBA{mixed(subject.R, green.R), mixed(subject.G, green.G), mixed(subject.B, green.B), 255})
		}
	}
	return bled(img), block, shadow
}

// bled is a picture with its colour, but not its lightness, blurred over 5 pixels of each row.
func bled(img *image.NRGBA) *image.NRGBA {
	out := image.NewNRGBA(img.Rect)
	for y := range img.Rect.Dy() {
		for x := range img.Rect.Dx() {
			var cb, cr int
			for u := x - 2; u <= x+2; u++ {
				c := img.NRGBAAt(min(max(u, 0), img.Rect.Dx()-1), y)
				_, b, r := color.RGBToYCbCr(c.R, c.G, c.B)
				cb, cr = cb+int(b), cr+int(r)
			}
			c := img.NRGBAAt(x, y)
			light, _, _ := color.RGBToYCbCr(c.R, c.G, c.B)
			r, g, b := color.YCbCrToRGB(light, uint8(cb/5), uint8(cr/5))
			out.SetNRGBA(x, y, color.NRGBA{r, g, b, 255})
		}
	}
	return out
}

// TestShadowAtSubject wants the edge between a subject and its shadow to look right on white: no
// line, neither black nor bright.
func TestShadowAtSubject(t *testing.T) {
	t.Parallel()
	const w, h = 160, 120
	for _, subject := range []color.NRGBA{{200, 160, 140, 255}, {120, 110, 105, 255}, {50, 40, 42, 255}} {
		img, block, shadow := shadowed(w, h, subject)
		e := chromakey.New(screenOf(t, img), chromakey.Options{KeepShadow: true})
		m := image.NewAlpha(img.Rect)
		if err := e.Estimate(t.Context(), img, m); err != nil {
			t.Fatal(err)
		}
		e.Decontaminate(img, m, nil)
		worst, where := 0.0, 0
		for i, a := range m.Pix {
			x, y := i%w, i/w
			if x < 36 || x > 90 || y < h/4+3 {
				continue
			}
			for k, own := range []uint8{subject.R, subject.G, subject.B} {
				want := float64(own)*block[i] + 255*(1-block[i])*(1-shadow[i])
				got := (float64(img.Pix[4*i+k])*float64(a) + 255*(255-float64(a))) / 255
				if d := max(got-want, want-got); d > worst {
					worst, where = d, x
				}
			}
		}
		if worst > 45 {
			t.Errorf("%v: column %d is off by %.0f", subject, where, worst)
		}
	}
}

// TestNoScreen wants pictures without a screen not to be taken for one.
func TestNoScreen(t *testing.T) {
	t.Parallel()
	lawn := scene(160, 120, color.NRGBA{90, 80, 60, 255})
	for i := 0; i < len(lawn.Pix); i += 4 {
		rough := uint8(i * 7919 % 61)
		lawn.Pix[i], lawn.Pix[i+1], lawn.Pix[i+2] = 40+rough, 90+rough/2, 20+rough/3
	}
	grey := image.NewNRGBA(image.Rect(0, 0, 160, 120))
	for i := range grey.Pix {
		grey.Pix[i] = 128
	}
	for name, img := range map[string]*image.NRGBA{"lawn": lawn, "grey": grey, "tiny": image.NewNRGBA(image.Rect(0, 0, 9, 9))} {
		var s chromakey.Survey
		s.Add(img)
		screen := s.Screen()
		if ok, why := screen.Recognise(); ok {
			t.Errorf("%s: %s", name, why)
		}
	}
}

// TestSizes wants pictures of all sizes to be taken, and others than the matte's
// refused.
func TestSizes(t *testing.T) {
	t.Parallel()
	screen := screenOf(t, scene(160, 120, color.NRGBA{200, 160, 140, 255}))
	e := chromakey.New(screen, chromakey.Options{KeepShadow: true})
	for _, size := range [][2]int{{0, 0}, {1, 1}, {1, 9}, {3, 2}, {17, 31}, {161, 119}} {
		t.Run(fmt.Sprint(size), func(t *testing.T) {
			t.Parallel()
			img := scene(size[0], size[1], color.NRGBA{200, 160, 140, 255})
			m := image.NewAlpha(img.Rect)
			if err := e.Estimate(t.Context(), img, m); err != nil {
				t.Error(err)
			}
			e.Decontaminate(img, m, nil)
			if err := e.Estimate(t.Context(), img, image.NewAlpha(image.Rect(0, 0, 7, 7))); err == nil {
				t.Error("a matte of another size is taken")
			}
		})
	}
}

func BenchmarkEstimate(b *testing.B) {
	img := scene(1920, 1080, color.NRGBA{200, 160, 140, 255})
	s := chromakey.Survey{Luma: [3]float64{0.2126, 0.7152, 0.0722}}
	s.Add(img)
	e, m := chromakey.New(s.Screen(), chromakey.Options{}), image.NewAlpha(img.Rect)
	b.ReportAllocs()
	for b.Loop() {
		if err := e.Estimate(b.Context(), img, m); err != nil {
			b.Fatal(err)
		}
	}
}
