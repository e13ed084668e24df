package refine

import (
	"encoding/binary"
	"image"
	"sync"

	"github.com/bgremove/bgremove/internal/buffer"
)

const (
	// cell is the side of the squares of the second pass, tile that of those
	// of the first. Both are in samples: colours of large pictures are
	// estimated from one pixel of several.
	cell = 4
	// cells is the number of cells along a tile.
	cells = tile / cell
	// sampledSide is the shorter side in pixels for each pixel of a sample's side.
	sampledSide = 540
	// patch is the number of cells along a tile and the ring around it.
	patch = cells + 2
	// coarseReach is how many tiles away colours are taken from in the first pass.
	coarseReach = 2
)

// Foreground estimates the subject's own colour at its edges. The zero value
// is ready; it is safe for concurrent use on different pictures.
type Foreground struct {
	scratch sync.Pool // of *unmixing
}

// pair holds weighted sums of colours, premultiplied: red, green, blue and
// weight of the subject, then the same of the backdrop.
type pair [8]float32

// position is where a pixel lies between the middles of two samples: which is the
// first, and which part of the way to the next.
type position struct {
	at   int32
	part float32
}

// colours is subject and backdrop at one place.
type colours [6]float32

// unmixing is the working memory of one Decontaminate.
type unmixing struct {
	pix, alpha []uint8
	w, h       int          // pixels
	step       int          // pixels from sample to sample
	side       int          // pixels along a tile
	spans      []position   // between which cells every column of a tile lies
	tw, th     int          // tiles
	cw, ch     int          // cells
	edge       []uint8      // 1 for tiles with partly covered pixels
	near       []uint8      // 1 for them and their neighbours: the second pass
	far        []uint8      // 1 for all that the first pass looks at
	coarse     []pair       // per tile
	square     [][2]float32 // per tile: weighted sums of squared colours
	first      []colours
	variances  []variances
	detail     []pair // per cell
	smooth     [patch][patch]colours
	line       [patch]colours
	slope      [patch - 1]colours
}

// purity weighs a pixel of coverage i/255 as a sample of the subject in the
// first pass. Nearly pure pixels count most, but without them the others are
// used.
var purity = func() (t [256]int32) {
	for i := 1; i < 256; i++ {
		v := float64(i) / 255
		t[i] = 1 + int32(1023*v*v*v*v)
	}
	return t
}()

// Decontaminate replaces, in place, the colour of partly covered pixels by that
// of the subject alone. All other pixels, and the alpha of img, stay unchanged.
//
// It is blur fusion in two passes (M. Forte, "Approximate fast foreground
// colour estimation", ICIP 2021). Subject and backdrop are the means of their
// surroundings, weighted by coverage. They are corrected by the part of the
// pixel that their mix does not explain. Blurs are sums over tiles of 16 and
// then cells of 4 samples, interpolated, and only near partly covered pixels.
// In small pictures every pixel is a sample, in pictures of 1080 rows every
// second of every second row: a blur needs no more.
func (f *Foreground) Decontaminate(img *image.NRGBA, m *image.Alpha) {
	w, h := size(m)
	match(img, w, h)
	if w == 0 || h == 0 {
		return
	}
	s, ok := f.scratch.Get().(*unmixing)
	if !ok {
		s = new(unmixing)
	}
	defer f.scratch.Put(s)
	s.reset(img.Pix, m.Pix, w, h)
	if s.markTiles() {
		s.estimate()
	}
	s.pix, s.alpha = nil, nil
}

func (s *unmixing) reset(pix, alpha []uint8, w, h int) {
	s.pix, s.alpha, s.w, s.h = pix[:4*w*h], alpha[:w*h], w, h
	if step := max((min(w, h)+sampledSide/2)/sampledSide, 1); step != s.step {
		s.step, s.side = step, step*tile
		s.spans = buffer.Sized(s.spans, s.side)
		for i := range s.spans {
			at := (float32(i)+0.5)/float32(step*cell) + 0.5
			s.spans[i] = position{int32(at), at - float32(int32(at))}
		}
	}
	s.tw, s.th = (w+s.side-1)/s.side, (h+s.side-1)/s.side
	s.cw, s.ch = s.tw*cells, s.th*cells
	n := s.tw * s.th
	s.edge, s.near, s.far = buffer.Sized(s.edge, n), buffer.Sized(s.near, n), buffer.Sized(s.far, n)
	s.coarse, s.first = buffer.Sized(s.coarse, n), buffer.Sized(s.first, n)
	s.square, s.variances = buffer.Sized(s.square, n), buffer.Sized(s.variances, n)
	s.detail = buffer.Sized(s.detail, s.cw*s.ch)
	clear(s.edge)
	clear(s.near)
	clear(s.far)
}

// markTiles marks the tiles to work on and reports whether there are any.
func (s *unmixing) markTiles() bool {
	found := false
	for y := range s.h {
		row := s.alpha[y*s.w : (y+1)*s.w]
		for x := nextPartial(row, 0); x < s.w; {
			t := x / s.side
			s.edge[y/s.side*s.tw+t] = 1
			found = true
			x = nextPartial(row, min((t+1)*s.side, s.w))
		}
	}
	if found {
		grow(s.near, s.edge, s.tw, 1, 1)
		grow(s.far, s.near, s.tw, coarseReach, coarseReach)
	}
	return found
}

// nextPartial returns where the next value from x on is that is neither 0 nor
// 255, or len(alpha).
func nextPartial(alpha []uint8, x int) int {
	for x < len(alpha) {
		if x+8 <= len(alpha) {
			if v := binary.LittleEndian.Uint64(alpha[x:]); v == 0 || v == 1<<64-1 {
				x += 8
				continue
			}
		}
		if alpha[x]-1 < 254 {
			break
		}
		x++
	}
	return x
}

// estimate runs both passes and writes the result.
func (s *unmixing) estimate() {
	s.each(s.far, s.gather)
	s.each(s.near, s.estimateCoarse)
	s.each(s.near, s.sumCells)
	s.each(s.edge, s.write)
}

// each calls f for the marked tiles.
func (s *unmixing) each(mark []uint8, f func(x, y int)) {
	for y := range s.th {
		row := mark[y*s.tw : (y+1)*s.tw]
		for x0, x1 := run(row, 0); x0 < s.tw; x0, x1 = run(row, x1) {
			for x := x0; x < x1; x++ {
				f(x, y)
			}
		}
	}
}

// gather sums the colours of a tile for the first pass: every second sample of
// every second row, of tiles without partly covered pixels every fourth.
func (s *unmixing) gather(tx, ty int) {
	step := 4 * s.step
	if s.edge[ty*s.tw+tx] != 0 {
		step = 2 * s.step
	}
	var n [8]int32
	var q [2]int64
	for y := ty * s.side; y < min((ty+1)*s.side, s.h); y += step {
		for x := tx * s.side; x < min((tx+1)*s.side, s.w); x += step {
			i := y*s.w + x
			a := s.alpha[i]
			p := s.pix[4*i : 4*i+3 : 4*i+3]
			r, g, b := int32(p[0]), int32(p[1]), int32(p[2])
			sq := r*r + g*g + b*b
			if k := purity[a]; k != 0 {
				q[0] += int64(k) * int64(sq)
				n[0] += k * r
				n[1] += k * g
				n[2] += k * b
				n[3] += k
			}
			if k := purity[255-a]; k != 0 {
				q[1] += int64(k) * int64(sq)
				n[4] += k * r
				n[5] += k * g
				n[6] += k * b
				n[7] += k
			}
		}
	}
	out := &s.coarse[ty*s.tw+tx]
	scale := float32(step * step)
	for k, v := range n {
		out[k] = float32(v) * scale
	}
	s.square[ty*s.tw+tx] = [2]float32{float32(q[0]) * scale, float32(q[1]) * scale}
}

// distance weighs tiles by how far away they are in the first pass.
var distance = [coarseReach + 1]float32{1, 0.25, 0.02}

// estimateCoarse sets the first estimate of a tile from the tiles around.
func (s *unmixing) estimateCoarse(tx, ty int) {
	var sum pair
	var sq [2]float32
	for y := max(ty-coarseReach, 0); y <= min(ty+coarseReach, s.th-1); y++ {
		for x := max(tx-coarseReach, 0); x <= min(tx+coarseReach, s.tw-1); x++ {
			k := distance[max(x-tx, tx-x)] * distance[max(y-ty, ty-y)]
			sum.add(&s.coarse[y*s.tw+x], k)
			q := &s.square[y*s.tw+x]
			sq[0] += k * q[0]
			sq[1] += k * q[1]
		}
	}
	c := sum.mean(nil)
	s.first[ty*s.tw+tx] = c
	s.variances[ty*s.tw+tx] = c.variances(sq[0]/max(sum[3], 1e-6), sq[1]/max(sum[7], 1e-6))
}

const (
	// minVariance is the least variance of a colour.
	minVariance = 4
	// matteVariance is the variance of the error of a matte.
	matteVariance = 0.005
)

// variances is how much the colours of subject and backdrop vary at one place,
// and how much an error of the matte changes the mix, as variances.
type variances struct{ subject, backdrop, matte float32 }

// variances returns the variances, given the means of squared lengths.
func (c *colours) variances(subject, backdrop float32) variances {
	f, b, d := float32(0), float32(0), float32(0)
	for k := range 3 {
		f += c[k] * c[k]
		b += c[k+3] * c[k+3]
		d += (c[k] - c[k+3]) * (c[k] - c[k+3])
	}
	return variances{max((subject-f)/3, minVariance), max((backdrop-b)/3, minVariance), d / 3 * matteVariance}
}

// gains splits the unexplained part of the mix at coverage a between the
// subject and the backdrop.
func (v *variances) gains(a float32) (f, b float32) {
	z := 1 - a
	inv := 1 / (a*a*v.subject + z*z*v.backdrop + v.matte)
	return a * v.subject * inv, z * v.backdrop * inv
}

// mean divides by the weights. Without weight it is prior's, or that of the
// other side.
func (p *pair) mean(prior *colours) (c colours) {
	f, b := 1/max(p[3], 1e-6), 1/max(p[7], 1e-6)
	c = colours{p[0] * f, p[1] * f, p[2] * f, p[4] * b, p[5] * b, p[6] * b}
	if prior == nil {
		prior = &colours{c[3], c[4], c[5], c[0], c[1], c[2]}
	}
	if p[3] <= 0 {
		copy(c[:3], prior[:3])
	}
	if p[7] <= 0 {
		copy(c[3:], prior[3:])
	}
	return c
}
