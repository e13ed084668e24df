package subject

import "github.com/bgremove/bgremove/internal/matte/view"

const (
	// Auto drops nothing from a shot in which the subject is lively in at most livelyMin of the
	// frames, and all that the network does not choose from livelyFull on.
	livelyMin, livelyFull = 0.5, 0.8
	// Otherwise that goes of which the network is sure, if it finds a subject that moves. It
	// finds one in a frame of which it chooses at least foundArea, of cells with shares of
	// foundShare or more: in up to foundMin of the frames nothing goes, and from foundFull on all.
	foundMin, foundFull   = 0.5, 0.9
	foundArea, foundShare = 0.005, 0.8
	// Nothing goes where what it finds moves by at most calm, as the mean of view.TrackMotion,
	// and all from brisk on. So a person who only moves the arms keeps the body.
	calm, brisk = 0.5, 0.7
	// The network is sure that a cell is backdrop up to a share of backdropSure, and not from
	// backdropNot on.
	backdropSure, backdropNot = 0.1, 0.2
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

// drop is how much of what is not chosen goes, from 0 to 1: the least, and the most where the
// network is sure.
type drop struct{ least, most float64 }

// drop is that of frame i.
func (c *Clip) drop(i int) drop {
	switch c.wanted {
	case Salient:
		return drop{}
	case Moving:
		return drop{1, 1}
	}
	s := c.shotOf(i)
	f := &s.found
	finds := ramp(float64(f.frames)/float64(s.last-s.first+1), foundMin, foundFull)
	moves := ramp(float64(f.motion)/float64(255*max(f.cells, 1)), calm, brisk)
	d := drop{least: ramp(s.lively, livelyMin, livelyFull)}
	d.most = max(d.least, finds*moves)
	return d
}

// of is how much goes of a cell of which a share of 255 is chosen.
func (d drop) of(chosen uint8) float32 {
	return float32(d.most + (d.least-d.most)*ramp(float64(chosen)/255, backdropSure, backdropNot))
}

// ramp goes from 0 at lo to 1 at hi, on whichever side that is.
func ramp[T float32 | float64](v, lo, hi T) T { return min(max((v-lo)/(hi-lo), 0), 1) }
