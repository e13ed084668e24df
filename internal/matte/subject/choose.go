package subject

import (
	"context"
	"errors"
	"image"
	"slices"

	"golang.org/x/sync/errgroup"

	"github.com/bgremove/bgremove/internal/matte/view"
	"github.com/bgremove/bgremove/internal/system/cores"
)

// Chooser tells which share of each cell of a frame, of 255, is subject. It is safe for
// concurrent use.
type Chooser func(context.Context, *view.Cells) ([]uint8, error)

// Choose decides for every frame, after Decide. Without a network, what the mattes cover is
// chosen. A still subject and a still thing of the backdrop have the same motion, so Auto
// drops less from a shot in which little moves. Moving drops more, and Salient keeps all.
func (c *Clip) Choose(ctx context.Context, w Wanted, network Chooser) error {
	c.wanted, c.network = w, network != nil
	if w == Salient {
		return nil
	}
	some := 2 * cores.Count()
	for first := 0; first < c.frames.Len(); first += some {
		if err := c.chooseSome(ctx, first, min(first+some, c.frames.Len()), network); err != nil {
			return err
		}
	}
	return nil
}

// chooseSome decides for the frames from first up to end, several at once.
func (c *Clip) chooseSome(ctx context.Context, first, end int, network Chooser) error {
	cells, chosen := make([]view.Cells, end-first), make([][]uint8, end-first)
	g, ctx := errgroup.WithContext(ctx)
	for i := range cells {
		v := &cells[i]
		var err error
		if *v, err = c.Frame(first + i); err != nil {
			return errors.Join(err, g.Wait())
		}
		g.Go(func() (err error) {
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			chosen[i] = slices.Clone(v.Plane(view.CellCoverage))
			if network != nil {
				chosen[i], err = network(ctx, v)
			}
			if err == nil && c.wanted == Moving {
				dropStill(v, chosen[i])
			}
			return err
		})
	}
	if err := g.Wait(); err != nil {
		return err
	}
	for i := range cells {
		if err := c.chosen.Append(cells[i].Plane(view.CellCoverage), chosen[i], cells[i].Plane(view.TrackCoverage)); err != nil {
			return err
		}
		if network != nil {
			c.shotOf(first+i).found.add(&cells[i], chosen[i])
		}
	}
	return nil
}

// Choice is what Choose or Guide found for frame i.
func (c *Clip) Choice(i int) (Choice, error) {
	choice, err := c.choice(i)
	if err == nil && c.hinted != nil {
		m := image.NewAlpha(c.marker().bounds())
		if err = c.hints.Read(c.hinted[i], m.Pix); err == nil {
			choice.hint(m, c.followed, i)
		}
	}
	return choice, err
}

// choice is what Choose found for frame i.
func (c *Clip) choice(i int) (Choice, error) {
	none := Choice{grid: c.grid, w: c.meter.w, h: c.meter.h}
	if i >= c.chosen.Len() {
		return none, nil
	}
	n := c.grid.X * c.grid.Y
	before, chosen, tracked := make([]uint8, n), make([]uint8, n), make([]uint8, n)
	if err := c.chosen.Read(i, before, chosen, tracked); err != nil {
		return none, err
	}
	return newChoice(before, chosen, tracked, c.grid, c.drop(i), c.meter.w, c.meter.h), nil
}

// dropStill drops cells that move little, together with their neighbours and by the share
// that the matte has of each.
func dropStill(v *view.Cells, chosen []uint8) {
	motion, trust, matte := v.Plane(view.TrackMotion), v.Plane(view.TrackTrust), v.Plane(view.CellCoverage)
	limit := movingShare * float32(v.Plane(view.ShotSubject)[0])
	for y := range v.H {
		for x := range v.W {
			var sum, weight float32
			for j := max(y-1, 0); j <= min(y+1, v.H-1); j++ {
				for i := max(x-1, 0); i <= min(x+1, v.W-1); i++ {
					if k := j*v.W + i; frames[trust[k]] >= seenLeast {
						w := max(float32(matte[k]), 5)
						sum, weight = sum+w*float32(motion[k]), weight+w
					}
				}
			}
			if weight > 0 && sum < limit*weight {
				chosen[y*v.W+x] = 0
			}
		}
	}
}
