package subject

import (
	"image"

	"github.com/bgremove/bgremove/internal/matte/motion"
	"github.com/bgremove/bgremove/internal/matte/view"
)

// Neighbouring frames show much the same, and the network says much the same of them. So it does
// not look at all of them: what it said of one is carried along the motion to the next ones, until
// too much of those is not found in the frames before. Deep feature flow does so (X. Zhu et al.,
// "Deep Feature Flow for Video Recognition", CVPR 2017), there with features alone.
const (
	// carriedMost is in how many frames on end the network does not look.
	carriedMost = 3
	// doubtMost is what may be lost on the way, as a share of the subject and leastSubject of the
	// picture. lostMost is as much of the whole picture: more would be in doubt with most subjects.
	doubtMost, leastSubject, lostMost = 0.4, 0.02, 0.1
	// worstMost is what may be lost of a square of the subject, as a share of it, and square the cells of
	// its side: else a quick hand would be left behind.
	worstMost, square = 0.4, 8
)

// said is what the network said of the last frame, or what was carried there.
type said struct {
	matte *image.Alpha
	seen  view.Features
	doubt float32 // what was lost on the way since the network looked
	worst float32 // the same, of the squares that lost most
}

// Carry is what the network said of the frame before, at the places to which that has moved. If too
// much would be lost, the step becomes Due, and the result is nil. Call it before the step's Add.
func (c *Clip) Carry(s *Step) (*image.Alpha, view.Features) {
	if s.cut {
		return nil, view.Features{}
	}
	last, m := &c.said, image.NewAlpha(s.picture.Rect)
	covered := carry(m.Pix, last.matte.Pix, &s.pixels.back, c.meter.weight, c.meter.residual)
	last.doubt += s.lost / (covered/float32(len(m.Pix)) + leastSubject)
	last.worst += c.worst(s, m)
	if last.doubt > doubtMost || last.worst > worstMost {
		s.Due = true
		return nil, view.Features{}
	}
	return m, carryFeatures(last.seen, &s.links.Back)
}

// worst is the greatest share of a square with some of a matte that is not found in the frame before.
func (c *Clip) worst(s *Step, m *image.Alpha) (worst float32) {
	c.meter.cover(m)
	grid, covered := c.meter.grid, c.meter.sample.matte
	for v := 0; v < grid.Y; v += square {
		for u := 0; u < grid.X; u += square {
			lost, some := float32(0), false
			right, below := min(u+square, grid.X), min(v+square, grid.Y)
			for y := v; y < below; y++ {
				for x := u; x < right; x++ {
					lost += 1 - s.links.Trust[y*grid.X+x]
					some = some || covered[y*grid.X+x] > open
				}
			}
			if some {
				worst = max(worst, lost/float32((right-u)*(below-v)))
			}
		}
	}
	return worst
}

// carry sets dst to bytes that moved, and returns their sum as shares of 255. What comes into the
// picture is as the nearest place inside was. Both buffers have the size of the field.
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
