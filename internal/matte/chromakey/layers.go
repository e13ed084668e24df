package chromakey

import (
	"image"
	"slices"

	"github.com/bgremove/bgremove/internal/buffer"
	"github.com/bgremove/bgremove/internal/pullpush"
)

const (
	// minBrightness and maxBrightness bound the screen's brightness at a place, relative to its
	// usual light. shadowTolerance is how far brightness and strength may differ in a shadow.
	minBrightness, maxBrightness, shadowTolerance = 0.3, 1.7, 0.13
	// evenShare is how much the strength may change between neighbours on the screen,
	// as a share of the strength, in addition to noise.
	evenShare = 0.08
	// A place shows only the subject if its coverage is above certainCoverage and no place within
	// nearRim is below one half, or if it is above likelyCoverage and no place within farRim is.
	certainCoverage, likelyCoverage = 0.85, 0.55
	nearRim, farRim                 = 1, 6
	// impurity is how much stronger the screen's hue may be there than at the purest place
	// nearby, as a share of the screen's strength. Otherwise the screen shows through.
	impurity = 0.1
	// mixTolerance is how far a channel may lie off a mix of two colours.
	mixTolerance = 24
	// maxShade bounds how dark a shadow is, so that a subject in it can be told from it.
	maxShade = 0.95
	// maxTint is the largest share of the screen's strength that spill may give the
	// subject.
	maxTint = 0.6
)

// layers hold the two layers of a frame, screen and subject, at the resolution
// of its colour. They are scratch memory for one frame.
type layers struct {
	w, h, block int
	px          [][3]float32 // the frame's colours
	strength    []float32
	kind        []uint8
	rim         []uint8 // distance to pixels less than half covered, at most farRim+1
	back, front pullpush.Grid
	light       []float32 // the frame's lightness
	matte       []float32 // coverage by the subject, 0 to 1
	shade       []float32 // how dark shadows make the screen, 0 to 1; empty where they are not kept
}

const unsure, back, front = 0, 1, 2

// shrink takes the frame's colours, a mean for each of block × block.
func (l *layers) shrink(img *image.NRGBA, block int) {
	w, h := img.Rect.Dx(), img.Rect.Dy()
	l.block, l.w, l.h = block, (w+block-1)/block, (h+block-1)/block
	n := l.w * l.h
	l.px, l.strength, l.light, l.matte = buffer.Sized(l.px, n), buffer.Sized(l.strength, n), buffer.Sized(l.light, n), buffer.Sized(l.matte, n)
	l.kind, l.rim = buffer.Sized(l.kind, n), buffer.Sized(l.rim, n)
	for y := range l.h {
		for x := range l.w {
			var sum [3]int32
			for v := block * y; v < block*y+block; v++ {
				row := img.Pix[min(v, h-1)*img.Stride:]
				for u := block * x; u < block*x+block; u++ {
					p := row[4*min(u, w-1):]
					sum[0], sum[1], sum[2] = sum[0]+int32(p[0]), sum[1]+int32(p[1]), sum[2]+int32(p[2])
				}
			}
			i := y*l.w + x
			area := int32(block * block)
			for k, v := range sum {
				l.px[i][k] = float32(v) / float32(area)
			}
		}
	}
}

// split finds both layers and the coverage of each place.
func (l *layers) split(s *Screen, keepShadow bool) {
	for i, p := range l.px {
		l.strength[i], l.light[i] = s.hue.strength(p[0], p[1], p[2]), s.lightness(&p)
	}
	l.findScreen(s, keepShadow)
	l.findSubject(s)
	screen, subject := l.back.Samples(), l.front.Samples()
	lowest := max(0.03, 3*float32(s.Rough)/max(s.strength(), 1))
	for i := range l.px {
		a := float32(0)
		switch l.kind[i] {
		case front:
			a = 1
		case unsure:
			b, f := &screen[i], &subject[i]
			whole := s.hue.strength(b[0], b[1], b[2])
			own := min(s.hue.strength(f[0], f[1], f[2]), maxTint*whole)
			a = ((whole-l.strength[i])/max(whole-own, 1) - lowest) / (1 - 1.5*lowest)
		}
		l.matte[i] = min(max(a, 0), 1)
	}
}

// findScreen finds pixels that show only the screen, and estimates its colour and its shadows
// elsewhere.
func (l *layers) findScreen(s *Screen, keepShadow bool) {
	known := l.back.Begin(l.w, l.h)
	tolerance := 4 * float32(s.Rough)
	leastShadow := 0.04 + tolerance/max(s.strength(), 1)
	gain := float32(1)
	l.shade = l.shade[:0]
	if keepShadow {
		gain, l.shade = l.gain(s), buffer.Sized(l.shade, l.w*l.h)
	}
	var lit litRow
	for y := range l.h {
		lit.set(s, y, l.w, l.h)
		for x := range l.w {
			i := y*l.w + x
			l.kind[i] = unsure
			p, usual := &l.px[i], lit.at(x)
			whole := s.hue.strength(usual[0], usual[1], usual[2])
			ratio := l.strength[i] / max(whole, 1)
			if ratio < minBrightness || ratio > maxBrightness || !l.isEven(x, y, s.evenTolerance(whole)) {
				continue
			}
			light := l.light[i] / max(s.lightness(&usual), 1)
			along, across := s.hue.parts(p[0], p[1], p[2])
			if d := light - ratio; max(d, -d) > shadowTolerance+tolerance/max(whole, 1) || across > hueTolerance*along+tolerance {
				continue
			}
			l.kind[i] = back
			known[i] = pullpush.Sample{p[0], p[1], p[2], 1}
			if keepShadow {
				l.shade[i] = min(max(0, (1-ratio/gain-leastShadow)/(1-leastShadow)), maxShade)
			}
		}
	}
	l.back.Fill()
	if keepShadow {
		l.spreadShade()
	}
}

// spreadShade gives places that do not show only the screen the shadow of the nearest that do.
func (l *layers) spreadShade() {
	for i, kind := range l.kind {
		if kind == back {
			l.rim[i] = 0
		} else {
			l.rim[i], l.shade[i] = 255, 0
		}
	}
	passOver(l.w, l.h, func(i, j int) {
		if l.rim[j] < 254 && l.rim[j]+1 < l.rim[i] {
			l.rim[i], l.shade[i] = l.rim[j]+1, l.shade[j]
		}
	})
}

// gain is how strong the frame's light is against the screen's usual light: the median
// of the brighter half of the places that show the screen.
func (l *layers) gain(s *Screen) float32 {
	var ratios []float32
	var lit litRow
	for y := 0; y < l.h; y += 4 {
		lit.set(s, y, l.w, l.h)
		for x := 0; x < l.w; x += 4 {
			p, usual := &l.px[y*l.w+x], lit.at(x)
			if s.shows(p[0], p[1], p[2]) {
				ratios = append(ratios, l.strength[y*l.w+x]/max(s.hue.strength(usual[0], usual[1], usual[2]), 1))
			}
		}
	}
	if len(ratios) == 0 {
		return 1
	}
	slices.Sort(ratios)
	return max(ratios[len(ratios)*3/4], minBrightness)
}

// isEven reports whether the strength changes by no more than most around a place.
func (l *layers) isEven(x, y int, most float32) bool {
	lo, hi := l.strength[y*l.w+x], l.strength[y*l.w+x]
	for v := max(y-1, 0); v <= min(y+1, l.h-1); v++ {
		for u := max(x-1, 0); u <= min(x+1, l.w-1); u++ {
			lo, hi = min(lo, l.strength[v*l.w+u]), max(hi, l.strength[v*l.w+u])
		}
	}
	return hi-lo <= most
}

// findSubject finds pixels that show only the subject, and estimates its colour
// elsewhere.
func (l *layers) findSubject(s *Screen) {
	screen := l.back.Samples()
	covered := func(i int) float32 {
		b := &screen[i]
		return 1 - l.strength[i]/max(s.hue.strength(b[0], b[1], b[2]), 1)
	}
	for i := range l.rim {
		l.rim[i] = farRim + 1
		if covered(i) < 0.5 {
			l.rim[i] = 0
		}
	}
	spreadRim(l.rim, l.w, l.h)
	known := l.front.Begin(l.w, l.h)
	for i, p := range l.px {
		if l.kind[i] == back || l.rim[i] <= nearRim {
			continue
		}
		a := covered(i)
		if a > likelyCoverage && (l.rim[i] > farRim || l.isEven(i%l.w, i/l.w, s.evenTolerance(s.strength()))) || a > certainCoverage && l.pure(s, i) {
			l.kind[i] = front
			known[i] = pullpush.Sample{p[0], p[1], p[2], 1}
		}
	}
	l.front.Fill()
}

// pure reports whether a mostly covered pixel is not a mix of the screen and
// the pixel within farRim that has least of its hue.
func (l *layers) pure(s *Screen, i int) bool {
	best := i
	for y := max(i/l.w-farRim, 0); y <= min(i/l.w+farRim, l.h-1); y++ {
		for j := y*l.w + max(i%l.w-farRim, 0); j <= y*l.w+min(i%l.w+farRim, l.w-1); j++ {
			if l.strength[j] < l.strength[best] {
				best = j
			}
		}
	}
	c, f, b := &l.px[i], &l.px[best], &l.back.Samples()[i]
	whole, least := s.hue.strength(b[0], b[1], b[2]), l.strength[best]
	if l.strength[i]-least < impurity*whole {
		return true
	}
	a := (whole - l.strength[i]) / (whole - least)
	for k := range c {
		if d := c[k] - a*f[k] - (1-a)*b[k]; max(d, -d) > mixTolerance {
			return true
		}
	}
	return false
}

// spreadRim sets each of w × h values to the chessboard distance to the nearest 0, or
// leaves it where that is smaller.
func spreadRim(rim []uint8, w, h int) {
	passOver(w, h, func(i, j int) { rim[i] = min(rim[i], rim[j]+1) })
}

// passOver calls step for each of w × h places i and its neighbours j, forwards with those
// before it and backwards with those behind it. Distances spread thus (A. Rosenfeld and
// J. Pfaltz, "Sequential operations in digital picture processing", Journal of the ACM 13, 1966).
func passOver(w, h int, step func(i, j int)) {
	for y := range h {
		for x := range w {
			i := y*w + x
			if x > 0 {
				step(i, i-1)
			}
			if y > 0 {
				for u := max(x-1, 0); u <= min(x+1, w-1); u++ {
					step(i, (y-1)*w+u)
				}
			}
		}
	}
	for y := h - 1; y >= 0; y-- {
		for x := w - 1; x >= 0; x-- {
			i := y*w + x
			if x < w-1 {
				step(i, i+1)
			}
			if y < h-1 {
				for u := max(x-1, 0); u <= min(x+1, w-1); u++ {
					step(i, (y+1)*w+u)
				}
			}
		}
	}
}

// litRow is a row of a picture, in the screen's usual light.
type litRow struct {
	s      *Screen
	w      int
	a, b   []pullpush.Sample
	across float32
}

// set goes to row y of a picture of w × h.
func (r *litRow) set(s *Screen, y, w, h int) {
	r.s, r.w = s, w
	j, k, part := between(y, h, s.h)
	r.a, r.b, r.across = s.lit[j*s.w:(j+1)*s.w], s.lit[k*s.w:(k+1)*s.w], part
}

func (r *litRow) at(x int) (c [3]float32) {
	i, j, part := between(x, r.w, r.s.w)
	for k := range c {
		up, down := r.a[i][k]+part*(r.a[j][k]-r.a[i][k]), r.b[i][k]+part*(r.b[j][k]-r.b[i][k])
		c[k] = up + r.across*(down-up)
	}
	return c
}

// between are the two of m samples that place x of n lies between, and how far it
// is on the way.
func between(x, n, m int) (i, j int, part float32) {
	at := (float32(x)+0.5)*float32(m)/float32(n) - 0.5
	at = min(max(at, 0), float32(m-1))
	i = int(at)
	return i, min(i+1, m-1), at - float32(i)
}

// lightness is that of a colour.
func (s *Screen) lightness(c *[3]float32) float32 {
	return float32(s.luma[0])*c[0] + float32(s.luma[1])*c[1] + float32(s.luma[2])*c[2]
}

// minContrast is the difference in lightness of subject and screen, in 1/255, from
// which on lightness shows where an edge is.
const minContrast = 28

// writeMatte writes the matte at the frame's own resolution: between places it changes as
// lightness does there, which has the whole resolution.
func (l *layers) writeMatte(s *Screen, img *image.NRGBA, dst *image.Alpha) {
	w, h := img.Rect.Dx(), img.Rect.Dy()
	noise := minContrast + 4*float32(s.Rough)
	screen, subject := l.back.Samples(), l.front.Samples()
	for y := range h {
		row, pix := dst.Pix[y*dst.Stride:][:w], img.Pix[y*img.Stride:][:4*w]
		j, k, down := between(y, h, l.h)
		upper, lower := l.matte[j*l.w:(j+1)*l.w], l.matte[k*l.w:(k+1)*l.w]
		for x := range row {
			u, v, across := between(x, w, l.w)
			a := upper[u]
			if a > 0 && a < 1 || a != upper[v] || a != lower[u] || a != lower[v] {
				a = mix(upper, lower, u, v, across, down)
				i, p := y/l.block*l.w+x/l.block, pix[4*x:4*x+3:4*x+3]
				light := mix(l.light[j*l.w:], l.light[k*l.w:], u, v, across, down)
				a += s.byLightness(p, light, &screen[i], &subject[i], noise)
				a = min(max(a, 0), 1)
			}
			if len(l.shade) > 0 {
				a += (1 - a) * mix(l.shade[j*l.w:], l.shade[k*l.w:], u, v, across, down)
			}
			row[x] = uint8(a*255 + 0.5)
		}
	}
}

// byLightness is how much more of a pixel p the subject covers than of its surroundings, which
// are so light: less where p is nearer the screen.
func (s *Screen) byLightness(p []uint8, light float32, screen, subject *pullpush.Sample, noise float32) float32 {
	if subject[3] == 0 {
		return 0
	}
	contrast := s.lightness((*[3]float32)(subject[:3])) - s.lightness((*[3]float32)(screen[:3]))
	diff := s.lightness(&[3]float32{float32(p[0]), float32(p[1]), float32(p[2])}) - light
	return diff * contrast / (contrast*contrast + noise*noise)
}

// shadow is how dark a shadow makes the screen at a pixel of a picture of w × h.
func (l *layers) shadow(x, y, w, h int) float32 {
	j, k, down := between(y, h, l.h)
	u, v, across := between(x, w, l.w)
	return mix(l.shade[j*l.w:], l.shade[k*l.w:], u, v, across, down)
}

// mix is the value between four samples: u and v of two rows.
func mix(upper, lower []float32, u, v int, across, down float32) float32 {
	a := upper[u] + across*(upper[v]-upper[u])
	b := lower[u] + across*(lower[v]-lower[u])
	return a + down*(b-a)
}

// evenTolerance is how much the strength may change between places next to each other where
// only the screen is seen, of a strength.
func (s *Screen) evenTolerance(whole float32) float32 { return evenShare*whole + 5*float32(s.Rough) }
