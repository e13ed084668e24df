package pipeline

import (
	"image"
	"sync/atomic"
)

// firstCut shows one cut-out of the first pass: the first with a subject in it,
// else, when the pass has ended, the first.
type firstCut struct {
	show   func(*image.NRGBA)
	wanted atomic.Bool
	first  *image.NRGBA
}

func newFirstCut(show func(*image.NRGBA)) *firstCut {
	g := &firstCut{show: show}
	g.wanted.Store(show != nil)
	return g
}

// add takes the cut-outs in order, with the box of the subject.
func (g *firstCut) add(img *image.NRGBA, box image.Rectangle) {
	switch {
	case !g.wanted.Load():
	case !box.Empty():
		g.wanted.Store(false)
		g.show(clone(img))
	case g.first == nil:
		g.first = clone(img)
	}
}

func (g *firstCut) end() {
	if g.first != nil && g.wanted.Swap(false) {
		g.show(g.first)
	}
}
