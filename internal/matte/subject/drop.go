package subject

import "github.com/bgremove/bgremove/internal/matte/view"

const (
	// Auto drops nothing from a shot in which the subject is lively in at most livelyMin of the
	// frames, and all that the network does not choose from livelyFull on.
	livelyMin, livelyFull = 0.5, 0.8
	// Otherwise that goes of which the network is sure, if it finds a subject. It finds one in a
	// frame of which it chooses at least foundArea, of cells with shares of foundShare or more: in
	// up to foundMin of the frames nothing goes, and from foundFull on all.
	foundMin, foundFull   = 0.5, 0.9
	foundArea, foundShare = 0.005, 0.8
	// The network is sure that a cell is backdrop up to a share of backdropSure, and not from
	// backdropNot on.
	backdropSure, backdropNot = 0.1, 0.2
	// What the matte always has stays beside a calm subject, so a person who only moves the arms
	// keeps the body. A subject is calm if its mean view.TrackMotion is at most calm, and not
	// from brisk on. As view.TrackCoverage tells, a matte has a cell always from always on, and
	// not up to seldom.
	calm, brisk    = 0.5, 0.7
	seldom, always = 0.7, 0.9
	// What the matte has even less, up to hardly and not from partly on, also goes where no
	// subject is found: it would be a haze.
	hardly, partly = 0.4, 0.6
)

// found is what the network finds in a shot.
type found struct {
	frames int
	cells  int
	motion int // the sum of those cells' view.TrackMotion
}

// add adds a frame.
func (f *found) add(v *view.Cells, chosen []uint8) {
	cells, motion := 0, 0
	for k, m := range v.Plane(view.TrackMotion) {
		if float32(chosen[k]) >= 255*foundShare {
			cells++
			motion += int(m)
		}
	}
	if float64(cells) >= foundArea*float64(len(chosen)) {
		f.frames++
	}
	f.cells += cells
	f.motion += motion
}

// drop is how much of what is not chosen goes from a shot, from 0 to 1: the least, and where a
// network chose, how far it finds a subject, and a brisk one.
type drop struct {
	least, finds, moves float64
	network             bool
}

// drop is that of frame i.
func (c *Clip) drop(i int) drop {
	if c.wanted == Moving {
		return drop{least: 1}
	}
	s := c.shotOf(i)
	f := &s.found
	return drop{
		least:   ramp(s.lively, livelyMin, livelyFull),
		finds:   ramp(float64(f.frames)/float64(s.last-s.first+1), foundMin, foundFull),
		moves:   ramp(float64(f.motion)/float64(255*max(f.cells, 1)), calm, brisk),
		network: c.network,
	}
}

// of is how much goes of a cell of which chosen is subject. tracked is the most
// view.TrackCoverage of it and of those around it, so that what stays keeps its rims. Both are
// shares of 255.
func (d drop) of(chosen, tracked uint8) float32 {
	if !d.network {
		return float32(d.least)
	}
	sure := ramp(float64(chosen)/255, backdropNot, backdropSure)
	covered := float64(tracked) / 255
	beside := d.finds * max(d.moves, ramp(covered, always, seldom))
	return float32(max(d.least, sure*max(beside, ramp(covered, partly, hardly))))
}

// ramp goes from 0 at lo to 1 at hi, on whichever side that is.
func ramp[T float32 | float64](v, lo, hi T) T { return min(max((v-lo)/(hi-lo), 0), 1) }
