package refine

import (
	"encoding/binary"
	"image"

	"github.com/bgremove/bgremove/internal/buffer"
	"github.com/bgremove/bgremove/internal/matte/reduce"
)

const (
	// radius is that of the windows in samples of the small matte.
	radius = 2
	// smooth is the radius over which coefficients are averaged, stride the
	// distance between those that are found.
	smooth, stride = 1, 2
	// window is the height of the windows.
	window = 2*radius + 1
	// epsilon is the variance of colour, in units of 1/255², below which there is
	// no edge: ε of the guided filter.
	epsilon = 30.0
	// margin is the distance from 0 or 255 within which a result is rounded to
	// it, and values between are stretched. The regression leaves noise that
	// nobody sees, but that costs later steps and encoders as much as an edge.
	margin  = 8.0
	stretch = 255 / (255 - 2*margin)
	// textureWeight is how strongly texture speaks against the picture.
	textureWeight = 1.0
)

// coef says that a pixel of colour c has the matte coef[0:3]·c + coef[3].
type coef [4]float32

// guided finds the coefficients of a guided filter where a matte is uncertain,
// row by row: of each step only the rows that the next one looks at are kept.
type guided struct {
	w, h    int
	guide   []uint8 // the picture at this size, RGBA
	reduced []uint8
	scaler  *reduce.Scaler
	matte   []uint8         // 0 and 255 where certain
	unsure  []uint8         // 1 where coefficients are needed
	near    []uint8         // 1 around, where windows are needed and there is a result
	rows    []uint8         // 1 where sums along rows are needed
	full    []uint8         // the picture at its own size
	cols    [][probes]int32 // byte offsets of the probes of every column
	lines   [][probes]int32 // the same of every row

	line []moments // of the samples of a row
	// The rows of sums along rows, of coefficients found and of their means,
	// and how many rows there have been of each. Of the first two every
	// stride-th column is kept, of the second every stride-th row.
	sums                     [window][]moments
	found                    [2][]trusted
	means                    [2][]coef
	summed, solved, averaged int
}

// snap takes values near 0 or 255 for certain.
var snap = func() (t [256]uint8) {
	for i := range t {
		switch {
		case i <= certainMargin:
		case i >= 255-certainMargin:
			t[i] = 255
		default:
			t[i] = uint8(i)
		}
	}
	return t
}()

// begin readies g for matte pix, w × h samples, guided by img, which guide may
// be at that size. It reports whether any coefficients are needed; end follows.
func (g *guided) begin(img, guide *image.NRGBA, pix []uint8, w, h int) bool {
	n := w * h
	g.w, g.h = w, h
	g.matte, g.unsure = buffer.Sized(g.matte, n), buffer.Sized(g.unsure, n)
	clear(g.unsure)
	for i, v := range pix[:n] {
		g.matte[i] = snap[v]
	}
	if !g.classify() {
		return false
	}
	g.near, g.rows = buffer.Sized(g.near, n), buffer.Sized(g.rows, n)
	clear(g.near)
	clear(g.rows)
	fw := img.Rect.Dx()
	g.full = img.Pix
	g.cols, g.lines = probe(g.cols, fw, w, 4), probe(g.lines, img.Rect.Dy(), h, 4*fw)
	g.restart()
	g.setGuide(img, guide)
	grow(g.near, g.unsure, w, smooth, smooth)
	grow(g.rows, g.near, w, 0, radius)
	return true
}

// end lets go of the pictures.
func (g *guided) end() { g.guide, g.full = nil, nil }

// restart makes room for the rows of a new matte.
func (g *guided) restart() {
	g.line = buffer.Sized(g.line, g.w)
	for i := range g.sums {
		g.sums[i] = buffer.Sized(g.sums[i], roundUp(g.w)/stride)
	}
	for i := range g.found {
		g.found[i], g.means[i] = buffer.Sized(g.found[i], roundUp(g.w)/stride), buffer.Sized(g.means[i], g.w)
	}
	g.summed, g.solved, g.averaged = 0, 0, 0
}

// coefficients returns those of row y, where needed. Rows must be asked for in
// order; the one before stays good.
func (g *guided) coefficients(y int) []coef {
	for ; g.averaged <= y; g.averaged++ {
		for ; g.solved <= min(g.averaged+smooth, g.h-1); g.solved += stride {
			for ; g.summed <= min(g.solved+radius, g.h-1); g.summed++ {
				g.sumRow(g.summed)
			}
			g.solve(g.solved)
		}
		g.average(g.averaged)
	}
	return g.means[y%len(g.means)]
}

// setGuide sets the guide: guide if it fits, else img reduced.
func (g *guided) setGuide(img, guide *image.NRGBA) {
	if guide != nil && guide.Rect.Dx() == g.w && guide.Rect.Dy() == g.h {
		match(guide, g.w, g.h)
		g.guide = guide.Pix
		return
	}
	g.reduced = buffer.Sized(g.reduced, 4*g.w*g.h)
	g.scale(&image.NRGBA{Pix: g.reduced, Stride: 4 * g.w, Rect: image.Rect(0, 0, g.w, g.h)}, img)
	g.guide = g.reduced
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
// another value. It reports whether there are any.
func (g *guided) classify() bool {
	found := false
	for y := range g.h {
		row := g.matte[y*g.w : (y+1)*g.w]
		above := row
		if y > 0 {
			above = g.matte[(y-1)*g.w : y*g.w]
		}
		for x := 0; x < len(row); x++ {
			if x > 0 && x+8 <= len(row) && uniform(row[x-1:], above[x:]) {
				x += 7
				continue
			}
			v := row[x]
			if (v == 0 || v == 255) && row[max(x-1, 0)] == v && above[x] == v {
				continue
			}
			found = true
			for y0 := max(y-ring-1, 0); y0 <= min(y+ring, g.h-1); y0++ {
				mark := g.unsure[y0*g.w+max(x-ring-1, 0) : y0*g.w+min(x+ring+1, g.w)]
				for k := range mark {
					mark[k] = 1
				}
			}
		}
	}
	return found
}

// uniform reports whether 9 samples of a row, and the 8 above all but the first,
// are empty or all are full.
func uniform(row, above []uint8) bool {
	v := binary.LittleEndian.Uint64(row[1:])
	return (v == 0 || v == 1<<64-1) && row[0] == row[1] && binary.LittleEndian.Uint64(above) == v
}

// probes is how many pixels of a sample's row and column are looked at to
// learn how much colour varies within.
const probes = 2

// probe returns where the probes of m samples of a row of n pixels are.
func probe(at [][probes]int32, n, m, bytes int) [][probes]int32 {
	at = buffer.Sized(at, m)
	for i := range at {
		for k := range probes {
			at[i][k] = int32((2*probes*i + 2*k + 1) * n / (2 * probes * m) * bytes)
		}
	}
	return at
}

// textureCertainty weighs samples of matte i as places to learn about texture: at edges
// colour varies for another reason.
var textureCertainty = func() (t [256]int32) {
	for i := range t {
		v := (float64(i) - 127.5) / 127.5
		t[i] = 1 + int32(254*v*v*v*v*v*v)
	}
	return t
}()

// sampleMoments sets m to what sample x, y adds to the sums.
func (g *guided) sampleMoments(m *moments, x, y int) {
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
	k := textureCertainty[p]
	*m = moments{
		r, gr, b, r * r, r * gr, r * b, gr * gr, gr * b, b * b,
		p, p * r, p * gr, p * b, k * (v / (3 * probes * probes)), k,
	}
}

// sumRow sums the windows of row y along it.
func (g *guided) sumRow(y int) {
	row := g.rows[y*g.w : (y+1)*g.w]
	sums := g.sums[y%window]
	done := 0
	for x0, x1 := run(row, 0); x0 < g.w; x0, x1 = run(row, x1) {
		for done = max(done, x0-radius); done < min(x1+radius, g.w); done++ {
			g.sampleMoments(&g.line[done], done, y)
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
				sum.subtract(&g.line[out])
			}
			if x%stride == 0 {
				sums[x/stride] = sum
			}
		}
	}
}

// solve finds the coefficients of the windows around every stride-th sample of
// row y.
func (g *guided) solve(y int) {
	row := g.near[y*g.w : (y+1)*g.w]
	found := g.found[y/stride%len(g.found)]
	top, bottom := max(y-radius, 0), min(y+radius, g.h-1)
	for x0, x1 := run(row, 0); x0 < g.w; x0, x1 = run(row, x1) {
		for x := roundUp(x0); x < x1; x += stride {
			sum := g.sums[top%window][x/stride]
			for v := top + 1; v <= bottom; v++ {
				sum.add(&g.sums[v%window][x/stride])
			}
			n := (bottom - top + 1) * (min(x+radius, g.w-1) - max(x-radius, 0) + 1)
			found[x/stride] = sum.solve(int32(n))
		}
	}
}

// roundUp is the first multiple of stride from x on.
func roundUp(x int) int { return (x + stride - 1) / stride * stride }

// average sets the result in row y to the means of coefficients around, and
// where the matte is certain to that, stretched.
func (g *guided) average(y int) {
	row := g.near[y*g.w : (y+1)*g.w]
	means := g.means[y%len(g.means)]
	top, bottom := roundUp(max(y-smooth, 0)), min(y+smooth, g.h-1)
	for x0, x1 := run(row, 0); x0 < g.w; x0, x1 = run(row, x1) {
		for x := x0; x < x1; x++ {
			own := float32(g.matte[y*g.w+x])
			if g.unsure[y*g.w+x] == 0 {
				means[x] = coef{3: stretch * (own - margin)}
				continue
			}
			l, r := roundUp(max(x-smooth, 0)), min(x+smooth, g.w-1)
			var sum trusted
			n := 0
			for v := top; v <= bottom; v += stride {
				for _, t := range g.found[v/stride%len(g.found)][l/stride : r/stride+1] {
					sum.add(&t)
					n++
				}
			}
			inv := 1 / float32(n)
			k := stretch * inv
			rest := sum.rest*inv + (1-sum.trust*inv)*own
			means[x] = coef{sum.r * k, sum.g * k, sum.b * k, stretch * (rest - margin)}
		}
	}
}
