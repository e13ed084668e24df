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

type degradation struct {
	name    string
	spoil   func(t *testing.T, img *image.NRGBA, i int) *image.NRGBA
	subject map[synth.Subject]bound
}
type bound struct{ iou, mae, colour float64 }

func jpegOf(q int) func(*testing.T, *image.NRGBA, int) *image.NRGBA {
	return func(t *testing.T, img *image.NRGBA, _ int) *image.NRGBA {
		out, err := synth.JPEG(img, q)
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
}

var degradations = []degradation{
	{"clean", func(_ *testing.T, img *image.NRGBA, _ int) *image.NRGBA { return img }, nil},
	{"noise3", func(_ *testing.T, img *image.NRGBA, i int) *image.NRGBA { return synth.Noise(img, 3, uint64(i)) }, nil},
	{"jpeg90", jpegOf(90), nil},
	{"jpeg75", jpegOf(75), nil},
	{"gif64", func(_ *testing.T, img *image.NRGBA, _ int) *image.NRGBA { return synth.Palette(img, 64) }, nil},
}

func TestQuality(t *testing.T) {
	for _, d := range degradations {
		for _, s := range synth.Subjects {
			for _, b := range backdrops {
				t.Run(fmt.Sprintf("%s/%v/%s", d.name, s, b.name), func(t *testing.T) {
					t.Parallel()
					c := synth.Clip{Width: 640, Height: 360, Frames: 20, Backdrop: b.clip.Backdrop, Subject: s}
					var survey floodfill.Survey
					var pics []synth.Picture
					var imgs []*image.NRGBA
					for i := range 3 {
						p := c.Frame(i * 3)
						pics = append(pics, p)
						imgs = append(imgs, d.spoil(t, p.Image, i))
						survey.Add(imgs[i])
					}
					bd := survey.Backdrop()
					e := floodfill.New(bd, floodfill.Options{})
					got := bound{iou: 1}
					for i, p := range pics {
						m := image.NewAlpha(p.Alpha.Rect)
						if err := e.Estimate(t.Context(), imgs[i], m); err != nil {
							t.Fatal(err)
						}
						e.Decontaminate(imgs[i], m)
						got.iou = min(got.iou, synth.IoU(m, p.Alpha))
						got.mae = max(got.mae, synth.MeanError(m, p.Alpha))
						got.colour = max(got.colour, synth.ColourError(imgs[i], m, p))
					}
					t.Logf("R %-7s %-7v %-5s IoU %.4f MAE %.5f colour %5.2f  noise %.1f flat %.2f", d.name, s, b.name, got.iou, got.mae, got.colour, bd.Noise, bd.Flat)
					if d.name == "clean" && (got.iou < 0.98 || got.mae > 0.01 || got.colour > 9) {
						t.Errorf("got %+v", got)
					}
				})
			}
		}
	}
}
