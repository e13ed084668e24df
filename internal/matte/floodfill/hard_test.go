package floodfill_test

import (
	"image"
	"image/color"
	"slices"
	"testing"

	"github.com/bgremove/bgremove/internal/matte/floodfill"
	"github.com/bgremove/bgremove/internal/synth"
)

// ball is the matte of the sprite.
func ball(frame, x, y int) uint8 {
	if dx, dy := x-30-8*frame, y-30-frame%2; dx*dx+dy*dy <= 17*17 {
		return 255
	}
	return 0
}

// sprite draws pixel art: a ball with an outline, two tones of shade and eyes.
func sprite(backdrop color.NRGBA, frame int) *image.NRGBA {
	img := flat(96, 64, backdrop)
	cx, cy := 30+8*frame, 30+frame%2
	for y := -17; y <= 17; y++ {
		for x := -17; x <= 17; x++ {
			d := x*x + y*y
			c := color.NRGBA{232, 96, 72, 255}
			switch {
			case d > 17*17:
				continue
			case d > 15*15:
				c = color.NRGBA{20, 12, 28, 255}
			case x*x/4+(y+2)*(y+2) < 12 && x%4 != 0:
				c = color.NRGBA{255, 255, 255, 255}
			case x+y > 8:
				c = color.NRGBA{158, 40, 53, 255}
			case x+y < -14:
				c = color.NRGBA{246, 164, 110, 255}
			}
			img.SetNRGBA(cx+x, cy+y, c)
		}
	}
	return img
}

// TestPixelArtStaysHard wants pixel art to come out to the pixel, and what has
// smooth edges not to be taken for it.
func TestPixelArtStaysHard(t *testing.T) {
	t.Parallel()
	for name, backdrop := range map[string]color.NRGBA{"green": synth.Green, "white": synth.White, "blue": synth.Blue, "magenta": {255, 0, 255, 255}, "dark": {34, 32, 52, 255}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var s floodfill.Survey
			for f := range 4 {
				s.Add(sprite(backdrop, f))
			}
			b := s.Backdrop()
			if !b.Hard {
				t.Fatal("not taken for pixel art")
			}
			img := sprite(backdrop, 2)
			want := slices.Clone(img.Pix)
			e, m := floodfill.New(b, floodfill.Options{}), image.NewAlpha(img.Rect)
			if err := e.Estimate(t.Context(), img, m); err != nil {
				t.Fatal(err)
			}
			e.Decontaminate(img, m, nil)
			for i, a := range m.Pix {
				if own := [4]uint8(want[4*i:]); own != [4]uint8(img.Pix[4*i:]) || a != ball(2, i%96, i/96) {
					t.Fatalf("pixel %d, %d is %v, matte %d, was %v", i%96, i/96, img.Pix[4*i:4*i+4], a, own)
				}
			}
		})
	}
	for _, s := range synth.Subjects {
		for _, b := range backdrops {
			c := synth.Clip{Width: 320, Height: 180, Frames: 20, Backdrop: b.clip.Backdrop, Subject: s}
			for _, colours := range []int{16, 64} {
				var survey floodfill.Survey
				survey.Add(synth.Palette(c.Frame(3).Image, colours))
				if survey.Backdrop().Hard {
					t.Errorf("%v on %s in %d colours is taken for pixel art", s, b.name, colours)
				}
			}
		}
	}
}
