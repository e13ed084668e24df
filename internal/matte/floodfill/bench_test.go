package floodfill_test

import (
	"fmt"
	"image"
	"slices"
	"testing"

	"github.com/bgremove/bgremove/internal/matte/floodfill"
	"github.com/bgremove/bgremove/internal/synth"
)

func benchmark(b *testing.B, f func(b *testing.B, e *floodfill.Estimator, img *image.NRGBA, m *image.Alpha)) {
	for _, size := range [][2]int{{640, 360}, {1920, 1080}} {
		for _, s := range []synth.Subject{synth.Discs, synth.Strokes, synth.Soft} {
			p := synth.Clip{Width: size[0], Height: size[1], Frames: 8, Backdrop: synth.Green, Subject: s}.Frame(1)
			jpeg, err := synth.JPEG(p.Image, 75)
			if err != nil {
				b.Fatal(err)
			}
			for _, d := range []struct {
				name string
				img  *image.NRGBA
			}{{"clean", p.Image}, {"noise", synth.Noise(p.Image, 3, 1)}, {"jpeg", jpeg}} {
				b.Run(fmt.Sprintf("%dp/%v/%s", size[1], s, d.name), func(b *testing.B) {
					var survey floodfill.Survey
					survey.Add(d.img)
					e := floodfill.New(survey.Backdrop(), floodfill.Options{})
					m := image.NewAlpha(p.Alpha.Rect)
					if err := e.Estimate(b.Context(), d.img, m); err != nil {
						b.Fatal(err)
					}
					b.ReportAllocs()
					f(b, e, d.img, m)
					b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "frames/s")
				})
			}
		}
	}
}

func BenchmarkEstimate(b *testing.B) {
	benchmark(b, func(b *testing.B, e *floodfill.Estimator, img *image.NRGBA, m *image.Alpha) {
		for b.Loop() {
			if err := e.Estimate(b.Context(), img, m); err != nil {
				b.Fatal(err)
			}
		}
	})
}

func BenchmarkDecontaminate(b *testing.B) {
	benchmark(b, func(b *testing.B, e *floodfill.Estimator, img *image.NRGBA, m *image.Alpha) {
		work := &image.NRGBA{Pix: slices.Clone(img.Pix), Stride: img.Stride, Rect: img.Rect}
		for b.Loop() {
			e.Decontaminate(work, m, nil)
		}
	})
}
