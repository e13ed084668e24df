package refine

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
