package synth_test

import (
	"bytes"
	"image"
	"math"
	"testing"

	"github.com/bgremove/bgremove/internal/synth"
)

// TestPictureIsTheMix checks that the picture is the true foreground over the
// backdrop, rounded to the nearest. The foreground must exist exactly where
// alpha does.
func TestPictureIsTheMix(t *testing.T) {
	t.Parallel()
	for _, s := range synth.Subjects {
		c := synth.Clip{Width: 97, Height: 61, Frames: 3, Backdrop: synth.Blue, Subject: s}
		p := c.Frame(4)
		b := [3]float64{float64(c.Backdrop.R), float64(c.Backdrop.G), float64(c.Backdrop.B)}
		covered := 0
		for i, v := range p.Alpha.Pix {
			a := float64(v) / 255
			if (v > 0) != (p.Foreground.Pix[4*i+3] == 255) || p.Image.Pix[4*i+3] != 255 {
				t.Fatalf("%v: pixel %d has alpha %d, foreground %v", s, i, v, p.Foreground.Pix[4*i:4*i+4])
			}
			for k := range b {
				want := a*float64(p.Foreground.Pix[4*i+k]) + (1-a)*b[k]
				if math.Abs(want-float64(p.Image.Pix[4*i+k])) > 0.501 {
					t.Fatalf("%v: channel %d of pixel %d is %d, want %.2f", s, k, i, p.Image.Pix[4*i+k], want)
				}
			}
			if v > 0 {
				covered++
			}
		}
		if covered == 0 {
			t.Errorf("%v: nothing drawn", s)
		}
		if again := c.Frame(1); !bytes.Equal(again.Image.Pix, p.Image.Pix) {
			t.Errorf("%v: frames 1 and 4 of 3 differ", s)
		}
	}
}

// TestCoverageIsTheArea compares the sum of alpha with the area of the disc.
func TestCoverageIsTheArea(t *testing.T) {
	t.Parallel()
	p := synth.Clip{Width: 320, Height: 180, Frames: 1, Backdrop: synth.White, Subject: synth.Eye}.Frame(0)
	sum := 0.0
	for _, a := range p.Alpha.Pix {
		sum += float64(a) / 255
	}
	r := 180 * 0.33
	if want := math.Pi * r * r; math.Abs(sum-want) > 0.001*want {
		t.Errorf("area %.1f, want %.1f", sum, want)
	}
}

func TestDegradations(t *testing.T) {
	t.Parallel()
	img := synth.Clip{Width: 160, Height: 90, Frames: 1, Backdrop: synth.Green}.Frame(0).Image
	before := bytes.Clone(img.Pix)
	noisy := synth.Noise(img, 3, 7)
	far := 0
	for i, v := range noisy.Pix {
		far = max(far, int(v)-int(img.Pix[i]), int(img.Pix[i])-int(v))
	}
	if far != 3 || !bytes.Equal(noisy.Pix, synth.Noise(img, 3, 7).Pix) || bytes.Equal(noisy.Pix, synth.Noise(img, 3, 8).Pix) {
		t.Errorf("noise strays by %d, or the seed does not decide", far)
	}
	colours := map[[4]uint8]bool{}
	pal := synth.Palette(img, 64)
	for i := 0; i < len(pal.Pix); i += 4 {
		colours[[4]uint8(pal.Pix[i:])] = true
	}
	if len(colours) < 16 || len(colours) > 64 {
		t.Errorf("%d colours after reduction to 64", len(colours))
	}
	spoilt, err := synth.JPEG(img, 80)
	if err != nil {
		t.Fatal(err)
	}
	if spoilt.Rect != img.Rect || bytes.Equal(spoilt.Pix, img.Pix) {
		t.Error("jpeg changed nothing, or the size")
	}
	if !bytes.Equal(before, img.Pix) {
		t.Error("a degradation changed its input")
	}
}

func TestMeasures(t *testing.T) {
	t.Parallel()
	p := synth.Clip{Width: 160, Height: 90, Frames: 4, Backdrop: synth.Green}.Frame(0)
	other := synth.Clip{Width: 160, Height: 90, Frames: 4, Backdrop: synth.Green}.Frame(1)
	if synth.IoU(p.Alpha, p.Alpha) != 1 || synth.MeanError(p.Alpha, p.Alpha) != 0 || synth.ColourError(p.Foreground, p.Alpha, p) != 0 {
		t.Error("the truth does not measure as perfect")
	}
	if synth.IoU(other.Alpha, p.Alpha) > 0.95 || synth.MeanError(other.Alpha, p.Alpha) < 0.01 || synth.ColourError(p.Image, p.Alpha, p) < 20 {
		t.Error("a wrong answer measures as good")
	}
}

func TestDtSSD(t *testing.T) {
	t.Parallel()
	at := func(v ...uint8) *image.Alpha {
		return &image.Alpha{Pix: v, Stride: len(v), Rect: image.Rect(0, 0, len(v), 1)}
	}
	want := []*image.Alpha{at(0, 0), at(255, 0), at(255, 255)}
	for _, c := range []struct {
		name string
		got  []*image.Alpha
		want float64
	}{
		{"same", want, 0},
		{"constant offset", []*image.Alpha{at(0, 9), at(255, 9), at(255, 255)}, math.Sqrt(81.0/4) / 255},
		{"one blink", []*image.Alpha{at(0, 0), at(255, 255), at(255, 255)}, math.Sqrt(0.5)},
	} {
		if got := synth.DtSSD(c.got, want); math.Abs(got-c.want) > 1e-9 {
			t.Errorf("%s: %f, want %f", c.name, got, c.want)
		}
	}
	if synth.DtSSD(want[:1], want[:1]) != 0 {
		t.Error("one frame has changes")
	}
}

func TestPSNR(t *testing.T) {
	t.Parallel()
	want := []*image.NRGBA{picture([4]uint8{100, 100, 100, 255}, [4]uint8{1, 2, 3, 127})}
	for _, c := range []struct {
		name string
		got  [4]uint8
		want float64
	}{
		{"same", [4]uint8{100, 100, 100, 255}, math.Inf(1)},
		{"a channel", [4]uint8{106, 100, 100, 255}, 10 * math.Log10(255*255*3/36.0)},
		{"a hole", [4]uint8{100, 100, 100, 0}, 10 * math.Log10(255*255/784.0)},
	} {
		if got := synth.PSNR([]*image.NRGBA{picture(c.got, [4]uint8{200, 0, 0, 255})}, want); got != c.want {
			t.Errorf("%s: %f, want %f", c.name, got, c.want)
		}
	}
}

func TestFlicker(t *testing.T) {
	t.Parallel()
	grey := func(v uint8) [4]uint8 { return [4]uint8{v, v, v, 255} }
	want := []*image.NRGBA{picture(grey(50), grey(10), grey(90)), picture(grey(52), grey(13), [4]uint8{90, 90, 90, 254})}
	still := picture(grey(40), grey(0), grey(0))
	if got := synth.Flicker([]*image.NRGBA{still, picture(grey(40), grey(200), grey(100))}, want); got != 0 {
		t.Errorf("what moves or is not opaque counts: %f", got)
	}
	if got := synth.Flicker([]*image.NRGBA{still, picture([4]uint8{46, 40, 40, 255}, grey(0), grey(0))}, want); got != math.Sqrt(12) {
		t.Errorf("a change by 6 in a channel of three: %f, want %f", got, math.Sqrt(12))
	}
	if got := synth.Flicker(want[:1], want[:1]); got != 0 {
		t.Errorf("one frame flickers: %f", got)
	}
}

func picture(pixels ...[4]uint8) *image.NRGBA {
	img := image.NewNRGBA(image.Rect(0, 0, len(pixels), 1))
	for i, p := range pixels {
		copy(img.Pix[4*i:], p[:])
	}
	return img
}
