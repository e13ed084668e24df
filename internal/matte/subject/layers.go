package subject

import (
	"math"

	"github.com/bgremove/bgremove/internal/matte/motion"
)

const (
	// ahead is over how many frames the motion of a thing and of the rest is compared, both ways.
	ahead = 4
	// passes is how often what belongs to each is decided by the motion, and fits how often a
	// motion is fitted to that.
	passes, fits = 3, 4
	// steady is the weight, in cells, of a motion that neither turns nor grows.
	steady = 64
	// slack is the square of how far a cell may miss its motion, and wobble what it may miss it
	// from frame to frame when two motions are compared; both in cells.
	slack, wobble = 0.1, 0.09
	// telling is what motion counts beside the network, and tells the most that it says. In a
	// cell followed less than briefly it says less.
	telling, tells, briefly = 2, 4, 0.5
)

// way is where a frame's cells are in another one, and how surely.
type way struct {
	motion.Field
	trust  []float32
	frames int // between the two
}

// apart is by how much the motion of each cell of frame i says that it belongs to a thing and not to
// the rest, as logarithms of odds. odds are what is known of that, and within the share of each
// cell that is one of both.
//
// Each of the two has an affine motion (J. Y. A. Wang, E. H. Adelson, "Representing Moving
// Images with Layers", IEEE Transactions on Image Processing, 1994). What moves alike is
// told over several frames (T. Brox, J. Malik, "Object Segmentation by Long Term Analysis of
// Point Trajectories", ECCV 2010).
func (c *Clip) apart(i int, odds, within []float32) ([]float32, error) {
	ways, err := c.ways(i)
	if err != nil {
		return nil, err
	}
	told, sum, seen := make([]float32, len(odds)), make([]float32, len(odds)), make([]float32, len(odds))
	thing, rest := make([]float32, len(odds)), make([]float32, len(odds))
	for range passes {
		for k, o := range odds {
			p := 2*likely(min(max(o, -tells), tells)+told[k]) - 1
			thing[k], rest[k] = within[k]*max(p, 0), within[k]*max(-p, 0)
			sum[k], seen[k] = 0, 0
		}
		for j := range ways {
			w := &ways[j]
			ours, others := w.misses(thing, c.grid.X), w.misses(rest, c.grid.X)
			if ours == nil || others == nil {
				continue
			}
			most := wobble * float64(w.frames)
			for k, t := range w.trust {
				sum[k] += t * float32(math.Log1p(others[k]/most)-math.Log1p(ours[k]/most))
				seen[k] += t
			}
		}
		for k, s := range sum {
			told[k] = telling * min(max(s/max(seen[k], briefly), -tells), tells)
		}
	}
	return told, nil
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

// misses is the square of how far each cell is from the affine motion that most cells with a
// weight have. It is nil where these are too few.
func (w *way) misses(weight []float32, width int) []float64 {
	const few, unit = 3, 10 // cells
	var all, mx, my float64
	for k, v := range weight {
		v := float64(v * w.trust[k])
		all, mx, my = all+v, mx+v*float64(k%width), my+v*float64(k/width)
	}
	if all < few {
		return nil
	}
	mx, my = mx/all, my/all
	missed := make([]float64, len(weight))
	for range fits {
		m := [3][5]float64{1: {1: steady}, 2: {2: steady}}
		for k, v := range weight {
			v := float64(v*w.trust[k]) / (1 + missed[k]/slack)
			at := [3]float64{1, (float64(k%width) - mx) / unit, (float64(k/width) - my) / unit}
			for r := range at {
				for c := r; c < 3; c++ {
					m[r][c] += v * at[r] * at[c]
				}
				m[r][3] += v * at[r] * float64(w.X[k])
				m[r][4] += v * at[r] * float64(w.Y[k])
			}
		}
		a := affine(&m)
		for k := range missed {
			x, y := (float64(k%width)-mx)/unit, (float64(k/width)-my)/unit
			ex := a[0][0] + a[1][0]*x + a[2][0]*y - float64(w.X[k])
			ey := a[0][1] + a[1][1]*x + a[2][1]*y - float64(w.Y[k])
			missed[k] = ex*ex + ey*ey
		}
	}
	return missed
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
