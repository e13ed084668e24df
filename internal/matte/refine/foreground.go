package refine

import (
	"encoding/binary"
	"image"
	"sync"
)

const (
	// cell is the side in pixels of the squares of the second pass.
	cell = 4
	// cells is the number of cells along a tile.
	cells = tile / cell
	// patch is the number of cells along a tile and the ring around it.
	patch = cells + 2
	// sight is how many tiles away colours are taken from in the first pass.
	sight = 2
)

// Foreground estimates the subject's own colour at its edges. The zero value
// is ready; it is safe for concurrent use on different pictures.
type Foreground struct {
	scratch sync.Pool // of *unmixing
}

// pair holds weighted sums of colours, premultiplied: red, green, blue and
// weight of the subject, then the same of the backdrop.
type pair [8]float32

// colours is subject and backdrop at one place.
type colours [6]float32

// unmixing is the working memory of one Decontaminate.
type unmixing struct {
	pix, alpha []uint8
	w, h       int          // pixels
	tw, th     int          // tiles
	cw, ch     int          // cells
	edge       []uint8      // 1 for tiles with partly covered pixels
	near       []uint8      // 1 for them and their neighbours: the second pass
	far        []uint8      // 1 for all that the first pass looks at
	coarse     []pair       // per tile
	square     [][2]float32 // per tile: weighted sums of squared colours
	first      []colours
	spread     []spread
	fine       []pair // per cell
	smooth     [patch][patch]colours
	line       [patch]colours
}

// purity weighs a pixel of coverage i/255 as a sample of the subject in the
// first pass: what is nearly pure counts for nearly all, but where there is
// nothing better the rest will do.
var purity = func() (t [256]int32) {
	for i := 1; i < 256; i++ {
		v := float64(i) / 255
		t[i] = 1 + int32(1023*v*v*v*v)
	}
	return t
}()

// Decontaminate replaces, in place, the colour of partly covered pixels by
// that of the subject alone. Pixels of matte 0 become 0, 0, 0; those of 255 and
// the alpha of img stay as they are.
//
// It is blur fusion in two passes (M. Forte, "Approximate fast foreground
// colour estimation", ICIP 2021): subject and backdrop are the means of their
// surroundings, weighted by coverage, corrected by what the mix of both does
// not explain of the pixel. Blurs are sums over tiles of 16 and then cells of
// 4 pixels, interpolated, and only near partly covered pixels.
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
	if s.find() {
		s.estimate()
	}
	wipe(img.Pix, m.Pix[:w*h])
	s.pix, s.alpha = nil, nil
}

func (s *unmixing) reset(pix, alpha []uint8, w, h int) {
	s.pix, s.alpha, s.w, s.h = pix, alpha, w, h
	s.tw, s.th = (w+tile-1)/tile, (h+tile-1)/tile
	s.cw, s.ch = s.tw*cells, s.th*cells
	n := s.tw * s.th
	s.edge, s.near, s.far = resize(s.edge, n), resize(s.near, n), resize(s.far, n)
	s.coarse, s.first = resize(s.coarse, n), resize(s.first, n)
	s.square, s.spread = resize(s.square, n), resize(s.spread, n)
	s.fine = resize(s.fine, s.cw*s.ch)
	clear(s.edge)
	clear(s.near)
	clear(s.far)
}

// find marks the tiles to work on and reports whether there are any.
func (s *unmixing) find() bool {
	any := false
	for y := range s.h {
		row := s.alpha[y*s.w : (y+1)*s.w]
		for x := 0; x < s.w; {
			if x+8 <= s.w {
				if v := binary.LittleEndian.Uint64(row[x:]); v == 0 || v == 1<<64-1 {
					x += 8
					continue
				}
			}
			if row[x]-1 < 254 {
				s.edge[y/tile*s.tw+x/tile] = 1
				any = true
			}
			x++
		}
	}
	if any {
		grow(s.near, s.edge, s.tw, 1, 1)
		grow(s.far, s.near, s.tw, sight, sight)
	}
	return any
}

// estimate runs both passes and writes the result.
func (s *unmixing) estimate() {
	s.each(s.far, s.gather)
	s.each(s.near, s.guess)
	s.each(s.near, s.sharpen)
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

// gather sums the colours of a tile for the first pass: all pixels of edges,
// of other tiles every fourth of every fourth row.
func (s *unmixing) gather(tx, ty int) {
	step := 4
	if s.edge[ty*s.tw+tx] != 0 {
		step = 1
	}
	var n [8]int32
	var q [2]int64
	for y := ty * tile; y < min(ty*tile+tile, s.h); y += step {
		for x := tx * tile; x < min(tx*tile+tile, s.w); x += step {
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
var distance = [sight + 1]float32{1, 0.25, 0.02}

// guess sets the first estimate of a tile from the tiles around.
func (s *unmixing) guess(tx, ty int) {
	var sum pair
	var sq [2]float32
	for y := max(ty-sight, 0); y <= min(ty+sight, s.th-1); y++ {
		for x := max(tx-sight, 0); x <= min(tx+sight, s.tw-1); x++ {
			k := distance[max(x-tx, tx-x)] * distance[max(y-ty, ty-y)]
			for i, v := range s.coarse[y*s.tw+x] {
				sum[i] += k * v
			}
			q := &s.square[y*s.tw+x]
			sq[0] += k * q[0]
			sq[1] += k * q[1]
		}
	}
	c := sum.mean(nil)
	s.first[ty*s.tw+tx] = c
	s.spread[ty*s.tw+tx] = c.spread(sq[0]/max(sum[3], 1e-6), sq[1]/max(sum[7], 1e-6))
}

const (
	// grain is the least variance of a colour.
	grain = 4
	// slack is the variance of the error of a matte.
	slack = 0.005
)

// spread is how much the colours of subject and backdrop vary at one place,
// and how much an error of the matte changes the mix, as variances.
type spread struct{ subject, backdrop, matte float32 }

// spread returns the variances, given the means of squared lengths.
func (c *colours) spread(subject, backdrop float32) spread {
	f, b, d := float32(0), float32(0), float32(0)
	for k := range 3 {
		f += c[k] * c[k]
		b += c[k+3] * c[k+3]
		d += (c[k] - c[k+3]) * (c[k] - c[k+3])
	}
	return spread{max((subject-f)/3, grain), max((backdrop-b)/3, grain), d / 3 * slack}
}

// gains returns how much of what the mix at coverage a does not explain is
// due to the subject and to the backdrop.
func (v *spread) gains(a float32) (f, b float32) {
	z := 1 - a
	inv := 1 / (a*a*v.subject + z*z*v.backdrop + v.matte)
	return a * v.subject * inv, z * v.backdrop * inv
}

// mean divides by the weights. Where there is no weight it is prior's, or
// that of the other side.
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

// sharpen sums the cells of a tile for the second pass: every pixel's subject
// and backdrop as the first estimate, corrected.
func (s *unmixing) sharpen(tx, ty int) {
	if s.edge[ty*s.tw+tx] == 0 {
		s.copyPlain(tx, ty)
		return
	}
	for j := range cells {
		for i := range cells {
			c := s.between(tx, ty, i, j)
			s.fine[(ty*cells+j)*s.cw+tx*cells+i] = s.cell(tx*tile+i*cell, ty*tile+j*cell, &c, &s.spread[ty*s.tw+tx])
		}
	}
}

// copyPlain sums the cells of a tile without partly covered pixels, by every
// second pixel of every second row.
func (s *unmixing) copyPlain(tx, ty int) {
	for j := range cells {
		for i := range cells {
			var sum pair
			for y := ty*tile + j*cell; y < min(ty*tile+j*cell+cell, s.h); y += 2 {
				for x := tx*tile + i*cell; x < min(tx*tile+i*cell+cell, s.w); x += 2 {
					at := y*s.w + x
					p := s.pix[4*at : 4*at+3 : 4*at+3]
					k := 4
					if s.alpha[at] != 0 {
						k = 0
					}
					sum[k] += 4 * float32(p[0])
					sum[k+1] += 4 * float32(p[1])
					sum[k+2] += 4 * float32(p[2])
					sum[k+3] += 4
				}
			}
			s.fine[(ty*cells+j)*s.cw+tx*cells+i] = sum
		}
	}
}

// between interpolates the first estimate at the middle of a cell of a tile.
func (s *unmixing) between(tx, ty, i, j int) colours {
	at := &s.first[ty*s.tw+tx]
	fx := (float32(i)+0.5)/cells - 0.5
	fy := (float32(j)+0.5)/cells - 0.5
	nx, ny := tx+1, ty+1
	if fx < 0 {
		nx, fx = tx-1, -fx
	}
	if fy < 0 {
		ny, fy = ty-1, -fy
	}
	c := *at
	add := func(x, y int, k float32) {
		if x < 0 || y < 0 || x >= s.tw || y >= s.th || s.near[y*s.tw+x] == 0 {
			return
		}
		for n, v := range s.first[y*s.tw+x] {
			c[n] += k * (v - at[n])
		}
	}
	add(nx, ty, fx*(1-fy))
	add(tx, ny, fy*(1-fx))
	add(nx, ny, fx*fy)
	return c
}

// cell sums the cell at pixel x, y, whose first estimate is c.
func (s *unmixing) cell(x0, y0 int, c *colours, sp *spread) (sum pair) {
	for y := y0; y < min(y0+cell, s.h); y++ {
		for x := x0; x < min(x0+cell, s.w); x++ {
			i := y*s.w + x
			p := s.pix[4*i : 4*i+3 : 4*i+3]
			r, g, b := float32(p[0]), float32(p[1]), float32(p[2])
			if s.alpha[i] == 255 {
				sum[0] += r
				sum[1] += g
				sum[2] += b
				sum[3]++
				continue
			}
			if s.alpha[i] == 0 {
				sum[4] += r
				sum[5] += g
				sum[6] += b
				sum[7]++
				continue
			}
			a := float32(s.alpha[i]) * (1.0 / 255)
			z := 1 - a
			dr, dg, db := r-a*c[0]-z*c[3], g-a*c[1]-z*c[4], b-a*c[2]-z*c[5]
			f, k := a*a, z*z
			u, v := sp.gains(a)
			sum[0] += f * limit(c[0]+u*dr)
			sum[1] += f * limit(c[1]+u*dg)
			sum[2] += f * limit(c[2]+u*db)
			sum[3] += f
			sum[4] += k * limit(c[3]+v*dr)
			sum[5] += k * limit(c[4]+v*dg)
			sum[6] += k * limit(c[5]+v*db)
			sum[7] += k
		}
	}
	return sum
}

// limit brings v into 0..255. Comparisons are faster than min and max, which
// mind NaN.
func limit(v float32) float32 {
	if v < 0 {
		return 0
	}
	if v > 255 {
		return 255
	}
	return v
}

// faint is the weight of the first estimate in the second.
const faint = 0.02

// write puts the subject's colour into the partly covered pixels of a tile.
func (s *unmixing) write(tx, ty int) {
	s.blur(tx, ty)
	x0, x1 := tx*tile, min(tx*tile+tile, s.w)
	for y := ty * tile; y < min(ty*tile+tile, s.h); y++ {
		alpha := s.alpha[y*s.w+x0 : y*s.w+x1]
		if plain(alpha) {
			continue
		}
		at, part := span(y - ty*tile)
		for i := range s.line {
			u, d := &s.smooth[at][i], &s.smooth[at+1][i]
			for k := range u {
				s.line[i][k] = u[k] + part*(d[k]-u[k])
			}
		}
		s.row(s.pix[4*(y*s.w+x0):4*(y*s.w+x1)], alpha, &s.spread[ty*s.tw+tx])
	}
}

// plain reports whether all of a row of a tile is empty or full.
func plain(alpha []uint8) bool {
	for _, a := range alpha {
		if a-1 < 254 {
			return false
		}
	}
	return true
}

// span returns the cell of the patch whose middle is the last before the
// pixel at offset i of the tile, and the share of the next one.
func span(i int) (at int, part float32) {
	at = (i + cell/2) / cell
	return at, (float32((i+cell/2)%cell) + 0.5) / cell
}

// row writes a row of a tile.
func (s *unmixing) row(pix, alpha []uint8, sp *spread) {
	for i, v := range alpha {
		if v-1 >= 254 {
			continue
		}
		at, t := span(i)
		l, n := &s.line[at], &s.line[at+1]
		p := pix[4*i : 4*i+3 : 4*i+3]
		a := float32(v) * (1.0 / 255)
		z := 1 - a
		gain, _ := sp.gains(a)
		for k := range 3 {
			f, b := l[k]+t*(n[k]-l[k]), l[k+3]+t*(n[k+3]-l[k+3])
			p[k] = uint8(limit(f+gain*(float32(p[k])-a*f-z*b)) + 0.5)
		}
	}
}

// blur sets s.smooth to the means of 3 × 3 cells, those nearer weighing more,
// for the cells of a tile and a ring of one around it.
func (s *unmixing) blur(tx, ty int) {
	var rows [patch + 2][patch]pair
	for j := range rows {
		y := ty*cells + j - 2
		if y < 0 || y >= s.ch {
			continue
		}
		for i := range patch {
			x := tx*cells + i - 1
			for d := -1; d <= 1; d++ {
				if x+d < 0 || x+d >= s.cw {
					continue
				}
				k := float32(2 - d*d)
				for n, v := range s.fine[y*s.cw+x+d] {
					rows[j][i][n] += k * v
				}
			}
		}
	}
	prior := s.first[ty*s.tw+tx]
	for j := range patch {
		for i := range patch {
			var sum pair
			u, c, d := &rows[j][i], &rows[j+1][i], &rows[j+2][i]
			for n := range sum {
				sum[n] = u[n] + 2*c[n] + d[n]
			}
			for n := range 3 {
				sum[n] += faint * prior[n]
				sum[n+4] += faint * prior[n+3]
			}
			sum[3] += faint
			sum[7] += faint
			s.smooth[j][i] = sum.mean(&prior)
		}
	}
}

// wipe clears the colour of pixels of coverage 0.
func wipe(pix, alpha []uint8) {
	const keep = 0xff000000ff000000
	i := 0
	for ; i+8 <= len(alpha); i += 8 {
		v := binary.LittleEndian.Uint64(alpha[i:])
		if v == 1<<64-1 {
			continue
		}
		p := pix[4*i : 4*i+32 : 4*i+32]
		if v == 0 {
			for k := 0; k < 32; k += 8 {
				binary.LittleEndian.PutUint64(p[k:], binary.LittleEndian.Uint64(p[k:])&keep)
			}
			continue
		}
		for k, a := range alpha[i : i+8] {
			if a == 0 {
				clear(p[4*k : 4*k+3])
			}
		}
	}
	for ; i < len(alpha); i++ {
		if alpha[i] == 0 {
			clear(pix[4*i : 4*i+3])
		}
	}
}
