package subject

import (
	"context"
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
// drops less from a shot in which little moves. A thing that comes, waits and goes before a camera
// that stands still is kept while it waits. Moving drops more, and Salient keeps all.
func (c *Clip) Choose(ctx context.Context, w Wanted, network Chooser) error {
	c.wanted, c.network = w, network != nil
	if w == Salient {
		return nil
	}
	g, ctx := errgroup.WithContext(ctx)
	queue := make(chan *asked, 2*cores.Count())
	g.Go(func() error {
		defer close(queue)
		return c.ask(ctx, g, queue, network)
	})
	g.Go(func() error { return c.settle(ctx, queue) })
	return g.Wait()
}

// asked is a frame about which the network is asked, or not: then it says nil.
type asked struct {
	cells    view.Cells
	links    Links
	answered chan struct{} // closed once said is known
	said     []uint8
}

// ask sends all frames to queue, in order, and asks the network about those that the first network
// looked at, several at once.
func (c *Clip) ask(ctx context.Context, g *errgroup.Group, queue chan<- *asked, network Chooser) error {
	turns := make(chan struct{}, cores.Count())
	for i := range c.frames.Len() {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		a := &asked{answered: make(chan struct{})}
		var err error
		if a.cells, a.links, err = c.frame(i); err != nil {
			return err
		}
		switch {
		case network == nil:
			a.said = a.cells.Plane(view.CellCoverage)
			close(a.answered)
		case !c.due[i]:
			close(a.answered)
		default:
			turns <- struct{}{}
			g.Go(func() (err error) {
				defer func() { <-turns }()
				if a.said, err = network(ctx, &a.cells); err == nil {
					close(a.answered)
				}
				return err
			})
		}
		select {
		case queue <- a:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	return nil
}

// settle decides for the frames of a queue, in order. Where the network was not asked, what it said of the
// frame before goes along.
func (c *Clip) settle(ctx context.Context, queue <-chan *asked) error {
	var last []uint8
	i := 0
	for a := range queue {
		select {
		case <-a.answered:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
		if a.said == nil {
			a.said = carried(last, &a.links.Back)
		}
		last = a.said
		if err := c.decide(i, a); err != nil {
			return err
		}
		i++
	}
	if c.watched != nil {
		c.watched.arrivals.conclude()
	}
	return nil
}

// decide keeps what is chosen of frame i.
func (c *Clip) decide(i int, a *asked) error {
	chosen, matte, s := a.said, a.cells.Plane(view.CellCoverage), c.shotOf(i)
	come, err := c.come(s, &a.cells)
	if err != nil {
		return err
	}
	if c.wanted == Moving {
		chosen = slices.Clone(chosen) // what was said goes along to the next frames
		dropStill(&a.cells, chosen, come)
	}
	if c.network {
		s.found.add(&a.cells, chosen)
		s.arrivals.add(come, chosen, matte)
	}
	return c.chosen.Append(matte, chosen, a.cells.Plane(view.TrackCoverage), come)
}

// Choice is what Choose or Guide found for frame i.
func (c *Clip) Choice(i int) (Choice, error) {
	choice, err := c.choice(i)
	switch {
	case err != nil:
	case c.before != nil:
		err = c.last(&choice, i)
	case c.hinted != nil:
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
	before, chosen, tracked, come := make([]uint8, n), make([]uint8, n), make([]uint8, n), make([]uint8, n)
	if err := c.chosen.Read(i, before, chosen, tracked, come); err != nil {
		return none, err
	}
	d := c.drop(i)
	if d.visits {
		c.shotOf(i).arrivals.change(chosen, before, come)
	}
	return newChoice(before, chosen, tracked, c.grid, d, c.meter.w, c.meter.h), nil
}
