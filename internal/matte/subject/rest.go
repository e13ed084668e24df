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
	// joins bounds what motion adds for a place where a thing is kept. A place that the network is
	// surest about stays apart.
	joins = 4.5
	// limits is how much it counts against a kept thing that a clip's own matte lacks a place.
	limits = 0.5
)

// ownMattes are what a clip itself has in a frame, in the size of Guide's pictures.
type ownMattes struct {
	// all is the network's matte or, where that is more, what Choose made of it. Where something is
	// dropped, it is the latter.
	all []uint8
	// limit has what a kept thing should be within: what Choose made, if that has what was marked,
	// and otherwise all.
	limit []uint8
}

// ownMattes are those of frame i, or nil where they tell nothing of the thing. Masks tell enough by
// themselves.
func (f *follower) ownMattes(i int, st *state) (*ownMattes, error) {
	hints := f.hints[i]
	masked := slices.ContainsFunc(hints, func(h Hint) bool { return h.Mask != nil })
	if masked || !f.drops && !st.covered && !keeps(hints) {
		return nil, nil
	}
	all, chosen, err := f.clip.mattesOf(i)
	if err != nil {
		return nil, err
	}
	if f.drops {
		return &ownMattes{all: chosen, limit: chosen}, nil
	}
	for k, a := range chosen {
		all[k] = max(all[k], a)
	}
	if keeps(hints) {
		st.covered, st.chosen = covers(all, st.keep), covers(chosen, st.keep)
	}
	switch {
	case !st.covered:
		return nil, nil
	case !st.chosen:
		return &ownMattes{all: all, limit: all}, nil
	}
	return &ownMattes{all: all, limit: chosen}, nil
}

// divide changes the matte of what hints mark in a frame. Where the clip's own matte has the thing
// and the rest together, how they move decides between them. A place that moves as a kept thing does,
// and not as the backdrop, belongs to the thing. Outside of the clip's own matte, a place that moves
// as the backdrop does goes.
func (f *follower) divide(ctx context.Context, i int, v *view.Marked, all marks, own *ownMattes, matte []uint8) error {
	odds, err := f.odds(ctx, i, v, all, matte, own)
	if err != nil {
		return err
	}
	c, size := f.clip, image.Pt(f.marks.w, f.marks.h)
	within := make([]float32, len(matte))
	for k, m := range matte {
		within[k] = float32(max(m, own.all[k])) / 255
	}
	var covered []float32
	if !f.drops {
		covered = c.pooled(shares(own.all), size)
	}
	told, err := c.apart(i, c.pooled(odds, size), c.pooled(within, size), covered)
	if err != nil {
		return err
	}
	between(told, c.grid, size, image.Pt(c.meter.w, c.meter.h), func(y int, row []float32) {
		for x, t := range row {
			k := y*size.X + x
			if f.drops {
				matte[k] = uint8(min(255*likely(odds[k]+t), rim*float32(own.all[k])) + 0.5)
				continue
			}
			share := float32(own.all[k]) / 255
			matte[k] = round(likely(odds[k] + share*min(t, joins) + (1-share)*min(t, 0)))
		}
	})
	return nil
}

// covers reports whether a matte has most of what is marked.
func covers(own []uint8, marked []float32) bool {
	var on, all int
	for k, mark := range marked {
		if mark >= boxed {
			on, all = on+int(own[k]), all+255
		}
	}
	return 2*on > all
}

// odds are those of the thing, as logarithms: the network's, and within the frame's own matte
// against those of the rest. In a frame with hints the network tells the rest, too. In other
// frames the rest is the part of that matte that the network did not find.
func (f *follower) odds(ctx context.Context, i int, v *view.Marked, all marks, matte []uint8, own *ownMattes) ([]float32, error) {
	odds := make([]float32, len(matte))
	against := func(k int, thing, rest float32) {
		share := float32(own.all[k]) / 255
		odds[k] = share*(thing-rest) + (1-share)*sure(matte[k])
		if !f.drops {
			odds[k] += limits * min(sure(own.limit[k]), 0)
		}
	}
	if len(f.hints[i]) == 0 {
		for k, m := range matte {
			against(k, sure(m)/2, sure(own.all[k]-min(m, own.all[k]))/2)
		}
		return odds, nil
	}
	rest, err := f.rest(ctx, v, all, own.all)
	if err != nil {
		return nil, err
	}
	for k, m := range matte {
		against(k, sure(m), second*sure(min(rest[k], own.all[k])))
	}
	return odds, nil
}

// rest is the network's matte of what stays of a frame's own one. It is shown that, with marks on
// what is wrong in it.
func (f *follower) rest(ctx context.Context, v *view.Marked, all marks, own []uint8) ([]uint8, error) {
	r := v.Unmarked()
	marks{keep: all.drop, drop: all.keep}.show(&r)
	copy(r.Plane(view.MarkBefore), own)
	for k, trust := 0, r.Plane(view.MarkTrust); k < len(trust); k++ {
		trust[k] = 255
	}
	return f.network(ctx, &r)
}

// mattesOf are the network's matte of frame i and what Choose made of it, in the size of Guide's
// pictures.
func (c *Clip) mattesOf(i int) (found, chosen []uint8, err error) {
	m := image.NewAlpha(c.marker().bounds())
	if err := c.mattes.Read(i, m.Pix); err != nil {
		return nil, nil, err
	}
	found = slices.Clone(m.Pix)
	choice, err := c.choice(i)
	if err != nil {
		return nil, nil, err
	}
	choice.Apply(m)
	return found, m.Pix, nil
}

// pooled are the means over cells of the values of a picture's pixels.
func (c *Clip) pooled(values []float32, size image.Point) []float32 {
	means, counts := make([]float32, c.grid.X*c.grid.Y), make([]float32, c.grid.X*c.grid.Y)
	columns := make([]int, size.X) // the cell of each, in its row
	for x := range columns {
		columns[x] = x * c.meter.w / size.X / cell
	}
	for y := range size.Y {
		first := y * c.meter.h / size.Y / cell * c.grid.X
		for x, v := range values[y*size.X : (y+1)*size.X] {
			means[first+columns[x]] += v
			counts[first+columns[x]]++
		}
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
