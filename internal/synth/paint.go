package synth

import (
	"image"
	"image/color"
	"math"
)

// steps is the number of samples along each side of an edge pixel: 16 × 16
// samples put the coverage within 1/255 of the true area.
const steps = 16

// shape is one layer of a picture.
type shape struct {
	// distance is the signed distance to the outline in pixels, negative
	// inside. Away from the outline it may be too small, but never too large.
	distance func(x, y float64) float64
	// x0, y0, x1, y1 bound the covered area, including the soft edge.
	x0, y0, x1, y1 float64
	// soft is half the width of the transition in pixels; 0 is a hard,
	// anti-aliased edge.
	soft   float64
	colour func(x, y float64) [3]float64
	// erase removes the shape from the layers below it.
	erase bool
}

// canvas accumulates premultiplied colour and coverage.
type canvas struct {
	w, h int
	pix  [][4]float64
}

func newCanvas(w, h int) *canvas {
	return &canvas{w: w, h: h, pix: make([][4]float64, w*h)}
}

func (c *canvas) draw(s shape) {
	x0, y0 := max(0, int(math.Floor(s.x0))), max(0, int(math.Floor(s.y0)))
	x1, y1 := min(c.w, int(math.Ceil(s.x1))+1), min(c.h, int(math.Ceil(s.y1))+1)
	for y := y0; y < y1; y++ {
		for x := x0; x < x1; x++ {
			a := s.coverage(x, y)
			if a == 0 {
				continue
			}
			p := &c.pix[y*c.w+x]
			for i := range p {
				p[i] *= 1 - a
			}
			if s.erase {
				continue
			}
			col := s.colour(float64(x)+0.5, float64(y)+0.5)
			for i, v := range col {
				p[i] += a * v
			}
			p[3] += a
		}
	}
}

// coverage is the share of pixel x, y that the shape covers.
func (s *shape) coverage(x, y int) float64 {
	cx, cy := float64(x)+0.5, float64(y)+0.5
	d := s.distance(cx, cy)
	if s.soft > 0 {
		t := min(max(0.5-d/(2*s.soft), 0), 1)
		return t * t * (3 - 2*t)
	}
	if d > 0.75 {
		return 0
	}
	if d < -0.75 {
		return 1
	}
	inside := 0
	for j := range steps {
		sy := float64(y) + (float64(j)+0.5)/steps
		for i := range steps {
			if s.distance(float64(x)+(float64(i)+0.5)/steps, sy) < 0 {
				inside++
			}
		}
	}
	return float64(inside) / (steps * steps)
}

func (c *canvas) picture(backdrop color.NRGBA) Picture {
	r := image.Rect(0, 0, c.w, c.h)
	p := Picture{Image: image.NewNRGBA(r), Alpha: image.NewAlpha(r), Foreground: image.NewNRGBA(r)}
	b := [3]int{int(backdrop.R), int(backdrop.G), int(backdrop.B)}
	for i, acc := range c.pix {
		a := int(math.Round(acc[3] * 255))
		p.Alpha.Pix[i] = uint8(a)
		im, fg := p.Image.Pix[4*i:4*i+4], p.Foreground.Pix[4*i:4*i+4]
		im[3] = 255
		if a > 0 {
			fg[3] = 255
		}
		for k := range b {
			f := 0
			if a > 0 {
				f = int(min(max(math.Round(acc[k]/acc[3]), 0), 255))
			}
			fg[k] = uint8(f)
			im[k] = uint8((a*f + (255-a)*b[k] + 127) / 255)
		}
	}
	return p
}
