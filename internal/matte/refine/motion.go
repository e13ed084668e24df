package refine

const (
	// far is how many pixels away the past of a tile is looked for.
	far = 48
	// still is the error of a tile per sample, squared, below which it is
	// not looked for elsewhere, and toll what another place must gain.
	still, toll = 16, 4
)

// search finds where in the reference picture a tile was: the best of the
// places of its neighbours, improved in smaller and smaller steps (J. R. Jain
// and A. K. Jain, "Displacement measurement and its application in interframe
// image coding", IEEE Trans. Communications 29(12), 1981), and the minimum of
// the parabola through the errors there.
func (s *Stabiliser) search(tx, ty, dx, dy int) vector {
	x0, y0 := tx*unit, ty*unit
	n := int64(3 * dx * dy)
	zero := s.miss(x0, y0, dx, dy, 0, 0)
	if zero <= still*n {
		return vector{}
	}
	bx, by, best := 0, 0, zero
	try := func(x, y int) {
		if e := s.miss(x0, y0, dx, dy, x, y); e < best {
			bx, by, best = x, y, e
		}
	}
	t := ty*s.tw + tx
	hint := func(v vector) { try(int(v.x+4)>>3, int(v.y+4)>>3) }
	hint(s.field[t])
	if tx > 0 {
		hint(s.moved[t-1])
	}
	if ty > 0 {
		hint(s.moved[t-s.tw])
	}
	for step := 8; step > 0; step /= 2 {
		for range 4 {
			cx, cy := bx, by
			try(cx-step, cy)
			try(cx+step, cy)
			try(cx, cy-step)
			try(cx, cy+step)
			if bx == cx && by == cy {
				break
			}
		}
	}
	if best+toll*n >= zero {
		return vector{}
	}
	e := func(x, y int) int64 { return s.miss(x0, y0, dx, dy, bx+x, by+y) }
	return vector{
		int32(8*bx) + vertex(e(-1, 0), best, e(1, 0)),
		int32(8*by) + vertex(e(0, -1), best, e(0, 1)),
	}
}

// none is the error of a place outside of the picture.
const none = 1 << 60

// vertex is where, in eighths, a parabola through errors at -1, 0 and 1 has its
// minimum.
func vertex(l, m, r int64) int32 {
	if l == none || r == none || l+r-2*m <= 0 {
		return 0
	}
	v := 4 * float64(l-r) / float64(l+r-2*m)
	return int32(min(max(v, -4), 4)+128.5) - 128
}

// miss sums the squared differences of colour between every second pixel of
// every second row of a tile and those vx, vy away in the reference.
func (s *Stabiliser) miss(x0, y0, dx, dy, vx, vy int) int64 {
	if max(vx, -vx, vy, -vy) > far || x0+vx < 0 || y0+vy < 0 || x0+vx+dx > s.w || y0+vy+dy > s.h {
		return none
	}
	sum := int32(0)
	for y := 0; y < dy; y++ {
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

const (
	// cut is the mean difference of colour from which on another distribution
	// of lightness, by the share of shift, means another scene.
	cut, shift = 20, 0.4
	// jump is the difference that means one whatever the distribution.
	jump = 70
)

// isCut reports whether two pictures show different scenes, by every eighth
// pixel of every eighth row.
func isCut(a, b []uint8, w, h int) bool {
	var counts [16]int
	sum, n := 0, 0
	for y := min(4, h/2); y < h; y += 8 {
		for x := min(4, w/2); x < w; x += 8 {
			i := 4 * (y*w + x)
			p, q := a[i:i+3:i+3], b[i:i+3:i+3]
			sum += int(distant(p[0], q[0]) + distant(p[1], q[1]) + distant(p[2], q[2]))
			counts[(int(p[0])+2*int(p[1])+int(p[2]))/64]++
			counts[(int(q[0])+2*int(q[1])+int(q[2]))/64]--
			n++
		}
	}
	other := 0
	for _, c := range counts {
		other += max(c, 0)
	}
	mean := float64(sum) / float64(3*max(n, 1))
	return mean >= jump || mean >= cut && float64(other) >= shift*float64(n)
}
