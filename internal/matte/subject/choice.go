package subject

import (
	"image"
	"math"
	"slices"

	"github.com/bgremove/bgremove/internal/matte/refine"
)

// Choice is how much of each cell of a frame is the subject. The zero value changes
// nothing.
type Choice struct {
	grid image.Point
	w, h int // pixels of the picture that was measured
	// before are the shares of 255 of each cell that the matte covered before.
	before []uint8
	// odds are factors, as natural logarithms: the odds that a pixel is subject are multiplied by
	// that of its cell. keep are the shares of a matte that stay in each cell.
	odds, keep []float32
	// hinted is the matte that hints led to, if there are any. It is of the subject or, with drops,
	// of the part that is dropped.
	hinted *image.Alpha
	drops  bool
	own    *Choice      // that of the clip itself, where hints keep something
	held   *image.Alpha // where the frame's own hints are sure; nil if it has none
	// lasting is what the frames of the shot that are sure say of each cell, 0 to 1, and lastingSure
	// the weight of that. They are nil where nothing is known.
	lasting, lastingSure []float32
}

const (
	// surest is more than any of logits, which end half a step of a byte before 0 and 1.
	surest = 6.25
	// Nothing stays in a cell if at most gone of it, and of each one around it, is subject. All stays
	// if stays or more of one of them is.
	gone, stays = 0.02, 0.2
	// All goes where hints drop allGone or more, and nothing where they drop noneGone or less.
	allGone, noneGone = 0.5, 0.2
	// least is the coverage from which the chooser tells its change, that of chooser.py.
	least = 5
)

// newChoice is that of a frame of w × h pixels. Of each cell, the matte covered before, and tracked
// along its track, and chosen is subject, as shares of 255. d tells how much of the rest goes.
func newChoice(before, chosen, tracked []uint8, grid image.Point, d drop, w, h int) Choice {
	c := Choice{grid: grid, w: w, h: h, before: before, odds: make([]float32, len(chosen)), keep: make([]float32, len(chosen))}
	remains, tracked := staying(chosen, grid), around(tracked, grid)
	for k, v := range chosen {
		goes := d.of(v, tracked[k])
		if v != before[k] {
			c.odds[k] = logits[v] - logits[min(max(before[k], least), 255-least)]
		}
		if c.odds[k] < 0 {
			c.odds[k] *= goes
		}
		c.keep[k] = 1 - goes + goes*remains[k]
	}
	return c
}

// hint makes c what hints say of frame i. m, of any size, is the subject. Where hints only drop
// something, m is the part that goes.
func (c *Choice) hint(m *image.Alpha, f *follower, i int) {
	own := *c
	c.hinted, c.drops = m, f.drops
	if f.drops {
		return
	}
	whole := image.NewAlpha(image.Rect(0, 0, c.w, c.h))
	refine.Resize(whole, m)
	chosen := shrunk(whole, c.grid)
	c.own, c.held, c.odds, c.keep = &own, f.held(i), nil, staying(chosen, c.grid)
}

// shrunk are the means of a matte over cells.
func shrunk(m *image.Alpha, grid image.Point) []uint8 {
	cells := make([]uint8, grid.X*grid.Y)
	for k := range cells {
		r := image.Rect(k%grid.X, k/grid.X, k%grid.X+1, k/grid.X+1)
		r = image.Rectangle{r.Min.Mul(cell), r.Max.Mul(cell)}.Intersect(m.Rect)
		sum := 0
		for y := r.Min.Y; y < r.Max.Y; y++ {
			for _, a := range m.Pix[y*m.Stride+r.Min.X : y*m.Stride+r.Max.X] {
				sum += int(a)
			}
		}
		cells[k] = uint8(sum / max(r.Dx()*r.Dy(), 1))
	}
	return cells
}

// staying is how much of each cell stays.
func staying(chosen []uint8, g image.Point) []float32 {
	shares := make([]float32, len(chosen))
	for k, most := range around(chosen, g) {
		shares[k] = ramp(float32(most)/255, gone, stays)
	}
	return shares
}

// around are the most of each cell and of those around it.
func around(v []uint8, g image.Point) []uint8 {
	beside := slices.Clone(v)
	for y := range g.Y {
		from, to := v[y*g.X:][:g.X], beside[y*g.X:][:g.X]
		for x := 1; x < g.X; x++ {
			to[x-1], to[x] = max(to[x-1], from[x]), max(to[x], from[x-1])
		}
	}
	most := slices.Clone(beside)
	for k := g.X; k < len(v); k++ {
		most[k-g.X], most[k] = max(most[k-g.X], beside[k]), max(most[k], beside[k-g.X])
	}
	return most
}

// logits are the logarithms of the odds of shares in bytes.
var logits = func() (t [256]float32) {
	for i := range t {
		p := math.Min(math.Max(float64(i), 0.5), 254.5) / 255
		t[i] = float32(math.Log(p / (1 - p)))
	}
	return t
}()

// steps is how finely Apply knows odds, for each unit of their logarithm.
const steps = 16

// factors are the odds of all changes, from -2·surest on.
var factors = func() (t [4*surest*steps + 2]float32) {
	for i := range t {
		t[i] = float32(math.Exp(float64(i)/steps - 2*surest))
	}
	return t
}()

// Apply changes the network's matte of the frame, of any size, to what was chosen.
// Between the centres of cells the change goes over gradually. Of a kept thing, it has the
// edges that the network and the choice gave it, but where the frame's own hints are sure.
func (c *Choice) Apply(m *image.Alpha) {
	if c.own != nil {
		c.own.Apply(m)
		own := *m
		own.Pix = slices.Clone(m.Pix)
		refine.Resize(m, c.hinted)
		if c.held != nil {
			take(&own, m, c.held)
		}
		agree(m, &own)
		return
	}
	c.each(m, c.odds, func(pixels []uint8, odds []float32) {
		for x, o := range odds {
			if o > -0.01 && o < 0.01 {
				continue
			}
			pixels[x] = shifted(pixels[x], o)
		}
	})
	c.Strip(m)
}

// shifted is a share of 255 whose odds change by a factor with a natural logarithm.
func shifted(share uint8, logarithm float32) uint8 {
	in := min(max(float32(share), 0.5), 254.5)
	out := 255 - in
	in *= factors[int((logarithm+2*surest)*steps+0.5)]
	return uint8(255*in/(in+out) + 0.5)
}

// Strip removes from a matte of the frame, of any size, what was not chosen.
func (c *Choice) Strip(m *image.Alpha) {
	c.each(m, c.keep, func(pixels []uint8, shares []float32) {
		for x, share := range shares {
			pixels[x] = uint8(float32(pixels[x])*share + 0.5)
		}
	})
	if c.hinted != nil && c.drops {
		dropped := image.NewAlpha(image.Rectangle{Max: m.Rect.Size()})
		refine.Resize(dropped, c.hinted)
		multiply(m, dropped)
	}
}

// multiply takes from a matte what is dropped.
func multiply(m, dropped *image.Alpha) {
	w := m.Rect.Dx()
	for y := range m.Rect.Dy() {
		row := m.Pix[y*m.Stride:][:w]
		for x, d := range dropped.Pix[y*dropped.Stride:][:w] {
			row[x] = uint8(float32(row[x])*left[d] + 0.5)
		}
	}
}

// left is how much stays where hints drop a share.
var left = func() (t [256]float32) {
	for i := range t {
		t[i] = ramp(float32(i)/255, allGone, noneGone)
	}
	return t
}()

// each changes the rows of a matte by the values of cells.
func (c *Choice) each(m *image.Alpha, values []float32, change func(pixels []uint8, v []float32)) {
	if values == nil {
		return
	}
	between(values, c.grid, m.Rect.Size(), image.Pt(c.w, c.h), func(y int, row []float32) {
		change(m.Pix[y*m.Stride:][:len(row)], row)
	})
}

// between calls do for the rows of a picture with the values of cells at their pixels:
// bilinear. The cells are made of all pixels of a picture of another size, whole.
func between(values []float32, grid, size, whole image.Point, do func(y int, row []float32)) {
	columns, rows := places(size.X, grid.X, whole.X), places(size.Y, grid.Y, whole.Y)
	line, row := make([]float32, grid.X), make([]float32, size.X)
	for y, r := range rows {
		top, bottom := values[r.first*grid.X:], values[r.second*grid.X:]
		for x := range line {
			line[x] = top[x] + r.way*(bottom[x]-top[x])
		}
		for x, p := range columns {
			row[x] = line[p.first] + p.way*(line[p.second]-line[p.first])
		}
		do(y, row)
	}
}

// place lies between two cells.
type place struct {
	first, second int
	way           float32 // from the first to the second
}

// places are those of n pixels among cells, which are made of all pixels of another size.
func places(n, cells, all int) []place {
	p := make([]place, n)
	for i := range p {
		at := (float64(i)+0.5)*float64(all)/float64(cell*n) - 0.5
		at = min(max(at, 0), float64(cells-1))
		first := int(math.Floor(at))
		p[i] = place{first, min(first+1, cells-1), float32(at - float64(first))}
	}
	return p
}
