package subject

import (
	"math"
	"slices"

	"github.com/bgremove/bgremove/internal/matte/motion"
	"github.com/bgremove/bgremove/internal/matte/view"
)

// This file tells what comes and goes before a camera that stands still. A person who walks in and
// then waits does not move for a while. But the place is seen without a matte at other times, and
// looks different then. That is background subtraction, with the network's mattes as things (C.
// Stauffer and W. Grimson, "Adaptive Background Mixture Models for Real-Time Tracking", CVPR 1999).

const (
	// stands is how far, in cells, the measured way of a camera that stands still may lead. Small
	// errors add up over long shots.
	stands = 1
	// samplesMost is in how many frames of a shot, spread evenly, places are looked at, and
	// samplesLeast in how many a look must be seen.
	samplesMost, samplesLeast = 64, 3
	// A place is seen empty where the matte covers up to bare of its cell, as a share of 255. From
	// thing on it is part of a thing.
	bare, thing = 25, 128
	// leastApart is the least difference between two looks, of 255 in one channel. The difference
	// must also be spreads times the mean difference within a look.
	leastApart, spreads = 20, 5
	// mostlyNew is the share of a thing's cells from which on it comes and goes.
	mostlyNew = 0.5
	// A cell moves now from a view.CellMotion of movesNow on, or where view.CellTrust, below seenNow of 255,
	// tells nothing. A thing waits if fewer than movesLeast of its cells move.
	movesNow, unknown = 128, 76
	// markComes and markWaits are of cells of things that come and go, and markIdle of those of idle
	// things. The network judges what moves now.
	markComes, markWaits, markIdle = 1, 2, 3
)

// drift is the way of a camera, in cells: the sums of the backdrop's median motion in each quarter of
// the picture. A zoom moves them apart. Two quarters may be wrong: a person who walks past a bare wall
// seems to take it along.
type drift [4]struct {
	at, least, most [2]float64
	open            bool // there was backdrop
}

// fastest is how many steps of a record are told apart, either way: a histogram holds them.
const fastest = 64

// add adds the motion of a frame to the one before, as the record has it, where mattes leave the
// backdrop open. Less than a step is an error that would add up, or a pan that is too slow to be
// seen.
func (d *drift) add(back *motion.Field, matte []float32) {
	if d.far() {
		return
	}
	for axis, way := range [][]float32{back.X, back.Y} {
		var quarters [len(d)]histogram
		for k, m := range matte {
			if m < open {
				steps := int(min(max(way[k]/step, -fastest), fastest))
				quarters[quarter(k, back.W, back.H)].count(steps + fastest)
			}
		}
		for q := range d {
			part, h := &d[q], &quarters[q]
			if h.all == 0 {
				continue
			}
			part.open = true
			part.at[axis] += step * (math.Round(255*h.quantile(0.5)) - fastest)
			part.least[axis], part.most[axis] = min(part.least[axis], part.at[axis]), max(part.most[axis], part.at[axis])
		}
	}
}

// quarter is in which quarter of a picture of w × h cells a cell is.
func quarter(k, w, h int) int {
	q := 0
	if 2*(k%w) >= w {
		q++
	}
	if 2*(k/w) >= h {
		q += 2
	}
	return q
}

// far reports whether the camera moved: whether most of the quarters did.
func (d *drift) far() bool {
	all, far := 0, 0
	for _, part := range d {
		if part.open {
			all++
		}
		if max(part.most[0]-part.least[0], part.most[1]-part.least[1]) > stands {
			far++
		}
	}
	return 2*far > all
}

// look is how cells look: the median of each channel. From the difference apart on something else is
// seen. It is 0 where the look is not known.
type look struct {
	colour [3][]uint8
	apart  []uint8
}

// comings are what is known of the places of a shot before a camera that stands still.
type comings struct {
	cells marker
	empty look // without a matte
	idle  look // where things are that neither come nor go
}

// glance is what is known of a frame: its matte and colours.
type glance struct {
	matte  []uint8
	colour [3][]uint8
}

// come marks the cells of a frame in things that come and go. Frames are asked for in their order.
func (c *Clip) come(s *shot, v *view.Cells) ([]uint8, error) {
	if c.watched != s {
		var err error
		if c.watched != nil {
			c.watched.arrivals.conclude()
		}
		if c.comings, err = c.watch(s); err != nil {
			return nil, err
		}
		c.watched = s
	}
	if c.comings == nil { // the camera moves
		return make([]uint8, len(v.Plane(view.CellCoverage))), nil
	}
	g := glance{v.Plane(view.CellCoverage), [3][]uint8{v.Plane(view.CellRed), v.Plane(view.CellGreen), v.Plane(view.CellBlue)}}
	return c.comings.marks(g, v), nil
}

// watch looks at frames of a shot. There is nothing to tell where the camera moves, or nothing is
// dropped.
func (c *Clip) watch(s *shot) (*comings, error) {
	if s.drift.far() || s.last-s.first+1 < 2*samplesLeast || !c.network && c.wanted != Moving {
		return nil, nil
	}
	w := &comings{cells: marker{w: c.grid.X, h: c.grid.Y}}
	var all []glance
	n := s.last - s.first + 1
	for i := range min(n, samplesMost) {
		var r record
		if err := c.read(s.first+i*n/min(n, samplesMost), &r); err != nil {
			return nil, err
		}
		all = append(all, r.glance())
	}
	w.empty = learn(all, func(i, k int) bool { return all[i].matte[k] <= bare })
	idle := make([][]bool, len(all))
	for i, g := range all {
		idle[i] = w.idleCells(g)
	}
	w.idle = learn(all, func(i, k int) bool { return idle[i][k] })
	return w, nil
}

// learn is the look of cells in those frames that count.
func learn(all []glance, counts func(frame, cell int) bool) (l look) {
	n := len(all[0].matte)
	l.apart = make([]uint8, n)
	for c := range l.colour {
		l.colour[c] = make([]uint8, n)
	}
	values := make([]uint8, 0, len(all))
	for k := range n {
		for c := range l.colour {
			values = values[:0]
			for i := range all {
				if counts(i, k) {
					values = append(values, all[i].colour[c][k])
				}
			}
			if len(values) < samplesLeast {
				break
			}
			slices.Sort(values)
			median := values[len(values)/2]
			sum := 0
			for _, v := range values {
				sum += absolute(v, median)
			}
			l.colour[c][k] = median
			l.apart[k] = max(l.apart[k], leastApart, uint8(min(spreads*sum/len(values), math.MaxUint8)))
		}
	}
	return l
}

func absolute(a, b uint8) int { return int(max(a, b) - min(a, b)) }

// known reports whether a cell's look is known.
func (l *look) known(k int) bool { return l.apart[k] > 0 }

// like reports whether a frame shows a cell's look.
func (l *look) like(g glance, k int) bool {
	most := 0
	for c := range l.colour {
		most = max(most, absolute(l.colour[c][k], g.colour[c][k]))
	}
	return l.known(k) && most <= int(l.apart[k])
}

// things calls do for the things of a frame's matte, with whether each comes and goes.
func (w *comings) things(g glance, do func(cells []int, fresh bool)) {
	w.cells.pieces(func(k int) bool { return g.matte[k] >= thing }, func(cells []int) {
		other := 0
		for _, k := range cells {
			if w.empty.known(k) && !w.empty.like(g, k) {
				other++
			}
		}
		do(cells, float64(other) >= mostlyNew*float64(len(cells)))
	})
}

// idleCells are those of things that neither come nor go.
func (w *comings) idleCells(g glance) []bool {
	idle := make([]bool, len(g.matte))
	w.things(g, func(cells []int, fresh bool) {
		for _, k := range cells {
			idle[k] = !fresh
		}
	})
	return idle
}

// marks are those of things with their rims. The rim of a thing that comes and goes has none where
// an idle thing is seen.
func (w *comings) marks(g glance, v *view.Cells) []uint8 {
	marks, motion, trust := make([]uint8, len(g.matte)), v.Plane(view.CellMotion), v.Plane(view.CellTrust)
	now := func(k int) bool { return motion[k] >= movesNow || trust[k] <= unknown }
	w.things(g, func(cells []int, fresh bool) {
		mark, moving := uint8(markIdle), 0
		for _, k := range cells {
			if now(k) {
				moving++
			}
		}
		switch {
		case fresh && float64(moving) >= movesLeast*float64(len(cells)):
			mark = markComes
		case fresh:
			mark = markWaits
		}
		for _, k := range cells {
			w.cells.each(w.cells.beside(k), func(k, _, _ int) {
				as := w.idle.like(g, k)
				switch {
				case mark != markIdle && !as:
					marks[k] = mark
				case mark == markIdle && marks[k] == 0 && (as || g.matte[k] < thing) && !now(k):
					marks[k] = markIdle
				}
			})
		}
	})
	return marks
}

// arrivals count the cells of a shot that come and go.
type arrivals struct {
	come   int // in things that come and go
	either int // in those, or chosen
	rest   int // in the matte, and neither

	seen, chosen []uint32 // in how many frames each cell is one of an idle thing, and what was chosen of it then
	seldom       []bool   // after conclude: cells of idle things that are seldom chosen
}

// add adds a frame.
func (a *arrivals) add(come, chosen, matte []uint8) {
	for k, m := range matte {
		if come[k] == markIdle {
			if a.seen == nil {
				a.seen, a.chosen = make([]uint32, len(matte)), make([]uint32, len(matte))
			}
			a.seen[k]++
			a.chosen[k] += uint32(chosen[k])
		}
		switch is := float32(chosen[k]) >= 255*foundShare; {
		case (come[k] == markComes || come[k] == markWaits) && m >= thing:
			a.come++
			a.either++
		case is:
			a.either++
		case m >= thing:
			a.rest++
		}
	}
}

// conclude ends the shot: what the network chooses of an idle thing in few frames is an error there.
func (a *arrivals) conclude() {
	if a.seen == nil {
		return
	}
	a.seldom = make([]bool, len(a.seen))
	for k, n := range a.seen {
		a.seldom[k] = 2*a.chosen[k] < 255*n
	}
	a.seen, a.chosen = nil, nil
}

// change brings what is chosen of a frame to what is known of the shot.
func (a *arrivals) change(chosen, before, come []uint8) {
	for k, mark := range come {
		switch {
		case mark == markWaits:
			chosen[k] = max(chosen[k], before[k])
		case mark == markIdle && len(a.seldom) > 0 && a.seldom[k]:
			chosen[k] = 0
		}
	}
}

// tell reports whether the subject is what comes and goes: most of what is chosen does, and more
// than would be dropped.
func (a *arrivals) tell() bool { return 2*a.come > a.either && a.come > a.rest }
