//go:build linux && cgo

package main

import (
	"image"
	"image/color"
	"math"

	"github.com/bgremove/bgremove/internal/synth"
)

const (
	drawnWidth, drawnHeight = 384, 288
	drawnFrames             = 50
)

// drawings are clips without a background, each of a different kind.
var drawings = []struct {
	name  string
	frame func(i int) *image.NRGBA
}{
	{"cartoon", shader(cartoon, 4)},
	{"gradients", shader(gradients, 1)},
	{"shaded balls", balls},
	{"pixel art", pixelArt},
	{"noisy fur", func(i int) *image.NRGBA { return synth.Noise(shader(fur, 1)(i), 3, uint64(i)) }},
}

// shader draws the function at for places 0..1 and a phase 0..1 of the motion.
// It takes samples × samples places in a pixel. Alpha is all or nothing.
func shader(at func(x, y, turn float64) (rgb [3]float64, inside bool), samples int) func(int) *image.NRGBA {
	return func(i int) *image.NRGBA {
		img := image.NewNRGBA(image.Rect(0, 0, drawnWidth, drawnHeight))
		for p := range drawnWidth * drawnHeight {
			var sum [3]float64
			inside := 0
			for s := range samples * samples {
				dx, dy := float64(s%samples)+0.5, float64(s/samples)+0.5
				x, y := float64(p%drawnWidth)+dx/float64(samples), float64(p/drawnWidth)+dy/float64(samples)
				rgb, ok := at(x/drawnHeight-0.167, y/drawnHeight, float64(i%drawnFrames)/drawnFrames)
				if !ok {
					continue
				}
				inside++
				for k, v := range rgb {
					sum[k] += v
				}
			}
			if 2*inside < samples*samples {
				continue
			}
			for k, v := range sum {
				img.Pix[4*p+k] = uint8(min(max(v/float64(inside)+0.5, 0), 255))
			}
			img.Pix[4*p+3] = 255
		}
		return img
	}
}

// cartoon is a face of flat colours with outlines that looks around.
func cartoon(x, y, turn float64) (rgb [3]float64, inside bool) {
	sin, cos := math.Sincos(2 * math.Pi * turn)
	disc := func(cx, cy, r float64) bool { return math.Hypot(x-cx, y-cy) < r }
	switch {
	case disc(0.37+0.02*cos, 0.4+0.01*sin, 0.03), disc(0.63+0.02*cos, 0.4+0.01*sin, 0.03):
		return [3]float64{30, 30, 60}, true
	case disc(0.37, 0.4, 0.07), disc(0.63, 0.4, 0.07):
		return [3]float64{255, 255, 255}, true
	case disc(0.5, 0.62, 0.1+0.05*sin) && y > 0.62:
		return [3]float64{170, 40, 50}, true
	case disc(0.5, 0.5, 0.4) && y < 0.22+0.02*math.Sin(30*x):
		return [3]float64{90, 50, 30}, true
	case disc(0.5, 0.5, 0.4):
		return [3]float64{250, 205, 160}, true
	case disc(0.5, 0.5, 0.42), disc(1+0.03*cos, 0.5+0.2*sin, 0.08):
		return [3]float64{40, 25, 20}, true
	}
	return rgb, false
}

// gradients is a still card with two gradients, and a lamp that swings in front
// of it.
func gradients(x, y, turn float64) (rgb [3]float64, inside bool) {
	sin := math.Sin(2 * math.Pi * turn)
	if d := math.Hypot(x-0.5-0.3*sin, y-0.55+0.1*sin*sin); d < 0.12 {
		return [3]float64{255 - 300*d, 240 - 900*d, 150 - 1100*d}, true
	}
	if math.Pow(math.Abs(x-0.5)/0.6, 6)+math.Pow(math.Abs(y-0.5)/0.45, 6) > 1 {
		return rgb, false
	}
	return [3]float64{60 + 150*x, 90 + 90*y, 200 - 60*x - 50*y}, true
}

// balls are the shaded discs of internal/synth.
func balls(i int) *image.NRGBA {
	return hard(synth.Clip{Width: drawnWidth, Height: drawnHeight, Frames: drawnFrames, Subject: synth.Discs}.Frame(i))
}

// pixelArt is balls of few colours, in large pixels.
func pixelArt(i int) *image.NRGBA {
	const side = 6
	small := hard(synth.Clip{Width: drawnWidth / side, Height: drawnHeight / side, Frames: drawnFrames, Subject: synth.Discs}.Frame(i))
	img := image.NewNRGBA(image.Rect(0, 0, drawnWidth, drawnHeight))
	for y := range drawnHeight {
		for x := range drawnWidth {
			c := small.NRGBAAt(x/side, y/side)
			img.SetNRGBA(x, y, color.NRGBA{c.R&0xc0 + 32, c.G&0xc0 + 32, c.B&0xc0 + 32, c.A})
			if c.A == 0 {
				img.SetNRGBA(x, y, color.NRGBA{})
			}
		}
	}
	return img
}

// fur is a breathing oval of hairs in many browns.
func fur(x, y, turn float64) (rgb [3]float64, inside bool) {
	swell := 1 + 0.03*math.Sin(2*math.Pi*turn)
	u, v := (x-0.5)/swell, (y-0.5)/swell
	d := math.Hypot(u/0.55, v/0.42) + 0.02*math.Sin(40*math.Atan2(v, u))
	if d > 1 {
		return rgb, false
	}
	hair := math.Sin(170*u+9*math.Sin(23*v)) * math.Sin(61*v+7*math.Sin(31*u))
	light := (1.1 - 0.5*d) * (0.75 + 0.25*hair)
	patch := 0.5 + 0.5*math.Sin(9*u)*math.Cos(7*v)
	return [3]float64{light * (150 + 80*patch), light * (100 + 70*patch), light * (60 + 40*patch)}, true
}

// hard is the subject with its alpha cut at one half.
func hard(p synth.Picture) *image.NRGBA {
	img := p.Foreground
	for i, a := range p.Alpha.Pix {
		if a < 128 {
			copy(img.Pix[4*i:4*i+4], []uint8{0, 0, 0, 0})
		}
	}
	return img
}
