package floodfill

import (
	"image"
	"math"
	"slices"

	"github.com/bgremove/bgremove/internal/matte/surface"
)

const (
	// tileSide is the side in pixels of the squares whose means hide a
	// palette's dither. tilesSampled is how many of them are kept for a frame.
	tileSide, tilesSampled = 8, 1024
	// tileNear is the largest channel difference of a tile's mean to the surface
	// at which it counts as backdrop.
	tileNear = 16
	// surfaceSpan and surfaceRough are the span and the roughness above which a
	// backdrop is not of one colour, surfaceGain is how much nearer
	// the border a surface must be than it, as a share of tileNear.
	surfaceSpan, surfaceRough, surfaceGain = 8, 12, 0.05
	// minSurfaceSide is the least side in pixels of a picture that shows one.
	minSurfaceSide = 32
	// maxRoughness is the largest noise that counts as dither. Above it there is texture.
	maxRoughness = 64
	// surfaceRounds is how often the surface is refitted to the tiles near it.
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
			if t.measure(img, x, y, side) {
				all = append(all, t)
			}
		}
	}
	return all
}

// measure measures the square at x, y, and reports whether it is opaque.
func (t *tile) measure(img *image.NRGBA, x, y, side int) bool {
	var sum [3]int
	least, most := [3]uint8{255, 255, 255}, [3]uint8{}
	for i := range side {
		row := img.Pix[(y+i)*img.Stride+4*x:][:4*side]
		for ; len(row) >= 4; row = row[4:] {
			if row[3] < transparentBelow {
				return false
			}
			for k := range sum {
				sum[k] += int(row[k])
				least[k], most[k] = min(least[k], row[k]), max(most[k], row[k])
			}
		}
	}
	for k := range sum {
		t.mean[k] = float64(sum[k]) / float64(side*side)
		t.rough = max(t.rough, t.mean[k]-float64(least[k]), float64(most[k])-t.mean[k])
	}
	return true
}

// distance is how far the tile's mean lies from a surface.
func (t *tile) distance(s *surface.Surface) float64 {
	c := s.At(t.u, t.v)
	return max(math.Abs(t.mean[0]-c[0]), math.Abs(t.mean[1]-c[1]), math.Abs(t.mean[2]-c[2]))
}

// fitSurface finds the surface that fits most of the border, and then most of
// the picture near it. It uses least squares, reweighted in each round by each
// tile's deviation (P. Holland, R. Welsch, "Robust regression using iteratively
// reweighted least-squares", Communications in Statistics 6, 1977).
func fitSurface(all []tile) (s surface.Surface) {
	var border []tile
	for i := range all {
		if all[i].border {
			border = append(border, all[i])
		}
	}
	for round := range surfaceRounds {
		var sums surface.Fit
		for i := range border {
			t, weight := &border[i], 1.0
			if round > 0 {
				weight = 1 / max(t.distance(&s), 2)
			}
			sums.Add(t.u, t.v, t.mean, weight)
		}
		s = sums.Solve()
	}
	for range surfaceRounds {
		var sums surface.Fit
		for i := range all {
			if t := &all[i]; t.distance(&s) <= tileNear {
				sums.Add(t.u, t.v, t.mean, 1)
			}
		}
		last := s
		if s = sums.Solve(); s == last { // and would be in all further rounds
			break
		}
	}
	return s
}

// slope is a backdrop with changing colour or dither.
type slope struct {
	surface surface.Surface
	size    image.Point // of the picture
	// even is how far means over some pixels stray from the surface: the 95th
	// percentile over the border.
	even float64
}

// findSlope describes the border of all frames by a surface, and puts that into
// b where it is better than b's one colour.
func (s *Survey) findSlope(b *Backdrop) {
	if min(s.size.X, s.size.Y) < minSurfaceSide || len(s.tiles) == 0 {
		return
	}
	fit, one := fitSurface(s.tiles), surface.Surface{{b.Colour[0]}, {b.Colour[1]}, {b.Colour[2]}}
	var rough, even []float64
	near, count := make([]float64, len(s.frames)), make([]float64, len(s.frames))
	gain, total := 0.0, 0.0 // of the explained part of the border
	for i := range s.tiles {
		t := &s.tiles[i]
		if !t.border {
			continue
		}
		total++
		count[t.frame]++
		gain += (min(t.distance(&one), tileNear) - min(t.distance(&fit), tileNear)) / tileNear
		if off := t.distance(&fit); off <= tileNear {
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
	dithered, sloped := rough[at] > surfaceRough, gain >= surfaceGain && fit.Span() > surfaceSpan
	if gain < -surfaceGain || rough[at] > maxRoughness || !dithered && !sloped {
		return
	}
	b.slope = &slope{surface: fit, size: s.size, even: even[at]}
	b.Colour, b.Noise, b.Ringing = fit.At(0, 0), rough[at], 0
	b.Flat, b.Steady = float64(len(rough))/total, 1
	for f := range near {
		if count[f] > 0 {
			b.Steady = min(b.Steady, near[f]/count[f])
		}
	}
}
