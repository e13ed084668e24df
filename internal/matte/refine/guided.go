package refine

import (
	"image"

	"github.com/bgremove/bgremove/internal/matte/reduce"
)

const (
	// radius is that of the windows in samples of the small matte.
	radius = 2
	// smooth is the radius over which coefficients are averaged.
	smooth = 1
	// ridge is the variance of colour, in units of 1/255², below which it is
	// no edge: ε of the guided filter.
	ridge = 6.0
	// trust is how strongly texture speaks against the picture.
	trust = 1.5
)

// coef says that a pixel of colour c has the matte coef[0:3]·c + coef[3].
type coef [4]float32

// trusted is a coef times the trust in it, and that trust, 0..1.
type trusted [5]float32

// moments are sums over a window: the colours, their products rr, rg, rb, gg,
// gb, bb, the matte, its products with the colours, and last the variance of
// colour within samples with its weight.
type moments [15]int32

// guided finds the coefficients of a guided filter where a matte is uncertain.
type guided struct {
	w, h    int
	guide   []uint8 // the picture at this size, RGBA
	reduced []uint8
	scaler  *reduce.Scaler
	matte   []uint8 // 0 and 255 where certain
	unsure  []uint8 // 1 where coefficients are needed
	near    []uint8 // 1 where windows are needed
	rows    []uint8 // 1 where sums along rows are needed
	sums    []moments
	line    []moments
	full    []uint8 // the picture at its own size
	fw      int
	cols    [][probes]int32 // byte offsets of the probes of every column
	lines   [][probes]int32 // the same of every row
	raw     []trusted
	mean    []coef // the result
}

// snap takes values near 0 or 255 for certain.
var snap = func() (t [256]uint8) {
	for i := range t {
		switch {
		case i <= surely:
		case i >= 255-surely:
			t[i] = 255
		default:
			t[i] = uint8(i)
		}
	}
	return t
}()

// filter finds the coefficients of matte pix, w × h samples, guided by img,
// which ready may be at that size.
func (g *guided) filter(img, ready *image.NRGBA, pix []uint8, w, h int) {
	n := w * h
	g.w, g.h = w, h
	g.matte, g.unsure = resize(g.matte, n), resize(g.unsure, n)
	g.near, g.rows = resize(g.near, n), resize(g.rows, n)
	g.sums, g.raw, g.mean = resize(g.sums, n), resize(g.raw, n), resize(g.mean, n)
	clear(g.unsure)
	clear(g.near)
	clear(g.rows)
	for i, v := range pix[:n] {
		g.matte[i] = snap[v]
	}
	if !g.classify() {
		return
	}
	g.full, g.fw = img.Pix, img.Rect.Dx()
	g.cols, g.lines = probe(g.cols, g.fw, w, 4), probe(g.lines, img.Rect.Dy(), h, 4*g.fw)
	g.line = resize(g.line, w)
	if ready != nil && ready.Rect.Dx() == w && ready.Rect.Dy() == h {
		match(ready, w, h)
		g.guide = ready.Pix
	} else {
		g.reduced = resize(g.reduced, 4*n)
		g.scale(&image.NRGBA{Pix: g.reduced, Stride: 4 * w, Rect: image.Rect(0, 0, w, h)}, img)
		g.guide = g.reduced
	}
	grow(g.near, g.unsure, w, smooth, smooth)
	grow(g.rows, g.near, w, 0, radius)
	for y := range h {
		g.along(y)
	}
	for y := range h {
		g.solve(y)
	}
	for y := range h {
		g.average(y)
	}
	g.guide, g.full = nil, nil
}

// scale fills dst with img.
func (g *guided) scale(dst, img *image.NRGBA) {
	if g.scaler != nil {
		if from, to := g.scaler.Sizes(); from != img.Rect.Size() || to != dst.Rect.Size() {
			g.scaler = nil
		}
	}
	if g.scaler == nil {
		g.scaler = reduce.New(img.Rect.Size(), dst.Rect.Size())
	}
	g.scaler.Draw(dst, img)
}

// classify marks the samples around those that are uncertain or beside
// another value, and sets the result for the others. It reports whether there
// are any.
func (g *guided) classify() bool {
	open := false
	for y := range g.h {
		for x := range g.w {
			i := y*g.w + x
			v := g.matte[i]
			if v == 0 || v == 255 {
				if (x == 0 || g.matte[i-1] == v) && (y == 0 || g.matte[i-g.w] == v) {
					continue
				}
			}
			open = true
			for y0 := max(y-ring-1, 0); y0 <= min(y+ring, g.h-1); y0++ {
				row := g.unsure[y0*g.w+max(x-ring-1, 0) : y0*g.w+min(x+ring+1, g.w)]
				for k := range row {
					row[k] = 1
				}
			}
		}
	}
	for i, v := range g.matte {
		g.mean[i] = coef{3: float32(v)}
	}
	return open
}

// probes is how many pixels of a sample's row and column are looked at to
// learn how much colour varies within.
const probes = 3

// probe returns where the probes of m samples of a row of n pixels are.
func probe(at [][probes]int32, n, m, bytes int) [][probes]int32 {
	at = resize(at, m)
	for i := range at {
		for k := range probes {
			at[i][k] = int32((2*probes*i + 2*k + 1) * n / (2 * probes * m) * bytes)
		}
	}
	return at
}

// pure weighs samples of matte i as places to learn about texture: at edges
// colour varies for another reason.
var pure = func() (t [256]int32) {
	for i := range t {
		v := (float64(i) - 127.5) / 127.5
		t[i] = 1 + int32(254*v*v*v*v*v*v)
	}
	return t
}()

// moment is what sample x, y adds to the sums.
func (g *guided) moment(x, y int) moments {
	i := y*g.w + x
	c := g.guide[4*i : 4*i+3 : 4*i+3]
	r, gr, b, p := int32(c[0]), int32(c[1]), int32(c[2]), int32(g.matte[i])
	v := int32(0)
	for _, row := range g.lines[y] {
		for _, col := range g.cols[x] {
			q := g.full[row+col : row+col+3 : row+col+3]
			dr, dg, db := int32(q[0])-r, int32(q[1])-gr, int32(q[2])-b
			v += dr*dr + dg*dg + db*db
		}
	}
	v /= 3 * probes * probes
	k := pure[p]
	return moments{r, gr, b, r * r, r * gr, r * b, gr * gr, gr * b, b * b, p, p * r, p * gr, p * b, k * v, k}
}

// along sums the windows of row y along it.
func (g *guided) along(y int) {
	row := g.rows[y*g.w : (y+1)*g.w]
	done := 0
	for x0, x1 := run(row, 0); x0 < g.w; x0, x1 = run(row, x1) {
		for done = max(done, x0-radius); done < min(x1+radius, g.w); done++ {
			g.line[done] = g.moment(done, y)
		}
		var sum moments
		for x := max(x0-radius, 0); x < min(x0+radius, g.w); x++ {
			sum.add(&g.line[x])
		}
		for x := x0; x < x1; x++ {
			if in := x + radius; in < g.w {
				sum.add(&g.line[in])
			}
			if out := x - radius - 1; out >= 0 && x > x0 {
				m := &g.line[out]
				for k := range sum {
					sum[k] -= m[k]
				}
			}
			g.sums[y*g.w+x] = sum
		}
	}
}

func (m *moments) add(o *moments) {
	for k, v := range o {
		m[k] += v
	}
}

// solve finds the coefficients of the windows around the samples of row y.
func (g *guided) solve(y int) {
	row := g.near[y*g.w : (y+1)*g.w]
	top, bottom := max(y-radius, 0), min(y+radius, g.h-1)
	for x0, x1 := run(row, 0); x0 < g.w; x0, x1 = run(row, x1) {
		for x := x0; x < x1; x++ {
			sum := g.sums[top*g.w+x]
			for v := top + 1; v <= bottom; v++ {
				sum.add(&g.sums[v*g.w+x])
			}
			n := (bottom - top + 1) * (min(x+radius, g.w-1) - max(x-radius, 0) + 1)
			g.raw[y*g.w+x] = sum.solve(1 / float64(n))
		}
	}
}

// solve returns the coefficients that explain the matte by the colours, by
// linear regression with ridge; inv is one over the number of samples. The samples are means, the pixels that
// the coefficients are for vary more. The share of what colour explains in
// the sum of that and what texture would do to the matte is how much it is
// trusted; the rest is left to the matte as it is.
func (m *moments) solve(inv float64) trusted {
	r, g, b, p := float64(m[0])*inv, float64(m[1])*inv, float64(m[2])*inv, float64(m[9])*inv
	rr := float64(m[3])*inv - r*r + ridge
	rg := float64(m[4])*inv - r*g
	rb := float64(m[5])*inv - r*b
	gg := float64(m[6])*inv - g*g + ridge
	gb := float64(m[7])*inv - g*b
	bb := float64(m[8])*inv - b*b + ridge
	pr, pg, pb := float64(m[10])*inv-p*r, float64(m[11])*inv-p*g, float64(m[12])*inv-p*b
	c0, c1, c2 := gg*bb-gb*gb, gb*rb-rg*bb, rg*gb-gg*rb
	c3, c4, c5 := rr*bb-rb*rb, rb*rg-rr*gb, rr*gg-rg*rg
	det := 1 / (rr*c0 + rg*c1 + rb*c2)
	ar := (c0*pr + c1*pg + c2*pb) * det
	ag := (c1*pr + c3*pg + c4*pb) * det
	ab := (c2*pr + c4*pg + c5*pb) * det
	texture := float64(m[13]) / float64(m[14])
	explained := ar*pr + ag*pg + ab*pb
	t := explained / (explained + trust*texture*(ar*ar+ag*ag+ab*ab) + 1e-3)
	ar, ag, ab = t*ar, t*ag, t*ab
	return trusted{float32(ar), float32(ag), float32(ab), float32(t*p - ar*r - ag*g - ab*b), float32(t)}
}

// average sets the result in row y to the means of coefficients around.
func (g *guided) average(y int) {
	row := g.unsure[y*g.w : (y+1)*g.w]
	top, bottom := max(y-smooth, 0), min(y+smooth, g.h-1)
	for x0, x1 := run(row, 0); x0 < g.w; x0, x1 = run(row, x1) {
		for x := x0; x < x1; x++ {
			l, r := max(x-smooth, 0), min(x+smooth, g.w-1)
			var sum trusted
			for v := top; v <= bottom; v++ {
				for i := v*g.w + l; i <= v*g.w+r; i++ {
					for k, c := range g.raw[i] {
						sum[k] += c
					}
				}
			}
			inv := 1 / float32((bottom-top+1)*(r-l+1))
			for k := range sum {
				sum[k] *= inv
			}
			own := (1 - sum[4]) * float32(g.matte[y*g.w+x])
			g.mean[y*g.w+x] = coef{sum[0], sum[1], sum[2], sum[3] + own}
		}
	}
}
