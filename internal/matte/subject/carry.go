package subject

import (
	"image"

	"github.com/bgremove/bgremove/internal/matte/motion"
	"github.com/bgremove/bgremove/internal/matte/view"
)

// said is what the network said of the last frame, or what was carried there.
type said struct {
	matte *image.Alpha
	seen  view.Features
}

// Carry is what the network said of the frame before, at the places to which that has moved. It is for steps
// that are not Due. Call it before the step's Add.
func (c *Clip) Carry(s *Step) (*image.Alpha, view.Features) {
	m := image.NewAlpha(s.picture.Rect)
	carry(m.Pix, c.said.matte.Pix, &s.pixels.back, c.meter.weight, c.meter.residual)
	return m, carryFeatures(c.said.seen, &s.links.Back)
}

// carry sets dst to bytes that moved, and returns their sum as shares of 255. Places that come into
// the picture are as the nearest place inside was. Both buffers have the size of the field.
func carry(dst, from []uint8, back *motion.Field, before, after []float32) (sum float32) {
	const outside = -1
	for i, v := range from {
		before[i] = float32(v)
	}
	back.Carry(after, before, outside)
	for i, v := range after {
		if v == outside {
			x, y := float32(i%back.W)+back.X[i], float32(i/back.W)+back.Y[i]
			v = before[inside(y, back.H)*back.W+inside(x, back.W)]
		}
		dst[i] = uint8(v + 0.5)
		sum += v
	}
	return sum / 255
}

// carried are bytes that moved.
func carried(from []uint8, back *motion.Field) []uint8 {
	n := len(from)
	to := make([]uint8, n)
	carry(to, from, back, make([]float32, n), make([]float32, n))
	return to
}

// inside is the place of n that is nearest to x.
func inside(x float32, n int) int { return int(max(min(x+0.5, float32(n-1)), 0)) }

// carryFeatures are features that moved by the motion of cells.
func carryFeatures(f view.Features, back *motion.Field) view.Features {
	var way motion.Field
	way.Set(f.W, f.H)
	for i := range way.X {
		k := i/f.W*2*back.W + i%f.W*2
		way.X[i], way.Y[i] = back.X[k]/2, back.Y[k]/2
	}
	n := f.W * f.H
	to := view.Features{W: f.W, H: f.H, Pix: make([]uint8, len(f.Pix))}
	before, after := make([]float32, n), make([]float32, n)
	for at := 0; at < len(f.Pix); at += n {
		carry(to.Pix[at:][:n], f.Pix[at:][:n], &way, before, after)
	}
	return to
}
