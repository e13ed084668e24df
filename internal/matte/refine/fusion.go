package refine

// sumCells sums the cells of a tile for the second pass: every pixel's subject
// and backdrop as the first estimate, corrected.
func (s *unmixing) sumCells(tx, ty int) {
	if s.edge[ty*s.tw+tx] == 0 {
		s.sumPlain(tx, ty)
		return
	}
	for j := range cells {
		for i := range cells {
			c := s.coarseAt(tx, ty, i, j)
			x, y := tx*s.side+i*cell*s.step, ty*s.side+j*cell*s.step
			s.detail[(ty*cells+j)*s.cw+tx*cells+i] = s.sumCell(x, y, &c, &s.variances[ty*s.tw+tx])
		}
	}
}

// sumPlain sums the cells of a tile without partly covered pixels, by every
// second sample of every second row.
func (s *unmixing) sumPlain(tx, ty int) {
	side := cell * s.step
	for j := range cells {
		for i := range cells {
			var sum pair
			x0, y0 := tx*s.side+i*side, ty*s.side+j*side
			for y := y0; y < min(y0+side, s.h); y += 2 * s.step {
				for x := x0; x < min(x0+side, s.w); x += 2 * s.step {
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
			s.detail[(ty*cells+j)*s.cw+tx*cells+i] = sum
		}
	}
}

// coarseAt interpolates the first estimate at the middle of a cell of a tile.
func (s *unmixing) coarseAt(tx, ty, i, j int) colours {
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

// sumCell sums the cell at pixel x, y, with first estimate c.
func (s *unmixing) sumCell(x0, y0 int, c *colours, vs *variances) (sum pair) {
	side := cell * s.step
	for y := y0; y < min(y0+side, s.h); y += s.step {
		for x := x0; x < min(x0+side, s.w); x += s.step {
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
			u, v := vs.gains(a)
			sum[0] += f * clamp(c[0]+u*dr)
			sum[1] += f * clamp(c[1]+u*dg)
			sum[2] += f * clamp(c[2]+u*db)
			sum[3] += f
			sum[4] += k * clamp(c[3]+v*dr)
			sum[5] += k * clamp(c[4]+v*dg)
			sum[6] += k * clamp(c[5]+v*db)
			sum[7] += k
		}
	}
	return sum
}

// clamp brings v into 0..255. Comparisons are faster than min and max, which
// mind NaN.
func clamp(v float32) float32 {
	if v < 0 {
		return 0
	}
	if v > 255 {
		return 255
	}
	return v
}

// priorWeight is the weight of the first estimate in the second.
const priorWeight = 0.02

// write puts the subject's colour into the partly covered pixels of a tile.
func (s *unmixing) write(tx, ty int) {
	s.blur(tx, ty)
	x0, x1 := tx*s.side, min((tx+1)*s.side, s.w)
	line := -1
	for i := range min(s.side, s.h-ty*s.side) {
		at := (ty*s.side+i)*s.w + x0
		alpha := s.alpha[at : at+x1-x0]
		x := nextPartial(alpha, 0)
		if x == len(alpha) {
			continue
		}
		if i/s.step != line {
			line = i / s.step
			s.interpolate(s.spans[i])
		}
		s.writeRow(s.pix[4*at:4*(at+x1-x0)], alpha, x, &s.variances[ty*s.tw+tx])
	}
}

// interpolate sets s.line to the colours of a row that lies between two of
// cells, and s.slope to the way from each to the next.
func (s *unmixing) interpolate(p position) {
	up, down := &s.smooth[p.at], &s.smooth[p.at+1]
	for i := range s.line {
		u, d, l := &up[i], &down[i], &s.line[i]
		for k := range u {
			l[k] = u[k] + p.part*(d[k]-u[k])
		}
	}
	for i := range s.slope {
		for k := range s.slope[i] {
			s.slope[i][k] = s.line[i+1][k] - s.line[i][k]
		}
	}
}

// writeRow writes a row of a tile, from its first partly covered pixel at x on.
func (s *unmixing) writeRow(pix, alpha []uint8, x int, vs *variances) {
	spans := s.spans[:len(alpha)]
	pix = pix[:4*len(alpha)]
	for ; x < len(alpha); x++ {
		v := alpha[x]
		if v-1 >= 254 {
			if x = nextPartial(alpha, x+1); x == len(alpha) {
				return
			}
			v = alpha[x]
		}
		l, d, t := &s.line[spans[x].at], &s.slope[spans[x].at], spans[x].part
		p := pix[4*x : 4*x+3 : 4*x+3]
		a := float32(v) * (1.0 / 255)
		gain, _ := vs.gains(a)
		// The unexplained part, times gain, is added to the estimate.
		f, b := 1-gain*a, gain*(1-a)
		p[0] = toByte(f*(l[0]+t*d[0]) - b*(l[3]+t*d[3]) + gain*float32(p[0]))
		p[1] = toByte(f*(l[1]+t*d[1]) - b*(l[4]+t*d[4]) + gain*float32(p[1]))
		p[2] = toByte(f*(l[2]+t*d[2]) - b*(l[5]+t*d[5]) + gain*float32(p[2]))
	}
}

// toByte rounds v to the nearest of 0..255. Bounds of integers need no
// branches, which edges would make hard to predict.
func toByte(v float32) uint8 { return uint8(min(max(int32(v+0.5), 0), 255)) }

// blur sets s.smooth to the means of 3 × 3 cells, those nearer weighing more,
// for the cells of a tile and a ring of one around it.
func (s *unmixing) blur(tx, ty int) {
	var rows [patch + 2][patch]pair
	for j := range rows {
		y := ty*cells + j - 2
		if y < 0 || y >= s.ch {
			continue
		}
		for i := range rows[j] {
			x, sum := tx*cells+i-1, &rows[j][i]
			if x >= 0 && x < s.cw {
				sum.add(&s.detail[y*s.cw+x], 2)
			}
			if x > 0 {
				sum.add(&s.detail[y*s.cw+x-1], 1)
			}
			if x+1 < s.cw {
				sum.add(&s.detail[y*s.cw+x+1], 1)
			}
		}
	}
	prior := s.first[ty*s.tw+tx]
	for j := range s.smooth {
		for i := range s.smooth[j] {
			sum := rows[j][i]
			sum.add(&rows[j+1][i], 2)
			sum.add(&rows[j+2][i], 1)
			sum.add(&pair{prior[0], prior[1], prior[2], 1, prior[3], prior[4], prior[5], 1}, priorWeight)
			s.smooth[j][i] = sum.mean(&prior)
		}
	}
}

// add adds k times o.
func (p *pair) add(o *pair, k float32) {
	p[0] += k * o[0]
	p[1] += k * o[1]
	p[2] += k * o[2]
	p[3] += k * o[3]
	p[4] += k * o[4]
	p[5] += k * o[5]
	p[6] += k * o[6]
	p[7] += k * o[7]
}
