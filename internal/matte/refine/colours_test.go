package refine_test

import (
	"image"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/bgremove/bgremove/internal/matte/refine"
	"github.com/bgremove/bgremove/internal/synth"
)

// doubtful is a matte of a network that is sure of the upper half of all, and
// undecided below: there all values lie near the middle, whatever is true.
func doubtful(want *image.Alpha, rng *rand.Rand) *image.Alpha {
	m := cloneAlpha(want)
	for i := len(m.Pix) / 2; i < len(m.Pix); i++ {
		m.Pix[i] = uint8(90 + rng.IntN(76))
	}
	return m
}

// plain is a picture of one colour, grey a matte of one value.
func plain(r image.Rectangle, v uint8) *image.NRGBA {
	img := image.NewNRGBA(r)
	for i := range img.Pix {
		img.Pix[i] = v
	}
	return img
}

func grey(r image.Rectangle, v uint8) *image.Alpha {
	m := image.NewAlpha(r)
	for i := range m.Pix {
		m.Pix[i] = v
	}
	return m
}

// TestColourModel: what the network doubts is decided by colour, in the frame
// itself and the more so when the colours are known from frames before it.
func TestColourModel(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(3, 4))
	clip := synth.Clip{Width: 160, Height: 120, Frames: 24, Backdrop: synth.Blue, Subject: synth.Discs}
	model := refine.ColourModel{Weight: 1}
	for i := range 6 {
		p := clip.Frame(i)
		m := doubtful(p.Alpha, rng)
		rough := synth.MeanError(m, p.Alpha)
		model.Apply(p.Image, m)
		got := synth.MeanError(m, p.Alpha)
		t.Logf("frame %d: error %.3f, was %.3f", i, got, rough)
		if got > rough/4 || synth.IoU(m, p.Alpha) < 0.87 {
			t.Errorf("frame %d: error %.3f, IoU %.3f", i, got, synth.IoU(m, p.Alpha))
		}
	}
	// A frame of which the network knows nothing at all.
	p := clip.Frame(7)
	m := grey(p.Alpha.Rect, 128)
	model.Apply(p.Image, m)
	if iou := synth.IoU(m, p.Alpha); iou < 0.85 {
		t.Errorf("by colours of other frames alone: IoU %.3f", iou)
	}
}

// Pixels that the network is sure of stay, colours that say nothing change nothing,
// and a weight of 0 leaves all as it is.
func TestColourModelLeavesTheSure(t *testing.T) {
	t.Parallel()
	p := synth.Clip{Width: 96, Height: 64, Frames: 4, Backdrop: synth.Blue, Subject: synth.Discs}.Frame(0)
	wrong := image.NewAlpha(p.Alpha.Rect)
	for i, v := range p.Alpha.Pix { // sure, and wrong in a quarter of the picture
		wrong.Pix[i] = v
		if i < len(wrong.Pix)/4 {
			wrong.Pix[i] = 255 - v
		}
	}
	m := cloneAlpha(wrong)
	(&refine.ColourModel{Weight: 1}).Apply(p.Image, m)
	for i, v := range wrong.Pix {
		if d := int(m.Pix[i]) - int(v); (v == 0 || v == 255) && max(d, -d) > 1 {
			t.Fatalf("pixel %d: %d became %d", i, v, m.Pix[i])
		}
	}
	doubt := doubtful(p.Alpha, rand.New(rand.NewPCG(1, 1)))
	m = cloneAlpha(doubt)
	(&refine.ColourModel{}).Apply(p.Image, m)
	if !slices.Equal(m.Pix, doubt.Pix) {
		t.Error("weight 0 changes something")
	}
	m = cloneAlpha(doubt)
	(&refine.ColourModel{Weight: 1}).Apply(plain(m.Rect, 90), m)
	half := len(m.Pix) / 2
	for i, v := range m.Pix[half:] { // both sides have this colour
		if d := int(v) - int(doubt.Pix[half+i]); d != 0 {
			t.Fatalf("%d became %d by a colour that all have", doubt.Pix[half+i], v)
		}
	}
}

// A cut makes the model forget: after it, colours that belonged to the backdrop
// are nobody's.
func TestColourModelForgetsAtCuts(t *testing.T) {
	t.Parallel()
	model := refine.ColourModel{Weight: 1}
	r := image.Rect(0, 0, 96, 64)
	model.Apply(plain(r, 10), grey(r, 0))
	model.Apply(plain(r, 240), grey(r, 255)) // a cut
	m := grey(r, 128)
	model.Apply(plain(r, 230), m)
	if m.Pix[0] < 200 {
		t.Errorf("the new scene's subject: %d", m.Pix[0])
	}
	m = grey(r, 128)
	model.Apply(plain(r, 20), m) // another: nothing is known here
	if m.Pix[0] != 128 {
		t.Errorf("after a cut, of nothing: %d", m.Pix[0])
	}
}
