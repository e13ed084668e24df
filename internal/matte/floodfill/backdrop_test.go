package floodfill_test

import (
	"image"
	"image/color"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/bgremove/bgremove/internal/matte/floodfill"
	"github.com/bgremove/bgremove/internal/synth"
)

func TestSurveyFindsTheBackdrop(t *testing.T) {
	t.Parallel()
	grey := color.NRGBA{120, 121, 122, 255}
	bust := flat(160, 90, grey) // the subject covers the bottom edge and more
	paint(bust, image.Rect(0, 70, 160, 90), color.NRGBA{230, 20, 60, 255})
	for _, tt := range []struct {
		name  string
		img   *image.NRGBA
		want  [3]float64
		noise [2]float64
	}{
		{"plain", flat(160, 90, grey), [3]float64{120, 121, 122}, [2]float64{0, 0}},
		{"noisy", synth.Noise(flat(640, 360, grey), 4, 1), [3]float64{120, 121, 122}, [2]float64{3.5, 4.5}},
		{"subject at the bottom", bust, [3]float64{120, 121, 122}, [2]float64{0, 0}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			var s floodfill.Survey
			s.Add(tt.img)
			b := s.Backdrop()
			for k := range b.Colour {
				if math.Abs(b.Colour[k]-tt.want[k]) > 0.3 {
					t.Errorf("colour %v, want %v", b.Colour, tt.want)
				}
			}
			if b.Noise < tt.noise[0] || b.Noise > tt.noise[1] {
				t.Errorf("noise %.2f, want %v", b.Noise, tt.noise)
			}
			if ok, reason := b.Flatness(); !ok || !strings.Contains(reason, "#78797a") {
				t.Errorf("judged not flat: %s", reason)
			}
		})
	}
}

// In a clip that was cut out before, what stands at the border is the subject,
// and nothing of it is backdrop, however small and dark.
func TestCutOutBefore(t *testing.T) {
	t.Parallel()
	bust := flat(120, 120, color.NRGBA{})
	paint(bust, image.Rect(20, 60, 100, 120), color.NRGBA{40, 40, 160, 255})
	paint(bust, image.Rect(10, 10, 14, 14), color.NRGBA{0, 0, 0, 255})
	var s floodfill.Survey
	s.Add(bust)
	b := s.Backdrop()
	if ok, reason := b.Flatness(); !b.Transparent || !ok || reason != "the border is transparent" {
		t.Errorf("%+v: %v, %s", b, ok, reason)
	}
	m := image.NewAlpha(bust.Rect)
	if err := floodfill.New(b, floodfill.Options{}).Estimate(t.Context(), bust, m); err != nil {
		t.Fatal(err)
	}
	for i, a := range m.Pix {
		if a != bust.Pix[4*i+3] {
			t.Fatalf("pixel %d has %d, and had alpha %d", i, a, bust.Pix[4*i+3])
		}
	}
}

func TestSurveyKeepsTheKey(t *testing.T) {
	t.Parallel()
	s := floodfill.Survey{Key: &color.NRGBA{1, 2, 3, 255}}
	s.Add(flat(20, 20, synth.White))
	b := s.Backdrop()
	if b.Colour != [3]float64{1, 2, 3} || b.Flat != 0 {
		t.Errorf("got %+v", b)
	}
}

func TestSlopeIsFlat(t *testing.T) {
	t.Parallel()
	gradient := flat(160, 90, synth.White)
	for i := range 160 * 90 {
		v := uint8(i % 160)
		paint(gradient, image.Rect(i%160, i/160, i%160+1, i/160+1), color.NRGBA{v, v / 2, 200 - v, 255})
	}
	var s floodfill.Survey
	s.Add(gradient)
	if ok, reason := s.Backdrop().Flatness(); !ok || !strings.Contains(reason, "slope") {
		t.Errorf("ok %v, reason %q", ok, reason)
	}
}

func TestFlatnessRefuses(t *testing.T) {
	t.Parallel()
	waves, noise := flat(160, 90, synth.White), flat(160, 90, synth.White)
	spots := flat(160, 90, color.NRGBA{120, 121, 122, 255})
	rng := rand.New(rand.NewPCG(1, 2))
	for i := range 160 * 90 {
		v := uint8(100 + 90*math.Sin(float64(i%160)/9))
		paint(waves, image.Rect(i%160, i/160, i%160+1, i/160+1), color.NRGBA{v, v / 2, 200 - v, 255})
		r := uint8(rng.IntN(256))
		paint(noise, image.Rect(i%160, i/160, i%160+1, i/160+1), color.NRGBA{r, r, 255 - r, 255})
	}
	for x := 0; x < 160; x += 10 { // a fifth is another colour, another fifth is nearly the backdrop's
		paint(spots, image.Rect(x, 0, x+2, 90), color.NRGBA{200, 40, 40, 255})
		paint(spots, image.Rect(x+4, 0, x+6, 90), color.NRGBA{132, 133, 134, 255})
	}
	for _, tt := range []struct {
		name   string
		frames []*image.NRGBA
		want   string
	}{
		{"waves", []*image.NRGBA{waves}, "not flat"},
		{"noise", []*image.NRGBA{noise}, "not flat"},
		{"spots", []*image.NRGBA{spots}, "differs by"},
		{"cut to another backdrop", []*image.NRGBA{flat(9, 9, synth.White), flat(9, 9, synth.White), flat(9, 9, synth.Black)}, "not steady"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			var s floodfill.Survey
			for _, f := range tt.frames {
				s.Add(f)
			}
			if ok, reason := s.Backdrop().Flatness(); ok || !strings.Contains(reason, tt.want) {
				t.Errorf("ok %v, reason %q", ok, reason)
			}
		})
	}
}

// TestRinging: compression is seen, and only compression.
func TestRinging(t *testing.T) {
	t.Parallel()
	for _, s := range []synth.Subject{synth.Discs, synth.Strokes, synth.Soft} {
		p := synth.Clip{Width: 640, Height: 360, Frames: 1, Backdrop: synth.White, Subject: s}.Frame(0)
		jpeg, err := synth.JPEG(p.Image, 80)
		if err != nil {
			t.Fatal(err)
		}
		for _, tt := range []struct {
			name string
			img  *image.NRGBA
			want bool
		}{{"clean", p.Image, false}, {"noise", synth.Noise(p.Image, 3, 1), false}, {"palette", synth.Palette(p.Image, 64), false}, {"jpeg", jpeg, true}} {
			var survey floodfill.Survey
			survey.Add(tt.img)
			if got := survey.Backdrop().Ringing; (got > 2) != tt.want {
				t.Errorf("%v, %s: ringing %.2f", s, tt.name, got)
			}
		}
	}
}
