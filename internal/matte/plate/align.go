package plate

import "math"

const (
	// coarse is at how many sizes, each half the one before, is searched.
	coarse = 4
	// rounds bounds the steps at each size, of at most two pixels there; settled
	// ends them.
	rounds, settled = 8, 0.02
	// apart is the difference of lightness, in 1/255, from which on a pixel
	// counts half: it shows something else.
	apart = 12
	// rest is how far, in pixels, a camera that stands may seem to have moved.
	rest = 0.06
	// unlike is the mean difference of lightness from which on two pictures do
	// not show the same place, few the share of pixels that must tell.
	unlike, few = 9, 0.05
	// A camera may leap by 1/leap of a picture between frames, but by no more than
	// farthest pixels of the smallest size.
	leap, farthest = 6, 12
)

// aligner finds how far apart two pictures of the same place are. The zero value
// is ready.
type aligner struct {
	frame, plate [coarse]level
}

// level is the lightness of a picture, halved some times, and where it is known.
type level struct {
	w, h  int
	light []float32
	known []uint8
}

// find returns the d for which the frame's backdrop at x is the plate's at x+d, how
// much lighter it is, in 1/255, and whether that shows the same place.
func (a *aligner) find(s *still, seen *scene) (d point, lighter float64, ok bool) {
	a.frame[0].set(s.w, s.h, s.pix, s.kind)
	a.plate[0].set(s.w, s.h, seen.pix, seen.known)
	n := 1
	for n < coarse && min(a.frame[n-1].w, a.frame[n-1].h) >= 48 {
		a.frame[n].halve(&a.frame[n-1])
		a.plate[n].halve(&a.plate[n-1])
		n++
	}
	d, lighter, ok = a.descend(n, point{}, 0)
	if !ok { // the camera may have leapt
		if d, lighter, ok = search(&a.frame[n-1], &a.plate[n-1]); ok {
			d, lighter, ok = a.descend(n, d, lighter)
		}
	}
	if max(math.Abs(d.x), math.Abs(d.y)) < rest {
		d = point{}
	}
	return d, lighter, ok
}

// descend goes down the n sizes, starting with d at the smallest.
func (a *aligner) descend(n int, d point, lighter float64) (_ point, _ float64, ok bool) {
	miss := 0.0
	for i := n - 1; i >= 0; i-- {
		if i < n-1 {
			d.x, d.y = 2*d.x, 2*d.y
		}
		limit := rounds
		if i == 0 {
			limit = 2
		}
		for range limit {
			e := match(&a.frame[i], &a.plate[i], d, lighter)
			if e.count < few*float64(a.frame[i].w*a.frame[i].h) {
				return point{}, 0, false
			}
			step := e.solve()
			miss = e.miss / e.count
			d.x, d.y, lighter = d.x+step[0], d.y+step[1], lighter+step[2]
			if max(math.Abs(step[0]), math.Abs(step[1])) < settled {
				break
			}
		}
		if most := unlike * float64(1+min(i, 1)); miss > most { // twice as much while it is still searched for
			return point{}, 0, false
		}
	}
	return d, lighter, true
}

// search tries all whole steps up to a share of the picture. It returns the
// best, how much lighter the frame is there, and whether there is one.
func search(f, p *level) (best point, lighter float64, ok bool) {
	least := math.Inf(1)
	across, down := min(f.w/leap, farthest), min(f.h/leap, farthest)
	for y := -down; y <= down; y++ {
		for x := -across; x <= across; x++ {
			if cost, bias := unlikeness(f, p, x, y); cost < least {
				best, lighter, least = point{float64(x), float64(y)}, bias, cost
			}
		}
	}
	return best, lighter, least < math.Inf(1)
}

// unlikeness is the mean robust difference of a frame from the plate x, y away, and
// how much lighter the frame is there on the mean.
func unlikeness(f, p *level, x, y int) (cost, lighter float64) {
	from, to := max(0, -x), min(f.w, p.w-x)
	var sum, count float32
	for v := max(0, -y); v < min(f.h, p.h-y); v++ {
		for u := from; u < to; u++ {
			if i, j := v*f.w+u, (v+y)*p.w+u+x; f.known[i]&p.known[j] != 0 {
				sum += f.light[i] - p.light[j]
				count++
			}
		}
	}
	if float64(count) < few*float64(f.w*f.h) {
		return math.Inf(1), 0
	}
	mean, off := sum/count, float32(0)
	for v := max(0, -y); v < min(f.h, p.h-y); v++ {
		for u := from; u < to; u++ {
			if i, j := v*f.w+u, (v+y)*p.w+u+x; f.known[i]&p.known[j] != 0 {
				r := f.light[i] - p.light[j] - mean
				off += r * r / (r*r + apart*apart)
			}
		}
	}
	return float64(off / count), float64(mean)
}

// set takes the lightness of RGBA pixels, which count where known has the bit of
// backdrop.
func (l *level) set(w, h int, pix, known []uint8) {
	l.resize(w, h)
	for i := range l.light {
		p := pix[4*i : 4*i+3 : 4*i+3]
		l.light[i] = float32(2*int(p[0])+5*int(p[1])+int(p[2])) / 8
		l.known[i] = known[i] & backdrop
	}
}

func (l *level) resize(w, h int) {
	l.w, l.h = w, h
	l.light, l.known = sized(l.light, w*h), sized(l.known, w*h)
}

// halve makes l half as large as from. A pixel is unknown if any of its four
// is.
func (l *level) halve(from *level) {
	l.resize(from.w/2, from.h/2)
	for y := range l.h {
		for x := range l.w {
			i, o := 2*y*from.w+2*x, y*l.w+x
			l.light[o] = (from.light[i] + from.light[i+1] + from.light[i+from.w] + from.light[i+from.w+1]) / 4
			l.known[o] = from.known[i] & from.known[i+1] & from.known[i+from.w] & from.known[i+from.w+1]
		}
	}
}

// normal are the normal equations of a step in x, y and lightness, and how well
// the pictures agree before it.
type normal struct {
	a     [3][3]float64
	b     [3]float64
	count float64
	miss  float64 // sum of the differences
}

// match compares a frame with a plate d away. Differences count the less the
// larger they are (Geman and McClure).
func match(f, p *level, d point, bias float64) (e normal) {
	x0, y0, k := weights(d)
	for y := 1; y < f.h-1; y++ {
		v := y + y0
		if v < 0 || v+1 >= p.h {
			continue
		}
		from, to := max(1, -x0), min(f.w-1, p.w-1-x0)
		var xx, xy, yy, xs, ys, ss, xe, ye, se, miss float32
		count := 0
		for x := from; x < to; x++ {
			i, j := y*f.w+x, v*p.w+x+x0
			if f.known[i] == 0 || p.known[j]&p.known[j+1]&p.known[j+p.w]&p.known[j+p.w+1] == 0 {
				continue
			}
			gx, gy := (f.light[i+1]-f.light[i-1])/2, (f.light[i+f.w]-f.light[i-f.w])/2
			there := k[0]*p.light[j] + k[1]*p.light[j+1] + k[2]*p.light[j+p.w] + k[3]*p.light[j+p.w+1]
			r := f.light[i] - there - float32(bias)
			q := 1 / (1 + r*r*(1.0/(apart*apart)))
			w := q * q
			xx, xy, yy = xx+w*gx*gx, xy+w*gx*gy, yy+w*gy*gy
			xs, ys, ss = xs+w*gx, ys+w*gy, ss+w
			xe, ye, se = xe+w*gx*r, ye+w*gy*r, se+w*r
			miss += max(r, -r)
			count++
		}
		e.a[0][0] += float64(xx)
		e.a[0][1] += float64(xy)
		e.a[1][1] += float64(yy)
		e.a[0][2] += float64(xs)
		e.a[1][2] += float64(ys)
		e.a[2][2] += float64(ss)
		e.b[0] += float64(xe)
		e.b[1] += float64(ye)
		e.b[2] += float64(se)
		e.miss += float64(miss)
		e.count += float64(count)
	}
	return e
}

// solve returns the solution of the equations, a step of at most two pixels. In
// pictures without structure it is small.
func (e *normal) solve() (step [3]float64) {
	a, b := e.a, e.b
	a[1][0], a[2][0], a[2][1] = a[0][1], a[0][2], a[1][2]
	a[0][0] += 1e-3*e.count + 1e-9
	a[1][1] += 1e-3*e.count + 1e-9
	a[2][2] += 1e-9
	for i := range 3 { // Gauss; the matrix is symmetric and positive
		for j := i + 1; j < 3; j++ {
			f := a[j][i] / a[i][i]
			for k := i; k < 3; k++ {
				a[j][k] -= f * a[i][k]
			}
			b[j] -= f * b[i]
		}
	}
	for i := 2; i >= 0; i-- {
		step[i] = b[i]
		for k := i + 1; k < 3; k++ {
			step[i] -= a[i][k] * step[k]
		}
		step[i] /= a[i][i]
	}
	step[0], step[1] = min(max(step[0], -2), 2), min(max(step[1], -2), 2)
	return step
}
