package floodfill_test

import (
	"fmt"
	"image"
	"testing"

	"github.com/bgremove/bgremove/internal/matte/floodfill"
	"github.com/bgremove/bgremove/internal/synth"
)

var backdrops = []struct {
	name string
	clip synth.Clip
}{
	{"green", synth.Clip{Backdrop: synth.Green}},
	{"white", synth.Clip{Backdrop: synth.White}},
	{"black", synth.Clip{Backdrop: synth.Black}},
	{"blue", synth.Clip{Backdrop: synth.Blue}},
}

// bound is what a clip must reach: least IoU, largest mean error of the matte,
// largest colour error at the edge in 1/255.
type bound struct{ iou, mae, colour float64 }

var degradations = []struct {
	name   string
	spoil  func(t *testing.T, img *image.NRGBA, i int) *image.NRGBA
	others bound // of the subjects that are not listed
	bounds map[synth.Subject]bound
}{
	{"clean", func(_ *testing.T, img *image.NRGBA, _ int) *image.NRGBA { return synth.Noise(img, 0, 0) },
		bound{0.998, 0.0004, 2}, map[synth.Subject]bound{
			synth.Lines: {0.99, 0.0005, 6},
		}},
	{"noise3", func(_ *testing.T, img *image.NRGBA, i int) *image.NRGBA { return synth.Noise(img, 3, uint64(i)) },
		bound{0.997, 0.0006, 3}, map[synth.Subject]bound{
			synth.Lines:   {0.984, 0.001, 10},
			synth.Strokes: {0.994, 0.0006, 3},
		}},
	{"gif64", func(_ *testing.T, img *image.NRGBA, _ int) *image.NRGBA { return synth.Palette(img, 64) },
		bound{0.99, 0.002, 10}, map[synth.Subject]bound{
			synth.Lines:   {0.97, 0.0015, 9},
			synth.Soft:    {0.98, 0.005, 16},
			synth.Strokes: {0.98, 0.0015, 4},
		}},
	{"jpeg90", jpegOf(90), bound{0.985, 0.003, 8.5}, map[synth.Subject]bound{
		synth.Lines:   {0.76, 0.009, 60},
		synth.Strokes: {0.84, 0.011, 12},
	}},
	{"jpeg75", jpegOf(75), bound{0.984, 0.004, 13}, map[synth.Subject]bound{
		synth.Lines:   {0.73, 0.011, 66},
		synth.Strokes: {0.74, 0.022, 17},
	}},
}

func jpegOf(quality int) func(*testing.T, *image.NRGBA, int) *image.NRGBA {
	return func(t *testing.T, img *image.NRGBA, _ int) *image.NRGBA {
		out, err := synth.JPEG(img, quality)
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
}

func TestQuality(t *testing.T) {
	t.Parallel()
	for _, s := range synth.Subjects {
		for _, b := range backdrops {
			c := synth.Clip{Width: 640, Height: 360, Frames: 20, Backdrop: b.clip.Backdrop, Subject: s}
			t.Run(fmt.Sprintf("%v/%s", s, b.name), func(t *testing.T) {
				t.Parallel()
				pics := []synth.Picture{c.Frame(1), c.Frame(7)}
				for _, d := range degradations {
					var imgs []*image.NRGBA
					for i, p := range pics {
						imgs = append(imgs, d.spoil(t, p.Image, i))
					}
					got := measure(t, imgs, pics)
					t.Logf("%-7v on %-5s %-7s IoU %.4f MAE %.5f colour %5.2f", s, b.name, d.name, got.iou, got.mae, got.colour)
					want, ok := d.bounds[s]
					if !ok {
						want = d.others
					}
					if got.iou < want.iou || got.mae > want.mae || got.colour > want.colour {
						t.Errorf("%s: got %+v, want at least %+v", d.name, got, want)
					}
				}
			})
		}
	}
}

// measure cuts imgs out and returns the worst of all frames. It changes imgs.
func measure(t *testing.T, imgs []*image.NRGBA, pics []synth.Picture) bound {
	t.Helper()
	var survey floodfill.Survey
	for _, img := range imgs {
		survey.Add(img)
	}
	e := floodfill.New(survey.Backdrop(), floodfill.Options{})
	got := bound{iou: 1}
	for i, p := range pics {
		m := image.NewAlpha(p.Alpha.Rect)
		if err := e.Estimate(t.Context(), imgs[i], m); err != nil {
			t.Fatal(err)
		}
		e.Decontaminate(imgs[i], m, nil)
		got.iou = min(got.iou, synth.IoU(m, p.Alpha))
		got.mae = max(got.mae, synth.MeanError(m, p.Alpha))
		got.colour = max(got.colour, synth.ColourError(imgs[i], m, p))
	}
	return got
}
