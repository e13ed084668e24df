package subject

import (
	"context"
	"errors"
	"runtime"
	"slices"

	"golang.org/x/sync/errgroup"

	"github.com/bgremove/bgremove/internal/matte/view"
)

// Chooser tells which share of each cell of a frame, of 255, is subject. It is safe for
// concurrent use.
type Chooser func(context.Context, *view.Cells) ([]uint8, error)

// Choose decides for every frame, after Decide. Without a network, what the mattes cover is
// chosen. A still subject and a still thing of the backdrop have the same motion, so Auto
// leaves a shot in which nothing moves what it has. Moving drops more, and Salient keeps all.
func (c *Clip) Choose(ctx context.Context, w Wanted, network Chooser) error {
	c.wanted = w
	if w == Salient {
		return nil
	}
	some := 2 * runtime.GOMAXPROCS(0)
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
		found := found{cells[i].Plane(view.CellCoverage), chosen[i], make([]uint8, len(chosen[i]))}
		if err := c.keep(first+i, &found); err != nil {
			return err
		}
	}
	return nil
}

// found is what was decided of the cells of a frame, as shares of 255: the matte covered
// before, chosen is subject, and gone is what hints drop of that.
type found struct{ before, chosen, gone []uint8 }

// keep keeps what was found of frame i. It may be decided anew.
func (c *Clip) keep(i int, f *found) error {
	if c.at == nil {
		c.at = make([]int, c.frames.Len())
	}
	c.at[i] = c.chosen.Len() + 1
	return c.chosen.Append(f.before, f.chosen, f.gone)
}

// isKept reports whether anything was found of frame i.
func (c *Clip) isKept(i int) bool { return i < len(c.at) && c.at[i] > 0 }

// kept is what was found of frame i.
func (c *Clip) kept(i int) (found, error) {
	n := c.grid.X * c.grid.Y
	f := found{make([]uint8, n), make([]uint8, n), make([]uint8, n)}
	return f, c.chosen.Read(c.at[i]-1, f.before, f.chosen, f.gone)
}

// Choice is what Choose or Guide found for frame i.
func (c *Clip) Choice(i int) (Choice, error) {
	if !c.isKept(i) {
		return Choice{}, nil
	}
	f, err := c.kept(i)
	if err != nil {
		return Choice{}, err
	}
	return newChoice(&f, c.grid, c.drop(i), c.meter.w, c.meter.h), nil
}

// drop is how much of what is not chosen goes from frame i.
func (c *Clip) drop(i int) float32 {
	switch c.wanted {
	case Salient:
		return 0
	case Auto:
		lively := float32(c.shotOf(i).lively)
		return min(max((lively-livelyMin)/(livelyFull-livelyMin), 0), 1)
	}
	return 1
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
