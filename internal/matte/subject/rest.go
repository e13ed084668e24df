package subject

import (
	"context"
	"image"
	"math"
	"slices"

	"github.com/bgremove/bgremove/internal/matte/view"
)

const (
	// surer is how far from 0 and 255 the network's mattes count as no surer.
	surer = 2
	// second is how much the network's rest counts beside the thing that it finds. It is made for
	// things, and takes parts of a person for the rest.
	second = 0.5
	// rim is how many times as much of a pixel as is subject may go: its edges go with a thing.
	rim = 4
)

// divide changes the matte of what hints drop in a frame. There the clip's own matte has the thing
// and the rest together, and how they move decides between them. In a frame with hints the
// network tells the rest, too. Masks tell enough by themselves.
func (f *follower) divide(ctx context.Context, i int, v *view.Marked, all marks, matte []uint8) error {
	hints := f.hints[i]
	if !f.drops || slices.ContainsFunc(hints, func(h Hint) bool { return h.Mask != nil }) {
		return nil
	}
	own, err := f.clip.own(i)
	if err != nil {
		return err
	}
	odds, within := make([]float32, len(matte)), make([]float32, len(matte))
	for k, m := range matte {
		odds[k] = (sure(m) - sure(own[k]-min(m, own[k]))) / 2
		within[k] = float32(own[k]) / 255
	}
	if len(hints) > 0 {
		rest, err := f.rest(ctx, v, all, own)
		if err != nil {
			return err
		}
		for k, m := range matte {
			odds[k] = sure(m) - second*sure(min(rest[k], own[k]))
		}
	}
	c, size := f.clip, image.Pt(f.marks.w, f.marks.h)
	moved, err := c.apart(i, c.pooled(odds, size), c.pooled(within, size))
	if err != nil {
		return err
	}
	between(moved, c.grid, size, image.Pt(c.meter.w, c.meter.h), func(y int, row []float32) {
		for x, v := range row {
			k := y*size.X + x
			matte[k] = uint8(min(255*likely(odds[k]+v), rim*float32(own[k])) + 0.5)
		}
	})
	return nil
}

// rest is the network's matte of what stays of a frame's own one. It is shown that, with marks on
// what is wrong in it.
func (f *follower) rest(ctx context.Context, v *view.Marked, all marks, own []uint8) ([]uint8, error) {
	r := view.NewMarked(v.W, v.H)
	for _, p := range []view.MarkPlane{view.MarkRed, view.MarkGreen, view.MarkBlue} {
		copy(r.Plane(p), v.Plane(p))
	}
	marks{keep: all.drop, drop: all.keep}.show(&r)
	copy(r.Plane(view.MarkBefore), own)
	for k, trust := 0, r.Plane(view.MarkTrust); k < len(trust); k++ {
		trust[k] = 255
	}
	return f.network(ctx, &r)
}

// own is the matte of frame i without hints, in the size of Guide's pictures.
func (c *Clip) own(i int) ([]uint8, error) {
	m := image.NewAlpha(c.marker().bounds())
	if err := c.mattes.Read(i, m.Pix); err != nil {
		return nil, err
	}
	choice, err := c.choice(i)
	if err != nil {
		return nil, err
	}
	choice.Apply(m)
	return m.Pix, nil
}

// pooled are the means over cells of the values of a picture's pixels.
func (c *Clip) pooled(values []float32, size image.Point) []float32 {
	means, counts := make([]float32, c.grid.X*c.grid.Y), make([]float32, c.grid.X*c.grid.Y)
	for k, v := range values {
		x, y := k%size.X*c.meter.w/size.X/cell, k/size.X*c.meter.h/size.Y/cell
		means[y*c.grid.X+x] += v
		counts[y*c.grid.X+x]++
	}
	for k, n := range counts {
		means[k] /= max(n, 1)
	}
	return means
}

// sure is the logarithm of a network's odds.
func sure(share uint8) float32 { return logits[min(max(share, surer), 255-surer)] }

// likely is the probability that has odds, as a logarithm.
func likely(odds float32) float32 { return float32(1 / (1 + math.Exp(-float64(odds)))) }
