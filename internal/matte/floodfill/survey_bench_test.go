package floodfill_test

import (
	"testing"

	"github.com/bgremove/bgremove/internal/matte/floodfill"
	"github.com/bgremove/bgremove/internal/synth"
)

func BenchmarkSurvey(b *testing.B) {
	p := synth.Clip{Width: 640, Height: 360, Frames: 8, Backdrop: synth.Green, Subject: synth.Discs}.Frame(1)
	jpeg, err := synth.JPEG(p.Image, 75)
	if err != nil {
		b.Fatal(err)
	}
	b.Run("add", func(b *testing.B) {
		for b.Loop() {
			var s floodfill.Survey
			s.Add(jpeg)
		}
	})
	b.Run("backdrop", func(b *testing.B) {
		var s floodfill.Survey
		for range 32 {
			s.Add(jpeg)
		}
		for b.Loop() {
			s.Backdrop()
		}
	})
}
