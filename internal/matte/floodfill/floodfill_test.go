package floodfill_test

import (
	"bytes"
	"context"
	"image"
	"image/color"
	"sync"
	"testing"

	"github.com/bgremove/bgremove/internal/matte"
	"github.com/bgremove/bgremove/internal/matte/floodfill"
	"github.com/bgremove/bgremove/internal/synth"
)

var _ matte.Estimator = (*floodfill.Estimator)(nil)

// flat returns a w×h picture of one colour.
func flat(w, h int, c color.NRGBA) *image.NRGBA {
	img := image.NewNRGBA(image.Rect(0, 0, w, h))
	paint(img, img.Rect, c)
	return img
}

func paint(img *image.NRGBA, r image.Rectangle, c color.NRGBA) {
	for y := r.Min.Y; y < r.Max.Y; y++ {
		for x := r.Min.X; x < r.Max.X; x++ {
			img.SetNRGBA(x, y, c)
		}
	}
}

func estimate(t *testing.T, img *image.NRGBA, o floodfill.Options) *image.Alpha {
	t.Helper()
	var s floodfill.Survey
	s.Add(img)
	m := image.NewAlpha(img.Rect)
	if err := floodfill.New(s.Backdrop(), o).Estimate(t.Context(), img, m); err != nil {
		t.Fatal(err)
	}
	return m
}

func TestHolePolicies(t *testing.T) {
	t.Parallel()
	red := color.NRGBA{200, 30, 30, 255}
	small, large := image.Rect(30, 30, 34, 34), image.Rect(50, 30, 80, 60)
	img := flat(100, 100, synth.Green)
	paint(img, image.Rect(20, 20, 90, 90), red)
	paint(img, small, synth.Green)
	paint(img, large, synth.Green)
	for _, tt := range []struct {
		name         string
		holes        floodfill.Holes
		small, large uint8
	}{
		{"auto", floodfill.HolesAuto, 255, 0},
		{"keep", floodfill.HolesKeep, 255, 255},
		{"remove", floodfill.HolesRemove, 0, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			m := estimate(t, img, floodfill.Options{Holes: tt.holes})
			for y := range 100 {
				for x := range 100 {
					p := image.Pt(x, y)
					want := uint8(0)
					switch {
					case p.In(small):
						want = tt.small
					case p.In(large):
						want = tt.large
					case p.In(image.Rect(20, 20, 90, 90)):
						want = 255
					}
					if got := m.AlphaAt(x, y).A; got != want {
						t.Fatalf("matte at %v is %d, want %d", p, got, want)
					}
				}
			}
		})
	}
}

// TestSameColourInsideSurvives looks at every pixel that the subject covers
// fully and that has exactly the backdrop's colour.
func TestSameColourInsideSurvives(t *testing.T) {
	t.Parallel()
	for _, s := range []synth.Subject{synth.Eye, synth.Window} {
		for _, b := range backdrops {
			c := synth.Clip{Width: 640, Height: 360, Frames: 5, Backdrop: b.clip.Backdrop, Subject: s}
			t.Run(s.String()+"/"+b.name, func(t *testing.T) {
				t.Parallel()
				p := c.Frame(2)
				m := estimate(t, p.Image, floodfill.Options{})
				n := 0
				for i, a := range p.Alpha.Pix {
					if a == 255 && [4]uint8(p.Image.Pix[4*i:]) == [4]uint8{c.Backdrop.R, c.Backdrop.G, c.Backdrop.B, 255} {
						n++
						if m.Pix[i] != 255 {
							t.Fatalf("pixel %d,%d inside the subject has matte %d", i%640, i/640, m.Pix[i])
						}
					}
				}
				if n < 100 {
					t.Fatalf("only %d pixels of the backdrop's colour inside the subject", n)
				}
			})
		}
	}
}

// TestStillClipDoesNotFlicker bounds the change of the matte of a still clip
// under noise of ±3.
func TestStillClipDoesNotFlicker(t *testing.T) {
	t.Parallel()
	for _, s := range synth.Subjects {
		t.Run(s.String(), func(t *testing.T) {
			t.Parallel()
			p := synth.Clip{Width: 640, Height: 360, Frames: 1, Backdrop: synth.Blue, Subject: s, Still: true}.Frame(0)
			var frames []*image.NRGBA
			var survey floodfill.Survey
			for i := range 4 {
				frames = append(frames, synth.Noise(p.Image, 3, uint64(i)))
				survey.Add(frames[i])
			}
			e := floodfill.New(survey.Backdrop(), floodfill.Options{})
			var last *image.Alpha
			worst := 0.0
			for _, f := range frames {
				m := image.NewAlpha(f.Rect)
				if err := e.Estimate(t.Context(), f, m); err != nil {
					t.Fatal(err)
				}
				if last != nil {
					worst = max(worst, synth.MeanError(m, last))
				}
				last = m
			}
			t.Logf("mean change %.6f", worst)
			if worst > 0.001 {
				t.Errorf("mean change of alpha is %.5f", worst)
			}
		})
	}
}

func TestTolerance(t *testing.T) {
	t.Parallel()
	img := flat(60, 60, color.NRGBA{100, 100, 100, 255})
	paint(img, image.Rect(20, 20, 40, 40), color.NRGBA{100, 120, 100, 255})
	for _, tt := range []struct {
		tolerance int
		want      uint8
	}{{0, 255}, {8, 255}, {19, 255}, {20, 0}, {32, 0}} {
		m := estimate(t, img, floodfill.Options{Tolerance: tt.tolerance, Holes: floodfill.HolesRemove})
		if got := m.AlphaAt(30, 30).A; got != tt.want {
			t.Errorf("tolerance %d: matte inside is %d, want %d", tt.tolerance, got, tt.want)
		}
	}
}

// TestSourceTransparency: transparent pixels are backdrop whatever their
// colour, and where the whole border is transparent no colour is.
func TestSourceTransparency(t *testing.T) {
	t.Parallel()
	black := color.NRGBA{0, 0, 0, 255}
	cut := flat(40, 40, color.NRGBA{})
	paint(cut, image.Rect(0, 0, 40, 8), color.NRGBA{A: 7}) // as VP9 leaves it
	paint(cut, image.Rect(10, 10, 30, 30), black)
	m := estimate(t, cut, floodfill.Options{})
	if m.AlphaAt(10, 10).A != 255 || m.AlphaAt(20, 20).A != 255 || m.AlphaAt(5, 5).A != 0 {
		t.Errorf("cut out before: corner %d, inside %d, outside %d", m.AlphaAt(10, 10).A, m.AlphaAt(20, 20).A, m.AlphaAt(5, 5).A)
	}
	half := flat(40, 40, synth.White)
	paint(half, image.Rect(10, 10, 30, 30), black)
	paint(half, image.Rect(0, 15, 20, 25), color.NRGBA{200, 0, 0, 0})
	m = estimate(t, half, floodfill.Options{})
	if m.AlphaAt(15, 20).A != 0 || m.AlphaAt(25, 20).A != 255 {
		t.Errorf("transparent bay %d, subject %d", m.AlphaAt(15, 20).A, m.AlphaAt(25, 20).A)
	}
}

// TestConcurrentUse runs one estimator from several goroutines; each must see
// what a lone one does.
func TestConcurrentUse(t *testing.T) {
	t.Parallel()
	c := synth.Clip{Width: 160, Height: 90, Frames: 4, Backdrop: synth.White}
	var survey floodfill.Survey
	survey.Add(c.Frame(0).Image)
	e := floodfill.New(survey.Backdrop(), floodfill.Options{})
	var wg sync.WaitGroup
	for i := range 4 {
		img := c.Frame(i).Image
		want := image.NewAlpha(img.Rect)
		if err := floodfill.New(survey.Backdrop(), floodfill.Options{}).Estimate(t.Context(), img, want); err != nil {
			t.Fatal(err)
		}
		wg.Go(func() {
			for range 20 {
				got := image.NewAlpha(img.Rect)
				if err := e.Estimate(t.Context(), img, got); err != nil || !bytes.Equal(got.Pix, want.Pix) {
					t.Errorf("frame %d differs from a lone run (error %v)", i, err)
					return
				}
			}
		})
	}
	wg.Wait()
}

func TestEstimateRefuses(t *testing.T) {
	t.Parallel()
	e := floodfill.New(floodfill.Backdrop{}, floodfill.Options{})
	img := flat(4, 4, synth.White)
	if err := e.Estimate(t.Context(), img, image.NewAlpha(image.Rect(0, 0, 3, 4))); err == nil {
		t.Error("a matte of another size is accepted")
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := e.Estimate(ctx, img, image.NewAlpha(img.Rect)); err == nil {
		t.Error("a cancelled context is ignored")
	}
}

func FuzzEstimate(f *testing.F) {
	f.Add([]byte{1, 1, 0, 0, 9, 200, 30}, true)
	f.Add([]byte{1, 40, 7, 1, 0, 255, 30, 20, 10}, false)
	f.Add([]byte{37, 19, 250, 2, 90, 3, 200, 30, 1, 1, 0, 255}, true)
	f.Fuzz(func(t *testing.T, data []byte, ringing bool) {
		if len(data) < 5 {
			return
		}
		img := image.NewNRGBA(image.Rect(0, 0, int(data[0])%50, int(data[1])%50))
		for i := range img.Pix {
			img.Pix[i] = data[(i*7+i/len(data))%len(data)]
		}
		var s floodfill.Survey
		s.Add(img)
		b := s.Backdrop()
		if ringing {
			b.Ringing = float64(data[2])
		}
		e := floodfill.New(b, floodfill.Options{Tolerance: int(data[3]), Holes: floodfill.Holes(data[4] % 3)})
		m := image.NewAlpha(img.Rect)
		for range 2 {
			if err := e.Estimate(t.Context(), img, m); err != nil {
				t.Fatal(err)
			}
		}
		e.Decontaminate(img, m, nil)
	})
}
