package refine_test

import (
	"image"
	"math"
	"math/rand/v2"

	"github.com/bgremove/bgremove/internal/matte/reduce"
	"github.com/bgremove/bgremove/internal/synth"
)

// The backdrops of texture.
const (
	flat = iota
	noise
	gradient
	stripes
	waves
)

var textures = [...]string{"flat", "noise", "gradient", "stripes", "waves"}

// texture draws a backdrop.
func texture(w, h, kind int) *image.NRGBA {
	img := image.NewNRGBA(image.Rect(0, 0, w, h))
	rng := rand.New(rand.NewPCG(5, 7))
	wave := func(mean, swing, phase float64) uint8 { return uint8(mean + swing*math.Sin(phase)) }
	for i := range w * h {
		x, y := i%w, i/w
		c := [3]uint8{40, 90, 200}
		switch kind {
		case noise:
			v := rng.Uint32()
			c = [3]uint8{uint8(v), uint8(v >> 8), uint8(v >> 16)}
		case gradient:
			c = [3]uint8{uint8(255 * x / w), uint8(200 * y / h), uint8(255 - 255*x/w)}
		case stripes:
			c = [3]uint8{250, 250, 240}
			if (x+y)/7%2 == 0 {
				c = [3]uint8{10, 20, 30}
			}
		case waves:
			c = [3]uint8{wave(128, 100, float64(x)/9), wave(128, 100, float64(y)/13), wave(128, 60, float64(x+y)/31)}
		}
		copy(img.Pix[4*i:], c[:])
		img.Pix[4*i+3] = 255
	}
	return img
}

// onto composes the subject of p over another backdrop.
func onto(p synth.Picture, back *image.NRGBA) *image.NRGBA {
	out := image.NewNRGBA(p.Image.Rect)
	for i, a := range p.Alpha.Pix {
		for k := 4 * i; k < 4*i+3; k++ {
			out.Pix[k] = uint8((int(a)*int(p.Foreground.Pix[k]) + (255-int(a))*int(back.Pix[k]) + 127) / 255)
		}
		out.Pix[4*i+3] = 255
	}
	return out
}

// shrink reduces a matte by area and blurs it a number of times, as the
// matte of a small network is.
func shrink(m *image.Alpha, w, h, blurs int) *image.Alpha {
	wide, narrow := image.NewNRGBA(m.Rect), image.NewNRGBA(image.Rect(0, 0, w, h))
	for i, v := range m.Pix {
		wide.Pix[4*i] = v
	}
	reduce.New(wide.Rect.Size(), narrow.Rect.Size()).Draw(narrow, wide)
	out := image.NewAlpha(narrow.Rect)
	for i := range out.Pix {
		out.Pix[i] = narrow.Pix[4*i]
	}
	for range blurs {
		out = blur(out)
	}
	return out
}

func blur(m *image.Alpha) *image.Alpha {
	w, h := m.Rect.Dx(), m.Rect.Dy()
	out := image.NewAlpha(m.Rect)
	for i := range out.Pix {
		x, y, sum, n := i%w, i/w, 0, 0
		for dy := -1; dy <= 1; dy++ {
			for dx := -1; dx <= 1; dx++ {
				if x+dx >= 0 && y+dy >= 0 && x+dx < w && y+dy < h {
					k := (2 - dx*dx) * (2 - dy*dy)
					sum += k * int(m.Pix[i+dy*w+dx])
					n += k
				}
			}
		}
		out.Pix[i] = uint8((sum + n/2) / n)
	}
	return out
}

// bilinear is the plain way to enlarge a matte.
func bilinear(m *image.Alpha, w, h int) *image.Alpha {
	sw, sh := m.Rect.Dx(), m.Rect.Dy()
	out := image.NewAlpha(image.Rect(0, 0, w, h))
	at := func(x, y int) float64 {
		return float64(m.Pix[min(max(y, 0), sh-1)*sw+min(max(x, 0), sw-1)])
	}
	for i := range out.Pix {
		px := (float64(i%w)+0.5)*float64(sw)/float64(w) - 0.5
		py := (float64(i/w)+0.5)*float64(sh)/float64(h) - 0.5
		x, y := math.Floor(px), math.Floor(py)
		fx, fy := px-x, py-y
		l, t := int(x), int(y)
		v := (at(l, t)*(1-fx)+at(l+1, t)*fx)*(1-fy) + (at(l, t+1)*(1-fx)+at(l+1, t+1)*fx)*fy
		out.Pix[i] = uint8(v + 0.5)
	}
	return out
}

// edgeError is the mean absolute error within two pixels of the true edges,
// 0..1.
func edgeError(got, want *image.Alpha) float64 {
	w, h := want.Rect.Dx(), want.Rect.Dy()
	sum, n := 0.0, 0
	for y := 2; y < h-2; y++ {
		for x := 2; x < w-2; x++ {
			lo, hi := uint8(255), uint8(0)
			for dy := -2; dy <= 2; dy++ {
				for _, v := range want.Pix[(y+dy)*w+x-2 : (y+dy)*w+x+3] {
					lo, hi = min(lo, v), max(hi, v)
				}
			}
			if hi-lo > 20 {
				sum += math.Abs(float64(got.Pix[y*w+x]) - float64(want.Pix[y*w+x]))
				n++
			}
		}
	}
	return sum / 255 / float64(max(n, 1))
}

// openTiles is the share of 16 × 16 tiles of a picture of w × h that a small
// matte is neither sure to be empty nor full.
func openTiles(small *image.Alpha, w, h int) float64 {
	sw, sh := small.Rect.Dx(), small.Rect.Dy()
	open, n := 0, 0
	for y := 0; y < h; y += 16 {
		for x := 0; x < w; x += 16 {
			lo, hi := uint8(255), uint8(0)
			for v := max(y*sh/h-1, 0); v <= min((y+15)*sh/h+1, sh-1); v++ {
				for u := max(x*sw/w-1, 0); u <= min((x+15)*sw/w+1, sw-1); u++ {
					lo, hi = min(lo, small.Pix[v*sw+u]), max(hi, small.Pix[v*sw+u])
				}
			}
			if hi > 2 && lo < 253 {
				open++
			}
			n++
		}
	}
	return float64(open) / float64(max(n, 1))
}
