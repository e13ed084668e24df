package plate

import (
	"image"
	"math"
	"slices"
)

// canvas is the plate itself, larger than a frame by half its size on each side.
// Places are counted from where the first frame on it began.
type canvas struct {
	frame  image.Point // size of the frames
	w, h   int
	origin image.Point // the place of the first sum
	sums   []sum
}

// sum is what one place has shown: the backdrop's colours, the sum of the squares of
// all three, and what was taken for the subject.
type sum struct {
	backdrop, subject tally
	squares           float32
}

// tally is sums of colours, and how many frames they are of.
type tally struct{ r, g, b, n float32 }

func (c *canvas) clear(w, h int) {
	c.frame = image.Pt(w, h)
	c.w, c.h = w+2*(w/2)+1, h+2*(h/2)+1
	c.origin = image.Pt(-(w / 2), -(h / 2))
	c.sums = sized(c.sums, c.w*c.h)
	clear(c.sums)
}

// holds reports whether a frame at p lies on the canvas, with a pixel to spare.
func (c *canvas) holds(p point) bool {
	x, y := int(math.Floor(p.x))-c.origin.X, int(math.Floor(p.y))-c.origin.Y
	return x >= 0 && y >= 0 && x+1+c.frame.X <= c.w && y+1+c.frame.Y <= c.h
}

// centre moves the canvas so that a frame at p lies in its middle. What leaves it
// is lost.
func (c *canvas) centre(p point) {
	to := image.Pt(int(math.Floor(p.x))-c.frame.X/2, int(math.Floor(p.y))-c.frame.Y/2)
	d := c.origin.Sub(to)
	moved := make([]sum, len(c.sums))
	left, right := max(0, d.X), min(c.w, c.w+d.X)
	for y := max(0, d.Y); y < min(c.h, c.h+d.Y) && left < right; y++ {
		copy(moved[y*c.w+left:y*c.w+right], c.sums[(y-d.Y)*c.w+left-d.X:])
	}
	c.origin, c.sums = to, moved
}

// weights are the shares of the four pixels around a place between them, and the
// upper left one of them.
func weights(p point) (x, y int, k [4]float32) {
	fx, fy := math.Floor(p.x), math.Floor(p.y)
	u, v := float32(p.x-fx), float32(p.y-fy)
	return int(fx), int(fy), [4]float32{(1 - u) * (1 - v), u * (1 - v), (1 - u) * v, u * v}
}

// look draws what the canvas knows of a frame at p in the light of gain.
func (c *canvas) look(p point, gain [3]float64, to *scene) {
	w, h := c.frame.X, c.frame.Y
	to.resize(w * h)
	x0, y0, k := weights(p)
	x0, y0 = x0-c.origin.X, y0-c.origin.Y
	sharp := k[0] == 1
	g := [3]float32{float32(gain[0]), float32(gain[1]), float32(gain[2])}
	for y := range h {
		up := c.sums[(y0+y)*c.w+x0:]
		down := c.sums[(y0+y+1)*c.w+x0:]
		for x := range w {
			s := up[x]
			if !sharp {
				s = mixed(&k, &up[x], &up[x+1], &down[x], &down[x+1])
			}
			to.set(y*w+x, &s, &g)
		}
	}
}

func mixed(k *[4]float32, a, b, c, d *sum) sum {
	return sum{
		backdrop: mixedTally(k, &a.backdrop, &b.backdrop, &c.backdrop, &d.backdrop),
		subject:  mixedTally(k, &a.subject, &b.subject, &c.subject, &d.subject),
		squares:  k[0]*a.squares + k[1]*b.squares + k[2]*c.squares + k[3]*d.squares,
	}
}

func mixedTally(k *[4]float32, a, b, c, d *tally) tally {
	return tally{
		k[0]*a.r + k[1]*b.r + k[2]*c.r + k[3]*d.r,
		k[0]*a.g + k[1]*b.g + k[2]*c.g + k[3]*d.g,
		k[0]*a.b + k[1]*b.b + k[2]*c.b + k[3]*d.b,
		k[0]*a.n + k[1]*b.n + k[2]*c.n + k[3]*d.n,
	}
}

// known is how many frames a place must have been seen in, at least.
const known = 0.9

func (s *scene) set(i int, v *sum, gain *[3]float32) {
	q := s.pix[4*i : 4*i+3 : 4*i+3]
	n := v.backdrop.n
	if n < known {
		q[0], q[1], q[2] = 0, 0, 0
		s.known[i], s.spread[i], s.frames[i], s.claimed[i] = 0, 0, 0, 0
		return
	}
	r, g, b := v.backdrop.mean()
	q[0], q[1], q[2] = round(r*gain[0]), round(g*gain[1]), round(b*gain[2])
	s.known[i] = backdrop
	variance := max(v.squares*(1/n)-r*r-g*g-b*b, 0) / 3
	s.spread[i] = round(4 * gain[1] * float32(math.Sqrt(float64(variance))))
	s.frames[i] = round(16 * n)
	s.claimed[i] = 0
	if v.subject.n >= known {
		sr, sg, sb := v.subject.mean()
		dr, dg, db := sr-r, sg-g, sb-b
		alike := 1 / (1 + (dr*dr+dg*dg+db*db)/(27*max(variance, grain*grain)))
		s.claimed[i] = round(255 * alike * v.subject.n / (v.subject.n + n))
	}
}

func (t *tally) mean() (r, g, b float32) {
	share := 1 / t.n
	return t.r * share, t.g * share, t.b * share
}

// round is for values from 0 on.
func round(v float32) uint8 { return uint8(min(int32(v+0.5), 255)) }

func (s *scene) resize(n int) {
	s.pix = sized(s.pix, 4*n)
	for _, plane := range []*[]uint8{&s.known, &s.spread, &s.frames, &s.claimed} {
		*plane = sized(*plane, n)
	}
}

// sized is a buffer of length n, in the memory of s if that is enough, and without
// its content.
func sized[T any](s []T, n int) []T { return slices.Grow(s[:0], n)[:n] }

// add lays a frame at p, in whose light it has the gain, onto the canvas. A place
// is of the kind that all pixels of the frame around it are of.
func (c *canvas) add(s *still, p point, gain [3]float64) {
	// Place (x0+x, y0+y) lies at (x, y) of the frame and a part of a pixel on.
	x0, y0 := int(math.Ceil(p.x)), int(math.Ceil(p.y))
	_, _, k := weights(point{float64(x0) - p.x, float64(y0) - p.y})
	x0, y0 = x0-c.origin.X, y0-c.origin.Y
	inv := [3]float32{float32(1 / gain[0]), float32(1 / gain[1]), float32(1 / gain[2])}
	right, below := 1, s.w // from a pixel to those beside it that count
	if k[0] == 1 {
		right, below = 0, 0
	}
	for y := range s.h - min(below, 1) {
		pix, kind := s.pix[4*y*s.w:], s.kind[y*s.w:]
		to := c.sums[(y0+y)*c.w+x0:]
		for x := range s.w - right {
			is := kind[x] & kind[x+right] & kind[x+below] & kind[x+below+right]
			if is == 0 {
				continue
			}
			a, b, d, e := pix[4*x:], pix[4*(x+right):], pix[4*(x+below):], pix[4*(x+below+right):]
			var v [3]float32
			for ch := range v {
				v[ch] = (k[0]*float32(a[ch]) + k[1]*float32(b[ch]) + k[2]*float32(d[ch]) + k[3]*float32(e[ch])) * inv[ch]
			}
			if is == backdrop {
				older := to[x].backdrop.add(v)
				to[x].squares = older*to[x].squares + (v[0]*v[0] + v[1]*v[1] + v[2]*v[2])
			} else {
				to[x].subject.add(v)
			}
		}
	}
}

// add adds a colour, and returns how much older ones count from then on: less once
// there are many.
func (t *tally) add(v [3]float32) (older float32) {
	older = 1
	if t.n >= lasting {
		older = float32(lasting-1) / lasting
	}
	t.r, t.g, t.b, t.n = older*t.r+v[0], older*t.g+v[1], older*t.b+v[2], older*t.n+1
	return older
}
