package pipeline

import (
	"image"
	"sync/atomic"
)

// glimpse shows one cut-out of the first pass: the first with a subject in it,
// else, when the pass has ended, the first.
type glimpse struct {
	show   func(*image.NRGBA)
	wanted atomic.Bool
	first  *image.NRGBA
}

func newGlimpse(show func(*image.NRGBA)) *glimpse {
	g := &glimpse{show: show}
	g.wanted.Store(show != nil)
	return g
}

// see takes the cut-outs in order, with the box of the subject.
func (g *glimpse) see(img *image.NRGBA, box image.Rectangle) {
	switch {
	case !g.wanted.Load():
	case !box.Empty():
		g.wanted.Store(false)
		g.show(clone(img))
	case g.first == nil:
		g.first = clone(img)
	}
}

func (g *glimpse) end() {
	if g.first != nil && g.wanted.Swap(false) {
		g.show(g.first)
	}
}
