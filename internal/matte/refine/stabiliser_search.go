package refine

const (
	// searchRange is how many pixels away the past of a block is looked for.
	searchRange = 48
	// stillError is the error of a block per sample, squared, below which it is
	// not looked for elsewhere, and minGain what another place must gain.
	stillError, minGain = 16, 4
)

// search finds where in the reference picture a block was: the best of the
// places of its neighbours, improved in smaller and smaller steps (J. R. Jain
// and A. K. Jain, "Displacement measurement and its application in interframe
// image coding", IEEE Trans. Communications 29(12), 1981), and the minimum of
// the parabola through the errors there.
func (s *Stabiliser) search(tx, ty, dx, dy int) vector {
	x0, y0 := tx*blockSide, ty*blockSide
	n := int64(3 * dx * dy)
	zero := s.squaredError(x0, y0, dx, dy, 0, 0, outside)
	if zero <= stillError*n {
		return vector{}
	}
	bx, by, best := 0, 0, zero
	evaluate := func(x, y int) {
		if e := s.squaredError(x0, y0, dx, dy, x, y, best); e < best {
			bx, by, best = x, y, e
		}
	}
	t := ty*s.tw + tx
	predict := func(v vector) { evaluate(int(v.x+4)>>3, int(v.y+4)>>3) }
	predict(s.field[t])
	if tx > 0 {
		predict(s.moved[t-1])
	}
	if ty > 0 {
		predict(s.moved[t-s.tw])
	}
	for step := 8; step > 0; step /= 2 {
		for range 4 {
			cx, cy := bx, by
			evaluate(cx-step, cy)
			evaluate(cx+step, cy)
			evaluate(cx, cy-step)
			evaluate(cx, cy+step)
			if bx == cx && by == cy {
				break
			}
		}
	}
	if best+minGain*n >= zero {
		return vector{}
	}
	e := func(x, y int) int64 { return s.squaredError(x0, y0, dx, dy, bx+x, by+y, outside) }
	return vector{
		int32(8*bx) + vertex(e(-1, 0), best, e(1, 0)),
		int32(8*by) + vertex(e(0, -1), best, e(0, 1)),
	}
}

// outside is the error of a place outside the picture.
const outside = 1 << 60

// vertex is where, in eighths, a parabola through errors at -1, 0 and 1 has its
// minimum.
func vertex(l, m, r int64) int32 {
	if l == outside || r == outside || l+r-2*m <= 0 {
		return 0
	}
	v := 4 * float64(l-r) / float64(l+r-2*m)
	return int32(min(max(v, -4), 4)+128.5) - 128
}

// squaredError sums the squared differences of colour between the pixels of a block and
// those vx, vy away in the reference. Rows after the sum has reached limit do
// not count.
func (s *Stabiliser) squaredError(x0, y0, dx, dy, vx, vy int, limit int64) int64 {
	if max(vx, -vx, vy, -vy) > searchRange || x0+vx < 0 || y0+vy < 0 || x0+vx+dx > s.w || y0+vy+dy > s.h {
		return outside
	}
	sum := int32(0)
	for y := 0; y < dy && int64(sum) < limit; y++ {
		p := s.frame[4*((y0+y)*s.w+x0):]
		p = p[:4*dx]
		q := s.ref[4*((y0+vy+y)*s.w+x0+vx):]
		q = q[:len(p)]
		for x := 0; x+3 < len(p); x += 4 {
			r, g, b := int32(p[x])-int32(q[x]), int32(p[x+1])-int32(q[x+1]), int32(p[x+2])-int32(q[x+2])
			sum += r*r + g*g + b*b
		}
	}
	return int64(sum)
}
