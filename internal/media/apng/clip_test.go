package apng_test

import (
	"image"
	"image/color"
	"math"
	"math/rand/v2"
)

// scene draws a clip of shaded discs with soft edges and text-like strokes that
// move over a transparent backdrop.
func scene(w, h, frames int) []*image.NRGBA {
	clip := make([]*image.NRGBA, frames)
	for n := range clip {
		img := image.NewNRGBA(image.Rect(0, 0, w, h))
		t := float64(n) / 150
		for d := range 5 {
			phase := float64(d) * 1.3
			x := float64(w) * (0.5 + 0.38*math.Sin(2*math.Pi*t*float64(1+d%2)+phase))
			y := float64(h) * (0.5 + 0.32*math.Cos(2*math.Pi*t*float64(1+d%3)+2*phase))
			disc(img, x, y, float64(h)*(0.1+0.03*float64(d)), d)
		}
		strokes(img, w/8+n%(w/4), h/2, rand.New(rand.NewPCG(7, 7)))
		clip[n] = img
	}
	return clip
}

// disc paints a lit ball of the given radius with an edge 6 pixels soft.
func disc(img *image.NRGBA, cx, cy, r float64, hue int) {
	box := image.Rect(int(cx-r)-4, int(cy-r)-4, int(cx+r)+5, int(cy+r)+5).Intersect(img.Rect)
	for y := box.Min.Y; y < box.Max.Y; y++ {
		for x := box.Min.X; x < box.Max.X; x++ {
			dx, dy := float64(x)-cx, float64(y)-cy
			cover := min(max((r-math.Hypot(dx, dy))/6+0.5, 0), 1)
			light := min(max(0.75-0.45*(dx+dy)/r+0.06*math.Sin(dx/3)*math.Cos(dy/4), 0), 1)
			c := [3]float64{70, 70, 70}
			c[hue%3], c[(hue+1)%3] = 250, 90+30*float64(hue)
			over(img, x, y, color.NRGBA{
				R: uint8(c[0] * light), G: uint8(c[1] * light), B: uint8(c[2] * light), A: uint8(255 * cover),
			})
		}
	}
}

// strokes paints rows of short lines of one colour with hard edges.
func strokes(img *image.NRGBA, x0, y0 int, rng *rand.Rand) {
	for line := range 3 {
		for x := x0; x < x0+img.Rect.Dx()/3; x += 2 + rng.IntN(5) {
			top, long := y0+line*16+rng.IntN(5), 3+rng.IntN(7)
			for y := top; y < top+long; y++ {
				if (image.Point{X: x, Y: y}).In(img.Rect) {
					img.SetNRGBA(x, y, color.NRGBA{R: 20, G: 20, B: 30, A: 255})
				}
			}
		}
	}
}

// over composes c over a pixel with straight alpha.
func over(img *image.NRGBA, x, y int, c color.NRGBA) {
	b := img.NRGBAAt(x, y)
	a, ba := int(c.A)*255, int(b.A)*(255-int(c.A))
	if a+ba == 0 {
		return
	}
	mix := func(f, g uint8) uint8 { return uint8((int(f)*a + int(g)*ba) / (a + ba)) }
	img.SetNRGBA(x, y, color.NRGBA{R: mix(c.R, b.R), G: mix(c.G, b.G), B: mix(c.B, b.B), A: uint8((a + ba) / 255)})
}

// chaos draws a clip of patches with random colour and alpha. They appear,
// vanish, move, overlap and stay. Some frames do not change and some are empty.
// Colours under alpha 0 are random.
func chaos(w, h, frames int, rng *rand.Rand) []*image.NRGBA {
	clip := make([]*image.NRGBA, frames)
	alphas := [...]uint8{0, 0, 1, 127, 128, 254, 255, 255, 255}
	for n := range clip {
		img := image.NewNRGBA(image.Rect(0, 0, w, h))
		if n > 0 && rng.IntN(8) > 0 {
			copy(img.Pix, clip[n-1].Pix)
		}
		for range rng.IntN(4) {
			a := image.Pt(rng.IntN(w+1), rng.IntN(h+1))
			b := image.Pt(rng.IntN(w+1), rng.IntN(h+1))
			style := rng.IntN(3)
			c := color.NRGBA{uint8(rng.Uint32()), uint8(rng.Uint32()), uint8(rng.Uint32()), alphas[rng.IntN(len(alphas))]}
			r := image.Rectangle{Min: a, Max: b}.Canon()
			for y := r.Min.Y; y < r.Max.Y; y++ {
				for x := r.Min.X; x < r.Max.X; x++ {
					switch style {
					case 0:
						c.R, c.G = uint8(x*3), uint8(y*5)
					case 1:
						c.A = alphas[rng.IntN(len(alphas))]
					}
					img.SetNRGBA(x, y, c)
				}
			}
		}
		clip[n] = img
	}
	return clip
}

// clone returns a copy that a writer may take over.
func clone(img *image.NRGBA) *image.NRGBA {
	c := *img
	c.Pix = append([]byte(nil), img.Pix...)
	return &c
}

// visible returns a copy with 0,0,0,0 wherever alpha is 0.
func visible(img *image.NRGBA) *image.NRGBA {
	c := clone(img)
	for i := 0; i < len(c.Pix); i += 4 {
		if c.Pix[i+3] == 0 {
			clear(c.Pix[i : i+4])
		}
	}
	return c
}

// solid returns a copy with alpha 255 everywhere.
func solid(img *image.NRGBA) *image.NRGBA {
	c := clone(img)
	for i := 3; i < len(c.Pix); i += 4 {
		c.Pix[i] = 255
	}
	return c
}
