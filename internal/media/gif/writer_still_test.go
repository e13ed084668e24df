package gif_test

import (
	"image"
	"image/color"
	"math/rand/v2"
	"testing"

	"github.com/bgremove/bgremove/internal/media/gif"
	"github.com/bgremove/bgremove/internal/synth"
)

// sensed is a still cut-out of a shaded ball with a camera's noise. Pixels at
// its rim come and go, so that all of it is redrawn in each frame.
func sensed(noise int) clip {
	var c clip
	rng := rand.New(rand.NewPCG(8, 9))
	ball := synth.Clip{Width: 200, Height: 150, Frames: 1, Subject: synth.Discs}.Frame(0)
	for f := range 8 {
		img := synth.Noise(ball.Foreground, noise, uint64(f))
		for i, a := range ball.Alpha.Pix {
			if int(a) < 1+rng.IntN(255) {
				img.SetNRGBA(i%200, i/200, color.NRGBA{})
			}
		}
		c.frames = append(c.frames, img)
	}
	return c
}

func TestErasedPlacesDoNotFlicker(t *testing.T) {
	t.Parallel()
	c := sensed(3)
	for quality, most := range map[int]float64{100: 1.9, 90: 1.45} {
		got, _ := compose(t, encodeClip(t, c, gif.WriterOptions{Quality: quality}))
		if f := synth.Flicker(got, c.frames); f > most {
			t.Errorf("quality %d: what stands still changes by %.2f, want at most %.2f", quality, f, most)
		}
	}
}

func TestLowQualitySpendsOnWhatShows(t *testing.T) {
	t.Parallel()
	noisy := sensed(6)
	file := encodeClip(t, noisy, gif.WriterOptions{Quality: 60})
	got, g := compose(t, file)
	whole := len(encodeClip(t, noisy, gif.WriterOptions{}))
	if p := synth.PSNR(got, noisy.frames); p < 34 || 3*len(file) > whole {
		t.Errorf("drawn anew: %.2f dB in %d bytes, of %d at the default; %d colours", p, len(file), whole, len(g.Image[0].Palette))
	}

	var still clip // a gradient that needs all colours and is mostly not redrawn
	for f := range 8 {
		img := image.NewNRGBA(image.Rect(0, 0, 200, 150))
		for i := range 200 * 150 {
			img.SetNRGBA(i%200, i/200, color.NRGBA{uint8(i % 200), uint8(i / 200), uint8(200 - i%200), 255})
		}
		for x := range 20 {
			img.SetNRGBA(20*f+x, 75, color.NRGBA{255, 255, 255, 255})
		}
		still.frames = append(still.frames, img)
	}
	if _, g = compose(t, encodeClip(t, still, gif.WriterOptions{Quality: 60})); len(g.Image[0].Palette) != 256 {
		t.Errorf("still: a table of %d colours", len(g.Image[0].Palette))
	}
}

// TestMovingArtIsShort writes pixel art in which every other picture repeats
// and erases much.
func TestMovingArtIsShort(t *testing.T) {
	t.Parallel()
	const side = 6
	var c clip
	for f := range 20 {
		small := synth.Clip{Width: 64, Height: 48, Frames: 20, Subject: synth.Discs}.Frame(f)
		img := image.NewNRGBA(image.Rect(0, 0, 64*side, 48*side))
		for i := range 64 * 48 * side * side {
			x, y := i%(64*side), i/(64*side)
			if small.Alpha.AlphaAt(x/side, y/side).A >= 128 {
				v := small.Foreground.NRGBAAt(x/side, y/side)
				img.SetNRGBA(x, y, color.NRGBA{v.R &^ 63, v.G &^ 63, v.B &^ 63, 255})
			}
		}
		c.frames = append(c.frames, img, img)
	}
	file := encodeClip(t, c, gif.WriterOptions{Quality: 100})
	if len(file) > 51000 {
		t.Errorf("%d bytes", len(file))
	}
	got, _ := compose(t, file)
	sameFrames(t, got, c.frames, 0)
}
