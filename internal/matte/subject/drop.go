package subject

import "github.com/bgremove/bgremove/internal/matte/view"

// A whole shot is above mostlyLively, mostlyFound and calm, or not. With ramps, things would be half
// there.
const (
	// Auto drops all that the network does not choose from a shot in which the subject is lively
	// in more than mostlyLively of the frames, or comes and goes (see arrivals).
	mostlyLively = 0.65
	// From other shots it drops the cells that the network is sure are backdrop, if the network
	// finds a subject in more than mostlyFound of the frames. It finds one in a frame if it chooses
	// at least foundArea of that, in cells with shares of foundShare or more.
	mostlyFound           = 0.7
	foundArea, foundShare = 0.005, 0.8
	// The network is sure that a cell is backdrop up to a share of backdropSure, and not from
	// backdropNot on.
	backdropSure, backdropNot = 0.1, 0.2
	// Beside a calm subject, cells that the matte always has stay, so a person who only moves the
	// arms keeps the body. A subject is calm if its mean view.TrackMotion is at most calm. A matte
	// always has a cell whose view.TrackCoverage is always or more. Up to seldom, the cell goes.
	calm           = 0.6
	seldom, always = 0.7, 0.9
	// Where no subject is found, cells that the matte hardly has go, too: they would be a haze.
	// Their view.TrackCoverage is hardly or less. From partly on, cells stay.
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

// drop tells how much goes from a shot of what is not chosen: all, or as a network is sure of it.
// finds says that the network finds a subject, and calm that this is calm. visits says that the
// subject comes and goes, so things that wait are kept.
type drop struct {
	all, visits, network, finds, calm bool
}

// drop is that of frame i.
func (c *Clip) drop(i int) drop {
	s := c.shotOf(i)
	f, visits := &s.found, c.wanted == Moving || s.arrivals.tell()
	return drop{
		all:     visits || s.lively > mostlyLively,
		visits:  visits,
		network: c.network,
		finds:   float64(f.frames) > mostlyFound*float64(s.last-s.first+1),
		calm:    float64(f.motion) <= calm*float64(255*f.cells),
	}
}

// of is how much goes of a cell of which chosen is subject. tracked is the most view.TrackCoverage of
// it and of those around it. So things that stay keep their rims. Both are shares of 255.
func (d drop) of(chosen, tracked uint8) float32 {
	sure := ramp(float32(chosen)/255, backdropNot, backdropSure)
	covered := float32(tracked) / 255
	switch {
	case d.all:
		return 1
	case !d.network:
		return 0
	case d.finds && d.calm:
		return sure * ramp(covered, always, seldom)
	case d.finds:
		return sure
	default:
		return sure * ramp(covered, partly, hardly)
	}
}

// ramp goes from 0 at lo to 1 at hi, on whichever side that is.
func ramp(v, lo, hi float32) float32 { return min(max((v-lo)/(hi-lo), 0), 1) }

// movesLeast is the share of a thing's cells from which on it moves. Cells of what comes and goes count
// as moving. A person who moves only head and arms is a thing that moves.
const movesLeast = 0.25

// dropStill drops whole things that move little, and cells of no thing. come has the marks of things.
func dropStill(v *view.Cells, chosen, come []uint8) {
	part := func(k int) bool { return chosen[k] > bare }
	in := marker{w: v.W, h: v.H}.pieces(part, func(cells []int) {
		active := 0
		for _, k := range cells {
			if come[k] == markComes || come[k] == markWaits || moves(v, k) {
				active++
			}
		}
		if float64(active) >= movesLeast*float64(len(cells)) {
			return
		}
		for _, k := range cells {
			chosen[k] = 0
		}
	})
	for k := range chosen {
		if !in[k] && !moves(v, k) {
			chosen[k] = 0
		}
	}
}

// moves reports whether a cell moves, together with its neighbours and by the share that the matte
// has of each, or whether that is not known.
func moves(v *view.Cells, k int) bool {
	motion, trust, matte := v.Plane(view.TrackMotion), v.Plane(view.TrackTrust), v.Plane(view.CellCoverage)
	limit := movingShare * float32(v.Plane(view.ShotSubject)[0])
	x, y := k%v.W, k/v.W
	var sum, weight float32
	for j := max(y-1, 0); j <= min(y+1, v.H-1); j++ {
		for i := max(x-1, 0); i <= min(x+1, v.W-1); i++ {
			if k := j*v.W + i; frames[trust[k]] >= seenLeast {
				w := max(float32(matte[k]), 5)
				sum, weight = sum+w*float32(motion[k]), weight+w
			}
		}
	}
	return weight == 0 || sum >= limit*weight
}
