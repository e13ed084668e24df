package plate

import (
	"math"

	"github.com/bgremove/bgremove/internal/matte/view"
)

// The inner loops in Go. The assembly gives the same bits: products are converted
// to float32 so that no compiler adds to one before it is rounded.

// lanes is the number of values processed at once.
const lanes = 8

// minKnown is how many frames a place must have been seen in, at least.
const minKnown = 0.9

// laying lays a frame on a canvas. Right and below are from a pixel to those beside it
// that count.
type laying struct {
	canvas       *canvas
	frame        *frame
	shares       [4]uint32 // in 1/256
	inverse      [3]float32
	right, below int
}

// rowPlain lays n pixels from i on at the places from at on.
func (l *laying) rowPlain(i, at, n int) {
	k, pix, kind := &l.shares, l.frame.pix, l.frame.kind
	for ; n > 0; i, at, n = i+1, at+1, n-1 {
		common := kind[i] & kind[i+l.right] & kind[i+l.below] & kind[i+l.below+l.right]
		if common == 0 {
			continue
		}
		a, b, d, e := pix[4*i:], pix[4*(i+l.right):], pix[4*(i+l.below):], pix[4*(i+l.below+l.right):]
		var v [3]float32
		for c := range v {
			v[c] = float32(k[0]*uint32(a[c])+k[1]*uint32(b[c])+k[2]*uint32(d[c])+k[3]*uint32(e[c])) * l.inverse[c]
		}
		s := l.canvas.sums.at(at)
		if common == backdrop {
			older := s.backdrop.add(v)
			s.squares = float32(older*s.squares) + (float32(v[0]*v[0]) + float32(v[1]*v[1]) + float32(v[2]*v[2]))
		} else {
			s.subject.add(v)
		}
		l.canvas.sums.set(at, &s)
		l.canvas.pixels.set(at, s.pixel())
	}
}

func (s *sums) at(i int) sum {
	return sum{
		backdrop: colourSum{s[0][i], s[1][i], s[2][i], s[backdropFrames][i]},
		squares:  s[squaresPlane][i],
		subject:  colourSum{s[subjectColour][i], s[subjectColour+1][i], s[subjectColour+2][i], s[subjectFrames][i]},
	}
}

func (s *sums) set(i int, v *sum) {
	for p, f := range [sumPlanes]float32{v.backdrop.r, v.backdrop.g, v.backdrop.b, v.backdrop.n, v.squares, v.subject.r, v.subject.g, v.subject.b, v.subject.n} {
		s[p][i] = f
	}
}

// add adds a colour, and returns how much older ones count from then on: less once
// there are many.
func (t *colourSum) add(v [3]float32) (older float32) {
	older = 1
	if t.n >= history {
		older = float32(history-1) / history
	}
	t.r, t.g, t.b = float32(older*t.r)+v[0], float32(older*t.g)+v[1], float32(older*t.b)+v[2]
	t.n = float32(older*t.n) + 1
	return older
}

func (p *pixels) set(i int, v pixel) {
	for c := range v.colour {
		p.colour[c][i] = v.colour[c]
	}
	p.known[i], p.spread[i], p.frames[i], p.claimed[i] = v.known, v.spread, v.frames, v.claimed
}

// pixel evaluates a sum.
func (s *sum) pixel() (f pixel) {
	n := s.backdrop.n
	if n < minKnown {
		return pixel{}
	}
	r, g, b := s.backdrop.mean()
	f.colour = [3]uint16{fixedPoint(r), fixedPoint(g), fixedPoint(b)}
	f.known = backdrop
	variance := max(float32(s.squares*(1/n))-float32(r*r)-float32(g*g)-float32(b*b), 0) / 3
	f.spread = round(4 * float32(math.Sqrt(float64(variance))))
	f.frames = round(16 * n)
	if s.subject.n >= minKnown {
		sr, sg, sb := s.subject.mean()
		dr, dg, db := sr-r, sg-g, sb-b
		alike := 1 / (1 + (float32(dr*dr)+float32(dg*dg)+float32(db*db))/float32(27*max(variance, noiseFloor*noiseFloor)))
		f.claimed = round(255 * alike * s.subject.n / (s.subject.n + n))
	}
	return f
}

func (t *colourSum) mean() (r, g, b float32) {
	share := 1 / t.n
	return float32(t.r * share), float32(t.g * share), float32(t.b * share)
}

// fixedPoint is a value in the units of a pixel's colour.
func fixedPoint(v float32) uint16 { return uint16(min(float32(64*v)+0.5, 1<<16-1)) }

// round is for values from 0 on.
func round(v float32) uint8 { return uint8(min(int32(float32(v)+0.5), 255)) }

// drawing draws a prediction of a canvas. Right and below are from a place to those beside
// it that count.
type drawing struct {
	canvas       *canvas
	to           *prediction
	weight       [4]float32
	shares       [4]uint32 // in 1/256
	light        light
	right, below int
}

// rowPlain draws n pixels from i on, of the places from at on.
func (d *drawing) rowPlain(at, i, n int) {
	p, k := &d.canvas.pixels, &d.shares
	for ; n > 0; i, at, n = i+1, at+1, n-1 {
		around := [4]int{at, at + d.right, at + d.below, at + d.below + d.right}
		every, some := p.known[at], p.known[at]
		for _, j := range around[1:] {
			every, some = every&p.known[j], some|p.known[j]
		}
		var px pixel
		switch {
		case every != 0:
			px = p.between(k, &around)
		case some != 0:
			s := d.canvas.sums.between(&d.weight, &around)
			px = s.pixel()
		}
		d.to.set(i, &px, &d.light)
	}
}

// between is the mean of four places, with weights in 1/256.
func (p *pixels) between(k *[4]uint32, at *[4]int) (f pixel) {
	f.known = backdrop
	for c, plane := range p.colour {
		f.colour[c] = uint16((k[0]*uint32(plane[at[0]]) + k[1]*uint32(plane[at[1]]) + k[2]*uint32(plane[at[2]]) + k[3]*uint32(plane[at[3]])) >> 8)
	}
	of := func(s []uint8) uint8 {
		return uint8((k[0]*uint32(s[at[0]]) + k[1]*uint32(s[at[1]]) + k[2]*uint32(s[at[2]]) + k[3]*uint32(s[at[3]]) + 128) >> 8)
	}
	f.spread, f.frames, f.claimed = of(p.spread), of(p.frames), of(p.claimed)
	return f
}

// between is the mean of the sums of four places.
func (s *sums) between(k *[4]float32, at *[4]int) sum {
	var v [sumPlanes]float32
	for p := range v {
		v[p] = float32(k[0]*s[p][at[0]]) + float32(k[1]*s[p][at[1]]) + float32(k[2]*s[p][at[2]]) + float32(k[3]*s[p][at[3]])
	}
	return sum{backdrop: colourSum{v[0], v[1], v[2], v[3]}, squares: v[squaresPlane], subject: colourSum{v[5], v[6], v[7], v[8]}}
}

func (s *prediction) set(i int, f *pixel, l *light) {
	q := s.pix[4*i : 4*i+4 : 4*i+4]
	for c := range 3 {
		q[c] = uint8(min((uint32(f.colour[c])*l[c]+1<<19)>>20, 255))
	}
	q[3] = 0
	s.known[i], s.spread[i], s.frames[i], s.claimed[i] = f.known, l.scale(3, f.spread), f.frames, f.claimed
}

// comparison compares a frame with a prediction.
type comparison struct {
	frame     *frame
	predicted *prediction
	view      *view.View
}

// rowPlain sets the view's pixels from i to j, and returns how many of them are known.
func (o *comparison) rowPlain(i, j int) (known int) {
	n, p := o.view.W*o.view.H, o.view.Pix
	for ; i < j; i++ {
		s, b := o.frame.pix[4*i:4*i+3:4*i+3], o.predicted.pix[4*i:4*i+3:4*i+3]
		to := p[i:]
		to[0], to[int(view.Green)*n], to[int(view.Blue)*n] = s[0], s[1], s[2]
		off := to[int(view.RedOff)*n:]
		if o.predicted.frames[i] < minFrames {
			off[0], off[n], off[2*n] = 128, 128, 128
			continue
		}
		known++
		sum := 0
		for c := range 3 {
			d := int(s[c]) - int(b[c])
			off[c*n] = uint8(128 + d/2)
			sum += d * d
		}
		to[int(view.Unusual)*n] = round(float32(math.Sqrt(float64(float32(sum) * inverseVariance[o.predicted.spread[i]]))))
		to[int(view.Deviation)*n], to[int(view.Frames)*n], to[int(view.Claim)*n] = o.predicted.spread[i], o.predicted.frames[i], o.predicted.claimed[i]
	}
	return known
}

// lightPlain sets dst to the lightness of RGBA pixels.
func lightPlain(dst []float32, pix []uint8) {
	for i := range dst {
		p := pix[4*i : 4*i+3 : 4*i+3]
		dst[i] = float32(2*int(p[0])+5*int(p[1])+int(p[2])) / 8
	}
}

// The sums of a comparison of two levels: products of gradients across and down, of both with
// the difference, and the differences themselves.
const (
	xx, xy, yy, xs, ys, ss, xe, ye, se, apart = 0, 1, 2, 3, 4, 5, 6, 7, 8, 9
	matchSums                                 = 10
)

// matching compares two levels. Its sums are apart by the place in a row modulo lanes.
type matching struct {
	frame, plate *level
	weight       [4]float32 // of the plate's pixels around a place
	lighter      float32
	sums         [matchSums][lanes]float32
	count        int
}

// rowPlain adds n of the frame's pixels from i on, which are those of the plate from j on, the
// first one in a lane.
func (m *matching) rowPlain(i, j, n, lane int) {
	f, p, k := m.frame, m.plate, &m.weight
	for ; n > 0; i, j, n, lane = i+1, j+1, n-1, lane+1 {
		if f.known[i]&p.known[j]&p.known[j+1]&p.known[j+p.w]&p.known[j+p.w+1] == 0 {
			continue
		}
		gx, gy := (f.light[i+1]-f.light[i-1])/2, (f.light[i+f.w]-f.light[i-f.w])/2
		there := float32(k[0]*p.light[j]) + float32(k[1]*p.light[j+1]) + float32(k[2]*p.light[j+p.w]) + float32(k[3]*p.light[j+p.w+1])
		r := f.light[i] - there - m.lighter
		q := 1 / (1 + float32(float32(r*r)*(1.0/(robustScale*robustScale))))
		w := float32(q * q)
		wx, wy := float32(w*gx), float32(w*gy)
		l := lane % lanes
		for s, v := range [matchSums]float32{wx * gx, wx * gy, wy * gy, wx, wy, w, wx * r, wy * r, w * r, max(r, -r)} {
			m.sums[s][l] += v
		}
		m.count++
	}
}

// shifting compares two levels whole pixels apart, by lanes as matching does.
type shifting struct {
	frame, plate *level
	mean         float32        // of the differences
	sums, costs  [lanes]float32 // of differences, and of their robust squares
	count        int
}

// sumPlain adds the differences of n pixels of the frame from i on, and the plate from j on.
func (s *shifting) sumPlain(i, j, n, lane int) {
	f, p := s.frame, s.plate
	for ; n > 0; i, j, n, lane = i+1, j+1, n-1, lane+1 {
		if f.known[i]&p.known[j] != 0 {
			s.sums[lane%lanes] += f.light[i] - p.light[j]
			s.count++
		}
	}
}

// costPlain adds the costs of those pixels.
func (s *shifting) costPlain(i, j, n, lane int) {
	f, p := s.frame, s.plate
	for ; n > 0; i, j, n, lane = i+1, j+1, n-1, lane+1 {
		if f.known[i]&p.known[j] != 0 {
			r := f.light[i] - p.light[j] - s.mean
			square := float32(r * r)
			s.costs[lane%lanes] += square / (square + robustScale*robustScale)
		}
	}
}
