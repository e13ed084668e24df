package scene

import (
	"context"
	"image"
	"image/color"
	"sync"
	"time"

	"github.com/bgremove/bgremove/internal/canvas"
)

// still is an opaque picture of the canvas's size, the same behind all frames.
type still struct {
	img   *image.NRGBA
	once  sync.Once
	light *Light
}

func (s *still) At(context.Context, time.Duration) (Shot, error) { return s, nil }

func (s *still) Close() error { return nil }

func (s *still) See(*image.NRGBA, *image.Alpha) {}

func (s *still) Light() *Light {
	s.once.Do(func() { s.light = lightOf(s.img) })
	return s.light
}

func (s *still) Under(img *image.NRGBA) {
	p, q := img.Pix, s.img.Pix[:len(img.Pix)]
	for i := 0; i+4 <= len(p); i += 4 {
		a := uint32(p[i+3])
		if a == 255 {
			continue
		}
		p[i], p[i+1], p[i+2], p[i+3] = canvas.Mix(p[i], q[i], a), canvas.Mix(p[i+1], q[i+1], a), canvas.Mix(p[i+2], q[i+2], a), 255
	}
}

// drawn is a picture that is drawn for each canvas.
type drawn func(size image.Point) *image.NRGBA

// Open starts a pass.
func (d drawn) Open(_ context.Context, l canvas.Layout) (Pass, error) {
	return &still{img: d(l.Size)}, nil
}

// Colour is one colour, opaque.
func Colour(c color.NRGBA) Scene {
	return drawn(func(size image.Point) *image.NRGBA {
		img := image.NewNRGBA(image.Rectangle{Max: size})
		canvas.Flatten(img, c)
		return img
	})
}
