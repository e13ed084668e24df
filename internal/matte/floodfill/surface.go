package floodfill

import (
	"image"
	"math"
	"slices"
)

// surface is the colour of a backdrop over the picture: for red, green and blue
// the factors of 1, u, v, u², uv and v², where u and v run from −1 to 1 along
// the picture's sides.
type surface [3][6]float64

// at is the colour at a place of the picture, 0–255.
func (s *surface) at(u, v float64) (c [3]float64) {
	t := terms(u, v)
	for k := range c {
		for i := range t {
			c[k] += s[k][i] * t[i]
		}
	}
	return c
}

func terms(u, v float64) [6]float64 { return [6]float64{1, u, v, u * u, u * v, v * v} }

// span is the largest difference of a channel over the picture.
func (s *surface) span() float64 {
	var most float64
	lo, hi := s.at(0, 0), s.at(0, 0)
	for i := range 25 {
		c := s.at(float64(i%5)/2-1, float64(i/5)/2-1)
		for k := range c {
			lo[k], hi[k] = min(lo[k], c[k]), max(hi[k], c[k])
			most = max(most, hi[k]-lo[k])
		}
	}
	return most
}

const (
	// tileSide is the side in pixels of the squares whose means do not show the
	// dither of palettes, tilesSampled how many of them of a frame are kept.
	tileSide, tilesSampled = 8, 1024
	// tileNear is the largest channel difference of a tile's mean to the surface
	// at which it counts as backdrop.
	tileNear = 16
	// surfaceSpan and surfaceRough are the span and the roughness above which a
	// backdrop is not of one colour, surfaceGain is how much nearer
	// the border a surface must be than it, as a share of tileNear.
	surfaceSpan, surfaceRough, surfaceGain = 8, 12, 0.05
	// surfaceLeast is the least side in pixels of a picture that shows one.
	surfaceLeast = 32
	// roughest is the most noise that a dither is given, tooRough the roughness
	// above which it is no dither but texture.
	roughest, tooRough = 40, 64
	// surfaceRounds is how often the surface is fitted anew to what is near it.
	surfaceRounds = 20
)

// tile is a square of a surveyed frame.
type tile struct {
	u, v   float64 // its centre
	mean   [3]float64
	rough  float64 // largest channel difference of a pixel to the mean
	border bool
	frame  int
}

// tiles cuts a frame into squares; those with transparent pixels are left out.
func tiles(img *image.NRGBA, frame int) (all []tile) {
	w, h := img.Rect.Dx(), img.Rect.Dy()
	side := min(tileSide, max(w/8, 1), max(h/8, 1))
	nx, ny := w/side, h/side
	step := max(1, int(math.Sqrt(float64(nx*ny)/tilesSampled)))
	for j := range ny {
		for i := range nx {
			border := i == 0 || j == 0 || i == nx-1 || j == ny-1
			if !border && (i%step != 0 || j%step != 0) {
				continue
			}
			// The last ones reach the picture's edge.
			x, y := i*(w-side)/max(nx-1, 1), j*(h-side)/max(ny-1, 1)
			t := tile{u: (2*float64(x)+float64(side))/float64(w) - 1, v: (2*float64(y)+float64(side))/float64(h) - 1, border: border, frame: frame}
			if t.look(img, x, y, side) {
				all = append(all, t)
			}
		}
	}
	return all
}

// look measures the square at x, y, and reports whether it is opaque.
func (t *tile) look(img *image.NRGBA, x, y, side int) bool {
	for i := range side * side {
		p := img.Pix[(y+i/side)*img.Stride+4*(x+i%side):]
		if p[3] < faint {
			return false
		}
		for k := range t.mean {
			t.mean[k] += float64(p[k]) / float64(side*side)
		}
	}
	for i := range side * side {
		t.rough = max(t.rough, stray([4]uint8(img.Pix[(y+i/side)*img.Stride+4*(x+i%side):]), t.mean))
	}
	return true
}

// off is how far the tile's mean lies from a surface.
func (t *tile) off(s *surface) float64 {
	c := s.at(t.u, t.v)
	return max(math.Abs(t.mean[0]-c[0]), math.Abs(t.mean[1]-c[1]), math.Abs(t.mean[2]-c[2]))
}

// fitSurface finds the surface that most of the border lies on, and then on which
// most of the picture near it does: least squares, weighted anew in each round by
// how far a tile was off (P. Holland, R. Welsch, "Robust regression using
// iteratively reweighted least-squares", Communications in Statistics 6, 1977).
func fitSurface(all []tile) (s surface) {
	for round := range 2 * surfaceRounds {
		var sums moments
		for i := range all {
			t := &all[i]
			weight := 1.0
			if round < surfaceRounds {
				if !t.border {
					continue
				}
				if round > 0 {
					weight = 1 / max(t.off(&s), 2)
				}
			} else if off := t.off(&s); off > tileNear {
				continue
			}
			sums.add(t, weight)
		}
		s = sums.solve()
	}
	return s
}

// moments are the sums of a least-squares fit.
type moments struct {
	a [6][6]float64
	b [3][6]float64
}

func (m *moments) add(t *tile, weight float64) {
	x := terms(t.u, t.v)
	for i := range x {
		for j := range x {
			m.a[i][j] += weight * x[i] * x[j]
		}
		for k := range m.b {
			m.b[k][i] += weight * x[i] * t.mean[k]
		}
	}
}

// solve is Gauss's elimination. A little is added to the diagonal, so that what
// the tiles do not tell stays flat.
func (m *moments) solve() (s surface) {
	for i := range m.a {
		m.a[i][i] += 1e-4*m.a[0][0] + 1e-9
	}
	for i := range m.a {
		for j := i + 1; j < len(m.a); j++ {
			f := m.a[j][i] / m.a[i][i]
			for l := i; l < len(m.a); l++ {
				m.a[j][l] -= f * m.a[i][l]
			}
			for k := range m.b {
				m.b[k][j] -= f * m.b[k][i]
			}
		}
	}
	for k := range s {
		for i := len(m.a) - 1; i >= 0; i-- {
			v := m.b[k][i]
			for j := i + 1; j < len(m.a); j++ {
				v -= m.a[i][j] * s[k][j]
			}
			s[k][i] = v / m.a[i][i]
		}
	}
	return s
}

// slope is a backdrop that is no one colour, or is dithered.
type slope struct {
	surface surface
	size    image.Point // of the picture
	// even is how far means over some pixels stray from the surface: the 95th
	// percentile over the border.
	even float64
}

// findSlope describes the border of all frames by a surface, and puts that into
// b where it is better than b's one colour.
func (s *Survey) findSlope(b *Backdrop) {
	if min(s.size.X, s.size.Y) < surfaceLeast || len(s.tiles) == 0 {
		return
	}
	fit, one := fitSurface(s.tiles), surface{{b.Colour[0]}, {b.Colour[1]}, {b.Colour[2]}}
	var rough, even []float64
	near, count := make([]float64, len(s.frames)), make([]float64, len(s.frames))
	gain, total := 0.0, 0.0 // in what of the border is explained
	for i := range s.tiles {
		t := &s.tiles[i]
		if !t.border {
			continue
		}
		total++
		count[t.frame]++
		gain += (min(t.off(&one), tileNear) - min(t.off(&fit), tileNear)) / tileNear
		if off := t.off(&fit); off <= tileNear {
			near[t.frame]++
			even, rough = append(even, off), append(rough, off+t.rough)
		}
	}
	if len(rough) == 0 {
		return
	}
	slices.Sort(rough)
	slices.Sort(even)
	at := (len(rough) - 1) * 95 / 100
	gain /= total
	dithered, sloped := rough[at] > surfaceRough, gain >= surfaceGain && fit.span() > surfaceSpan
	if gain < -surfaceGain || rough[at] > tooRough || !dithered && !sloped {
		return
	}
	b.slope = &slope{surface: fit, size: s.size, even: even[at]}
	b.Colour, b.Noise, b.Ringing = fit.at(0, 0), min(rough[at], roughest), 0
	b.Flat, b.Steady = float64(len(rough))/total, 1
	for f := range near {
		if count[f] > 0 {
			b.Steady = min(b.Steady, near[f]/count[f])
		}
	}
}
