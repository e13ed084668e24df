package scene_test

import (
	"image"
	"image/color"
	"testing"

	"github.com/bgremove/bgremove/internal/scene"
)

// The ends have their colours, in the direction of the angle.
func TestGradientAngle(t *testing.T) {
	t.Parallel()
	size := image.Pt(512, 512)
	from, to := color.NRGBA{10, 20, 30, 255}, color.NRGBA{200, 20, 90, 255}
	for degrees, c := range map[int]struct{ first, last image.Point }{
		0: {image.Pt(256, 511), image.Pt(256, 0)}, 90: {image.Pt(0, 256), image.Pt(511, 256)},
		180: {image.Pt(256, 0), image.Pt(256, 511)}, 270: {image.Pt(511, 9), image.Pt(0, 9)},
		135: {image.Pt(0, 0), image.Pt(511, 511)}, 360: {image.Pt(256, 511), image.Pt(256, 0)},
	} {
		img := image.NewNRGBA(image.Rectangle{Max: size})
		under(t, scene.Gradient(from, to, degrees), scene.Plain(size), nil, img)
		if got := img.NRGBAAt(c.first.X, c.first.Y); !near(got, from) {
			t.Errorf("%d°: begins with %v", degrees, got)
		}
		if got := img.NRGBAAt(c.last.X, c.last.Y); !near(got, to) {
			t.Errorf("%d°: ends with %v", degrees, got)
		}
		if got := img.NRGBAAt(100, 300).G; got != 20 {
			t.Errorf("%d°: a channel that is the same at both ends is %d", degrees, got)
		}
	}
}

func near(a, b color.NRGBA) bool {
	d := func(x, y uint8) int { return max(int(x)-int(y), int(y)-int(x)) }
	return a.A == b.A && max(d(a.R, b.R), d(a.G, b.G), d(a.B, b.B)) <= 1
}

// A slow gradient has no bands: the mean of each 8×8 block is that of the gradient
// to a fraction of a step, and no value is more than a step away.
func TestGradientDither(t *testing.T) {
	t.Parallel()
	size := image.Pt(64, 640)
	img := image.NewNRGBA(image.Rectangle{Max: size})
	under(t, scene.Gradient(color.NRGBA{100, 100, 100, 255}, color.NRGBA{110, 110, 110, 255}, 180), scene.Plain(size), nil, img)
	for top := 0; top < size.Y; top += 8 {
		sum := 0
		for y := top; y < top+8; y++ {
			for x := range 8 {
				v := img.NRGBAAt(x, y).R
				sum += int(v)
				if want := 100 + 10*float64(y)/640; float64(v) < want-1 || float64(v) > want+1.1 {
					t.Fatalf("%d,%d is %d, want about %.2f", x, y, v, want)
				}
			}
		}
		if got, want := float64(sum)/64, 100+10*float64(top+4)/640; got < want-0.1 || got > want+0.1 {
			t.Errorf("rows from %d have the mean %.3f, want %.3f", top, got, want)
		}
	}
}
