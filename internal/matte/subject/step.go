package subject

import (
	"context"
	"image"
	"sync"

	"github.com/bgremove/bgremove/internal/buffer"
	"github.com/bgremove/bgremove/internal/matte/motion"
	"github.com/bgremove/bgremove/internal/matte/refine"
)

// Step is how a frame follows from the one before.
type Step struct {
	// Due says that the network is to look at the frame. Otherwise Carry does.
	Due bool

	picture *image.NRGBA
	cut     bool
	links   Links
	lost    float32 // share of the picture that is not found in the frame before
	pixels  *pixelLinks
}

// pixelLinks are the motion of pixels to the frame before, and the trust in it.
type pixelLinks struct {
	back  motion.Field
	trust []float32
}

// stepper measures steps.
type stepper struct {
	cuts     refine.CutDetector
	luma     motion.Luma
	pyramids [2]motion.Pyramid // of this frame and the one before
	flow     motion.Flow
	forward  motion.Field
	ahead    []float32
	schedule schedule
	free     sync.Pool
}

// Step measures the next frame's motion: img is a small picture of it, some hundred pixels
// wide, which is kept until Add. due makes the step Due in any case. Call Add for all steps, in
// their order. That may be in another goroutine: a step waits only for the first frame of its shot
// and for the frame that comes `behind` frames before its own.
func (c *Clip) Step(ctx context.Context, img *image.NRGBA, due bool) (*Step, error) {
	t := &c.stepper
	s := &Step{picture: img, cut: t.cuts.Next(img) || t.schedule.frames == 0, links: newLinks(cells(img.Rect.Dx(), img.Rect.Dy()))}
	t.pyramids[0], t.pyramids[1] = t.pyramids[1], t.pyramids[0]
	t.luma.Set(img)
	t.pyramids[0].Set(&t.luma)
	if !s.cut {
		t.measure(s)
	}
	return s, t.schedule.judge(ctx, s, due)
}

// measure finds the motion between the frame before and this one.
func (t *stepper) measure(s *Step) {
	s.pixels, _ = t.free.Get().(*pixelLinks)
	if s.pixels == nil {
		s.pixels = new(pixelLinks)
	}
	p, w, h := s.pixels, t.luma.W, t.luma.H
	t.flow.Between(&p.back, &t.pyramids[0], &t.pyramids[1])
	t.flow.Between(&t.forward, &t.pyramids[1], &t.pyramids[0])
	p.trust, t.ahead = buffer.Sized(p.trust, w*h), buffer.Sized(t.ahead, w*h)
	motion.Consistency(p.trust, &p.back, &t.forward)
	motion.Consistency(t.ahead, &t.forward, &p.back)
	for _, v := range p.trust {
		s.lost += 1 - v
	}
	s.lost /= float32(w * h)
	l := &s.links
	pool(l.Trust, p.trust, w, h, 1)
	pool(l.Ahead, t.ahead, w, h, 1)
	for _, of := range [][2]*motion.Field{{&l.Back, &p.back}, {&l.Forward, &t.forward}} {
		pool(of[0].X, of[1].X, w, h, 1.0/cell)
		pool(of[0].Y, of[1].Y, w, h, 1.0/cell)
	}
}

// newLinks are those of a grid of cells of which no motion is known, as after a cut.
func newLinks(grid image.Point) (l Links) {
	n := grid.X * grid.Y
	l.Trust, l.Ahead = make([]float32, n), make([]float32, n)
	l.Back.Set(grid.X, grid.Y)
	l.Forward.Set(grid.X, grid.Y)
	return l
}

// cells is how many cells a picture of w × h pixels has.
func cells(w, h int) image.Point { return image.Pt((w+cell-1)/cell, (h+cell-1)/cell) }

// pool sets dst to the means over cells of the values of w × h pixels, times scale.
func pool(dst, values []float32, w, h int, scale float32) {
	grid := cells(w, h)
	for v := range grid.Y {
		to := dst[v*grid.X:][:grid.X]
		clear(to)
		rows := min((v+1)*cell, h) - v*cell
		for y := v * cell; y < v*cell+rows; y++ {
			row := values[y*w:][:w]
			for u := range to[:w/cell] {
				p := row[u*cell : u*cell+cell : u*cell+cell]
				to[u] += p[0] + p[1] + p[2] + p[3]
			}
			for x := w / cell * cell; x < w; x++ {
				to[len(to)-1] += row[x]
			}
		}
		for u := range to {
			columns := min((u+1)*cell, w) - u*cell
			to[u] *= scale / float32(rows*columns)
		}
	}
}
