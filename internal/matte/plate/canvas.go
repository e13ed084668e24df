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
	pixels []pixel // made from the sums
}

// sum collects the frames of one place: the backdrop's colours, the sum of the
// squares of all three, and the colours taken for the subject.
type sum struct {
	backdrop, subject colourSum
	squares           float32
}

// colourSum is a sum of colours, and how many frames they are of.
type colourSum struct{ r, g, b, n float32 }

// pixel describes one place in the units of a View. The backdrop's colour is in
// 1/64 of those, because it may be maxGain times as bright as any of a
// frame's. All is 0 if the place is unknown.
type pixel struct {
	colour                  [3]uint16
	known                   uint8 // backdrop or 0
	spread, frames, claimed uint8
}

func (c *canvas) clear(w, h int) {
	c.frame = image.Pt(w, h)
	c.w, c.h = w+2*(w/2)+1, h+2*(h/2)+1
	c.origin = image.Pt(-(w / 2), -(h / 2))
	c.sums, c.pixels = sized(c.sums, c.w*c.h), sized(c.pixels, c.w*c.h)
	clear(c.sums)
	clear(c.pixels)
}

// contains reports whether a frame at p lies on the canvas, with a pixel to spare.
func (c *canvas) contains(p point) bool {
	x, y := int(math.Floor(p.x))-c.origin.X, int(math.Floor(p.y))-c.origin.Y
	return x >= 0 && y >= 0 && x+1+c.frame.X <= c.w && y+1+c.frame.Y <= c.h
}

// centre moves the canvas so that a frame at p lies in its middle. Places that
// leave it are lost.
func (c *canvas) centre(p point) {
	to := image.Pt(int(math.Floor(p.x))-c.frame.X/2, int(math.Floor(p.y))-c.frame.Y/2)
	d := c.origin.Sub(to)
	c.sums, c.pixels = shifted(c, c.sums, d), shifted(c, c.pixels, d)
	c.origin = to
}

// shifted is the whole canvas with its places shifted by d.
func shifted[T any](c *canvas, from []T, d image.Point) []T {
	to := make([]T, len(from))
	left, right := max(0, d.X), min(c.w, c.w+d.X)
	for y := max(0, d.Y); y < min(c.h, c.h+d.Y) && left < right; y++ {
		copy(to[y*c.w+left:y*c.w+right], from[(y-d.Y)*c.w+left-d.X:])
	}
	return to
}

// weights are the shares of the four pixels around a place between them, and the
// upper left one of them.
func weights(p point) (x, y int, k [4]float32) {
	fx, fy := math.Floor(p.x), math.Floor(p.y)
	u, v := float32(p.x-fx), float32(p.y-fy)
	return int(fx), int(fy), [4]float32{(1 - u) * (1 - v), u * (1 - v), (1 - u) * v, u * v}
}

// shares are weights in 1/256. They sum up to that.
func shares(weights *[4]float32) (k [4]uint32) {
	k[0] = 256
	for i, v := range weights[1:] {
		k[i+1] = min(uint32(256*v+0.5), k[0])
		k[0] -= k[i+1]
	}
	return k
}

// predict draws the canvas's knowledge of a frame at p in the light of gain.
func (c *canvas) predict(p point, gain [3]float64, to *prediction) {
	w, h := c.frame.X, c.frame.Y
	to.resize(w * h)
	l := newLight(gain)
	x0, y0, weight := weights(p)
	x0, y0 = x0-c.origin.X, y0-c.origin.Y
	k := shares(&weight)
	for y := range h {
		at := (y0+y)*c.w + x0
		if k[0] == 256 {
			for x := range w {
				to.set(y*w+x, &c.pixels[at+x], &l)
			}
			continue
		}
		up, down := c.pixels[at:at+w+1:at+w+1], c.pixels[at+c.w:at+c.w+w+1:at+c.w+w+1]
		for x := range w {
			a, b, d, e := &up[x], &up[x+1], &down[x], &down[x+1]
			var px pixel
			if a.known&b.known&d.known&e.known != 0 {
				px = interpolate(&k, a, b, d, e)
			} else if a.known|b.known|d.known|e.known != 0 {
				i := at + x
				s := interpolateSum(&weight, &c.sums[i], &c.sums[i+1], &c.sums[i+c.w], &c.sums[i+c.w+1])
				px = s.pixel()
			}
			to.set(y*w+x, &px, &l)
		}
	}
}

// interpolate is the mean of four places, at least partly known, with weights in
// 1/256.
func interpolate(k *[4]uint32, a, b, c, d *pixel) (f pixel) {
	f.known = backdrop
	for i := range f.colour {
		f.colour[i] = uint16((k[0]*uint32(a.colour[i]) + k[1]*uint32(b.colour[i]) + k[2]*uint32(c.colour[i]) + k[3]*uint32(d.colour[i])) >> 8)
	}
	f.spread = uint8((k[0]*uint32(a.spread) + k[1]*uint32(b.spread) + k[2]*uint32(c.spread) + k[3]*uint32(d.spread) + 128) >> 8)
	f.frames = uint8((k[0]*uint32(a.frames) + k[1]*uint32(b.frames) + k[2]*uint32(c.frames) + k[3]*uint32(d.frames) + 128) >> 8)
	f.claimed = uint8((k[0]*uint32(a.claimed) + k[1]*uint32(b.claimed) + k[2]*uint32(c.claimed) + k[3]*uint32(d.claimed) + 128) >> 8)
	return f
}

func interpolateSum(k *[4]float32, a, b, c, d *sum) sum {
	return sum{
		backdrop: interpolateColours(k, &a.backdrop, &b.backdrop, &c.backdrop, &d.backdrop),
		subject:  interpolateColours(k, &a.subject, &b.subject, &c.subject, &d.subject),
		squares:  k[0]*a.squares + k[1]*b.squares + k[2]*c.squares + k[3]*d.squares,
	}
}

func interpolateColours(k *[4]float32, a, b, c, d *colourSum) colourSum {
	return colourSum{
		k[0]*a.r + k[1]*b.r + k[2]*c.r + k[3]*d.r,
		k[0]*a.g + k[1]*b.g + k[2]*c.g + k[3]*d.g,
		k[0]*a.b + k[1]*b.b + k[2]*c.b + k[3]*d.b,
		k[0]*a.n + k[1]*b.n + k[2]*c.n + k[3]*d.n,
	}
}

// minKnown is how many frames a place must have been seen in, at least.
const minKnown = 0.9

// pixel evaluates a sum.
func (s *sum) pixel() (f pixel) {
	n := s.backdrop.n
	if n < minKnown {
		return pixel{}
	}
	r, g, b := s.backdrop.mean()
	f.colour = [3]uint16{fixedPoint(r), fixedPoint(g), fixedPoint(b)}
	f.known = backdrop
	variance := max(s.squares*(1/n)-r*r-g*g-b*b, 0) / 3
	f.spread = round(4 * float32(math.Sqrt(float64(variance))))
	f.frames = round(16 * n)
	if s.subject.n >= minKnown {
		sr, sg, sb := s.subject.mean()
		dr, dg, db := sr-r, sg-g, sb-b
		alike := 1 / (1 + (dr*dr+dg*dg+db*db)/(27*max(variance, noiseFloor*noiseFloor)))
		f.claimed = round(255 * alike * s.subject.n / (s.subject.n + n))
	}
	return f
}

// fixedPoint is a value in the units of a pixel's colour.
func fixedPoint(v float32) uint16 { return uint16(min(64*v+0.5, 1<<16-1)) }

// light is the gains of red, green, blue and of spreads, in 1/2¹⁴.
type light [4]uint32

func newLight(gain [3]float64) (l light) {
	for c, g := range [4]float64{gain[0], gain[1], gain[2], gain[1]} {
		l[c] = uint32(g*(1<<14) + 0.5)
	}
	return l
}

func (s *prediction) set(i int, f *pixel, l *light) {
	q := s.pix[4*i : 4*i+3 : 4*i+3]
	for c := range q {
		q[c] = uint8(min((uint32(f.colour[c])*l[c]+1<<19)>>20, 255))
	}
	s.known[i], s.spread[i], s.frames[i], s.claimed[i] = f.known, l.scale(3, f.spread), f.frames, f.claimed
}

// scale is a value in that light.
func (l *light) scale(c int, v uint8) uint8 { return uint8(min((uint32(v)*l[c]+1<<13)>>14, 255)) }

// relight draws a prediction in another light.
func (s *prediction) relight(from, to *[3]float64) {
	l := newLight([3]float64{to[0] / from[0], to[1] / from[1], to[2] / from[2]})
	for i := range s.spread {
		q := s.pix[4*i : 4*i+3 : 4*i+3]
		q[0], q[1], q[2] = l.scale(0, q[0]), l.scale(1, q[1]), l.scale(2, q[2])
		s.spread[i] = l.scale(3, s.spread[i])
	}
}

func (t *colourSum) mean() (r, g, b float32) {
	share := 1 / t.n
	return t.r * share, t.g * share, t.b * share
}

// round is for values from 0 on.
func round(v float32) uint8 { return uint8(min(int32(v+0.5), 255)) }

func (s *prediction) resize(n int) {
	s.pix = sized(s.pix, 4*n)
	for _, plane := range []*[]uint8{&s.known, &s.spread, &s.frames, &s.claimed} {
		*plane = sized(*plane, n)
	}
}

// sized is a buffer of length n, in the memory of s if that is enough, and without
// its content.
func sized[T any](s []T, n int) []T { return slices.Grow(s[:0], n)[:n] }

// add lays a frame at p, with the gain of its light, onto the canvas. A place
// has a kind only if all pixels of the frame around it have it.
func (c *canvas) add(s *frame, p point, gain [3]float64) {
	// Place (x0+x, y0+y) lies at (x, y) of the frame and a part of a pixel on.
	x0, y0 := int(math.Ceil(p.x)), int(math.Ceil(p.y))
	_, _, part := weights(point{float64(x0) - p.x, float64(y0) - p.y})
	k := shares(&part)
	x0, y0 = x0-c.origin.X, y0-c.origin.Y
	var inv [3]float32
	for i, g := range gain {
		inv[i] = float32(1 / (256 * g))
	}
	right, below := 1, s.w // from a pixel to those beside it that count
	if k[0] == 256 {
		right, below = 0, 0
	}
	for y := range s.h - min(below, 1) {
		pix, kind := s.pix[4*y*s.w:], s.kind[y*s.w:]
		to, pixels := c.sums[(y0+y)*c.w+x0:], c.pixels[(y0+y)*c.w+x0:]
		for x := range s.w - right {
			common := kind[x] & kind[x+right] & kind[x+below] & kind[x+below+right]
			if common == 0 {
				continue
			}
			a, b, d, e := pix[4*x:4*x+4:4*x+4], pix[4*(x+right):], pix[4*(x+below):], pix[4*(x+below+right):]
			b, d, e = b[:4:4], d[:4:4], e[:4:4]
			var v [3]float32
			for i := range v {
				v[i] = float32(k[0]*uint32(a[i])+k[1]*uint32(b[i])+k[2]*uint32(d[i])+k[3]*uint32(e[i])) * inv[i]
			}
			s := &to[x]
			if common == backdrop {
				older := s.backdrop.add(v)
				s.squares = older*s.squares + (v[0]*v[0] + v[1]*v[1] + v[2]*v[2])
			} else {
				s.subject.add(v)
			}
			pixels[x] = s.pixel()
		}
	}
}

// add adds a colour, and returns how much older ones count from then on: less once
// there are many.
func (t *colourSum) add(v [3]float32) (older float32) {
	older = 1
	if t.n >= history {
		older = float32(history-1) / history
	}
	t.r, t.g, t.b, t.n = older*t.r+v[0], older*t.g+v[1], older*t.b+v[2], older*t.n+1
	return older
}
