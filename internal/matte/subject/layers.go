package subject

import (
	"math"

	"golang.org/x/sync/errgroup"

	"github.com/bgremove/bgremove/internal/matte/motion"
)

const (
	// ahead is over how many frames the motion of a thing, of the rest and of the backdrop is
	// compared, both ways.
	ahead = 4
	// sparse is how many cells of a row, and how many rows, there are for each that tells how
	// the backdrop moves.
	sparse = 3
	// passes is how often what belongs to each is decided by the motion, and fits how often a
	// motion is fitted to that.
	passes, fits = 3, 4
	// enough is how many cells are enough to fit a motion to.
	enough = 500
	// steady is the weight of a motion that neither turns nor grows: of 64 cells, each ten from the middle.
	steady = 64 * 10 * 10
	// slack is the square of how far a cell may miss its motion. wobble is the same from frame to
	// frame, when two motions are compared. Both are in cells.
	slack, wobble = 0.1, 0.09
	// telling is what motion counts beside the network, and tells the most that it says. In a
	// cell followed less than briefly it says less.
	telling, tells, briefly = 2, 4, 0.5
	// apartFrom is the most that a way says for a cell because it does not move as the backdrop.
	apartFrom = 1.5
)

// way is where a frame's cells are in another one, and how surely.
type way struct {
	motion.Field
	trust  []float32
	frames int // between the two
	// backdrop is how far each cell that is compared is from the backdrop's motion, as misses tells
	// it. told is what the way tells of each. They are nil where nothing is known.
	backdrop []float64
	told     []float32
}

// apart tells how much each cell's motion in frame i speaks for a thing and against the rest, as
// logarithms of odds. odds are what is known of that. within is the share of each cell that is the
// thing or the rest.
//
// A cell that has none of either is backdrop. covered is the share of each cell that the clip's own
// matte has. If it is given, for a kept thing, the backdrop's motion tells, too. But parts of what is
// covered may stand, as feet do. Where hints only drop something, covered is nil.
//
// Each of the three has an affine motion (J. Y. A. Wang, E. H. Adelson, "Representing Moving
// Images with Layers", IEEE Transactions on Image Processing, 1994). Several frames tell
// what moves alike (T. Brox, J. Malik, "Object Segmentation by Long Term Analysis of Point
// Trajectories", ECCV 2010).
func (c *Clip) apart(i int, odds, within, covered []float32) ([]float32, error) {
	ways, err := c.ways(i)
	if err != nil {
		return nil, err
	}
	told := make([]float32, len(odds))
	cells := c.tracked(within, covered)
	for range passes {
		for i := range cells {
			v := &cells[i]
			if share := within[v.at]; share > 0 {
				p := 2*likely(min(max(odds[v.at], -tells), tells)+told[v.at]) - 1
				v.weights = [layers]float32{ofThing: share * max(p, 0), ofRest: share * max(-p, 0)}
			}
		}
		var g errgroup.Group
		for j := range ways {
			g.Go(func() error {
				ways[j].compare(cells)
				return nil
			})
		}
		_ = g.Wait() // no way fails
		for i := range cells {
			if within[cells[i].at] == 0 {
				continue
			}
			var sum, seen float32
			for j := range ways {
				if w := &ways[j]; w.told != nil {
					sum, seen = sum+w.told[i], seen+w.trust[cells[i].at]
				}
			}
			told[cells[i].at] = telling * min(max(sum/max(seen, briefly), -tells), tells)
		}
	}
	return told, nil
}

// The layers of a frame.
const (
	ofThing = iota
	ofRest
	ofBackdrop
	layers
)

// tracked is a cell whose motion is compared.
type tracked struct {
	at      int
	x, y    float64
	weights [layers]float32 // how much of it is of each layer
	covered float64         // how much of it the clip's own matte has
}

// tracked are the cells that are the thing or the rest and, if covered is given, some of the backdrop.
func (c *Clip) tracked(within, covered []float32) (cells []tracked) {
	for k, share := range within {
		x, y := k%c.grid.X, k/c.grid.X
		v := tracked{at: k, x: float64(x), y: float64(y)}
		if covered != nil {
			v.covered = float64(covered[k])
		}
		switch {
		case share > 0:
			cells = append(cells, v)
		case covered != nil && x%sparse == 0 && y%sparse == 0:
			v.weights[ofBackdrop] = 1
			cells = append(cells, v)
		}
	}
	return cells
}

// compare sets what the way tells of cells: nothing where there is too little of the thing, or
// of the rest and of the backdrop.
func (w *way) compare(cells []tracked) {
	w.told = nil
	if w.backdrop == nil {
		w.backdrop = w.misses(cells, ofBackdrop)
	}
	ours, others := w.misses(cells, ofThing), w.misses(cells, ofRest)
	if ours == nil || others == nil && w.backdrop == nil {
		return
	}
	w.told = make([]float32, len(cells))
	most := wobble * float64(w.frames)
	for i := range cells {
		var odds float64
		if others != nil {
			odds = math.Log((most + others[i]) / (most + ours[i]))
		}
		if w.backdrop != nil {
			stands := math.Log((most + w.backdrop[i]) / (most + ours[i]))
			odds += min(max(stands, (1-cells[i].covered)*stands), apartFrom)
		}
		w.told[i] = w.trust[cells[i].at] * float32(odds)
	}
}

// ways are those from frame i to the ones near it in its shot.
func (c *Clip) ways(i int) (all []way, err error) {
	n := c.grid.X * c.grid.Y
	dx, dy, on := make([]float32, n), make([]float32, n), make([]float32, n)
	for _, step := range [...]int{1, -1} {
		last := way{trust: make([]float32, n)}
		last.Set(c.grid.X, c.grid.Y)
		for k := range last.trust {
			last.X[k], last.Y[k], last.trust[k] = 0, 0, 1
		}
		for frames := 1; frames <= ahead && c.shotOf(i).has(i+step*frames); frames++ {
			links, err := c.links(i + step*frames + (1-step)/2)
			if err != nil {
				return nil, err
			}
			further, trust := &links.Forward, links.Ahead
			if step < 0 {
				further, trust = &links.Back, links.Trust
			}
			last.Carry(dx, further.X, 0)
			last.Carry(dy, further.Y, 0)
			last.Carry(on, trust, 0)
			next := way{trust: make([]float32, n), frames: frames}
			next.Set(c.grid.X, c.grid.Y)
			for k := range on {
				next.X[k], next.Y[k], next.trust[k] = last.X[k]+dx[k], last.Y[k]+dy[k], last.trust[k]*on[k]
			}
			all, last = append(all, next), next
		}
	}
	return all, nil
}

// displaced is where a cell is in a frame, and how it goes from there.
type displaced struct {
	x, y, dx, dy float64
	weight       float64
	missed       float64 // the square of how far it is from a motion
}

// misses is the square of how far each cell is from the affine motion that most cells with a
// weight have. It is nil where these are too few.
func (w *way) misses(cells []tracked, of int) []float64 {
	const few = 3 // cells
	some := w.some(cells, of)
	var all, mx, my float64
	for i := range some {
		m := &some[i]
		all, mx, my = all+m.weight, mx+m.weight*m.x, my+m.weight*m.y
	}
	if all < few {
		return nil
	}
	mx, my = mx/all, my/all
	for i := range some {
		some[i].x, some[i].y = some[i].x-mx, some[i].y-my
	}
	var a [3][2]float64
	for fit := range fits {
		if fit > 0 {
			for i := range some {
				some[i].miss(&a)
			}
		}
		a = fitted(some)
	}
	missed := make([]float64, len(cells))
	for i := range cells {
		v := &cells[i]
		m := displaced{x: v.x - mx, y: v.y - my, dx: float64(w.X[v.at]), dy: float64(w.Y[v.at])}
		m.miss(&a)
		missed[i] = m.missed
	}
	return missed
}

// some are cells with a weight, spread evenly: enough or more, which stand for all, or all where there are
// fewer.
func (w *way) some(cells []tracked, of int) []displaced {
	n := 0
	for i := range cells {
		if cells[i].weights[of] > 0 {
			n++
		}
	}
	each, k := max(1, n/enough), 0
	some := make([]displaced, 0, n/each+1)
	for i := range cells {
		v := &cells[i]
		if v.weights[of] <= 0 {
			continue
		}
		if k++; k%each == 0 {
			some = append(some, displaced{x: v.x, y: v.y, dx: float64(w.X[v.at]), dy: float64(w.Y[v.at]), weight: float64(each) * float64(v.weights[of]*w.trust[v.at])})
		}
	}
	return some
}

// miss sets by how much the cell misses an affine motion.
func (m *displaced) miss(a *[3][2]float64) {
	ex := a[0][0] + a[1][0]*m.x + a[2][0]*m.y - m.dx
	ey := a[0][1] + a[1][1]*m.x + a[2][1]*m.y - m.dy
	m.missed = ex*ex + ey*ey
}

// fitted is the affine motion that most of some cells have. Cells that missed the one before count less.
func fitted(some []displaced) [3][2]float64 {
	var v0, vx, vy, vdx, vdy, xx, xy, xdx, xdy, yy, ydx, ydy float64
	for i := range some {
		m := &some[i]
		v := m.weight * slack / (slack + m.missed)
		x, y := v*m.x, v*m.y
		v0, vx, vy, vdx, vdy = v0+v, vx+x, vy+y, vdx+v*m.dx, vdy+v*m.dy
		xx, xy, xdx, xdy = xx+x*m.x, xy+x*m.y, xdx+x*m.dx, xdy+x*m.dy
		yy, ydx, ydy = yy+y*m.y, ydx+y*m.dx, ydy+y*m.dy
	}
	return affine(&[3][5]float64{{v0, vx, vy, vdx, vdy}, {1: steady + xx, xy, xdx, xdy}, {2: steady + yy, ydx, ydy}})
}

// affine solves the equations of a motion, of which it gets the upper half and two right sides.
func affine(m *[3][5]float64) (a [3][2]float64) {
	for k := range m {
		for r := k + 1; r < len(m); r++ {
			f := m[k][r] / m[k][k]
			for c := r; c < len(m[r]); c++ {
				m[r][c] -= f * m[k][c]
			}
		}
	}
	for k := len(m) - 1; k >= 0; k-- {
		for side := range a[k] {
			v := m[k][3+side]
			for c := k + 1; c < len(m); c++ {
				v -= m[k][c] * a[c][side]
			}
			a[k][side] = v / m[k][k]
		}
	}
	return a
}
