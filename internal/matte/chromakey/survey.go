package chromakey

import (
	"cmp"
	"image"
	"image/color"
	"math"
	"slices"

	"github.com/bgremove/bgremove/internal/matte/surface"
	"github.com/bgremove/bgremove/internal/pullpush"
)

const (
	// tilesAcross is how many tiles the longer side of a picture is surveyed in.
	tilesAcross = 48
	// minChroma is the least length of a colour's two differences that has a hue.
	minChroma = 14
	// bins is the number of hue bins. A colour also counts for spread bins on either
	// side of its own. Where a hue is given, givenSpread bins on either side are searched.
	bins, spread, givenSpread = 72, 1, 6
	// A place shows the screen if its strength is at least weak times the mean, and
	// its colour lies at most hueTolerance times as far across the hue as along it.
	weak, hueTolerance = 0.3, 0.35
	// evenTile is the deviation up to which a tile shows one thing alone.
	evenTile = 3
	// shaded is how far a place's strength lies below that of the light around it
	// when it counts half. shadeRounds is the number of rounds of weighting.
	shaded, shadeRounds = 3, 12
)

// Survey looks at frames spread over a clip. The zero value is ready. It is for one
// goroutine, and keeps about 50 kB a frame.
type Survey struct {
	// Key is near the screen's colour; only its hue counts. nil means that the
	// survey finds the screen.
	Key *color.NRGBA
	// Luma is the weights of red, green and blue in the lightness of clips that keep
	// colour at half the resolution; zero for others.
	Luma [3]float64

	frames [][]tile
	w, h   int // of the grids of tiles
}

// tile is a part of a frame.
type tile struct {
	mean   [3]float64
	rough  float64 // standard deviation of a colour difference in it
	border bool
}

// sum is that of its channels.
func (t *tile) sum() float64 { return t.mean[0] + t.mean[1] + t.mean[2] }

// luma601 are the weights of lightness that JPEG and old video have.
var luma601 = [3]float64{0.299, 0.587, 0.114}

func (s *Survey) weights() [3]float64 {
	if s.Luma == [3]float64{} {
		return luma601
	}
	return s.Luma
}

// Add looks at img and keeps no reference to it.
func (s *Survey) Add(img *image.NRGBA) {
	w, h := img.Rect.Dx(), img.Rect.Dy()
	if w < 16 || h < 16 {
		return
	}
	side := max(max(w, h)/tilesAcross, 4) &^ 1
	nx, ny := w/side, h/side
	if s.w, s.h = nx, ny; nx < 3 || ny < 3 {
		return
	}
	tiles := make([]tile, 0, nx*ny)
	for j := range ny {
		for i := range nx {
			t := tile{border: j == 0 || i == 0 || i == nx-1} // subjects stand at the lower edge
			t.measure(img, i*(w-side)/(nx-1)&^1, j*(h-side)/(ny-1)&^1, side, s.weights())
			tiles = append(tiles, t)
		}
	}
	s.frames = append(s.frames, tiles)
}

// measure measures the square at x, y by some of its blocks of 2 × 2 pixels.
func (t *tile) measure(img *image.NRGBA, x, y, side int, luma [3]float64) {
	step := max(2, side/4&^1)
	var n, sum, square float64
	for v := y; v+1 < y+side; v += step {
		for u := x; u+1 < x+side; u += step {
			var c [3]float64
			above, below := img.Pix[v*img.Stride+4*u:][:8:8], img.Pix[(v+1)*img.Stride+4*u:][:8:8]
			for k := range c {
				c[k] = float64(int(above[k])+int(above[k+4])+int(below[k])+int(below[k+4])) / 4
				t.mean[k] += c[k]
			}
			cb, cr := chroma(luma, c)
			n, sum, square = n+1, sum+cb+cr, square+(cb+cr)*(cb+cr)
		}
	}
	for k := range t.mean {
		t.mean[k] /= n
	}
	t.rough = math.Sqrt(max(square/n-sum*sum/n/n, 0) / 2)
}

// Screen summarises the frames added so far. Colour is zero if there is no
// screen.
func (s *Survey) Screen() Screen {
	luma := s.weights()
	bin, ok := s.commonHue(luma)
	if !ok {
		return Screen{}
	}
	var shown []tile
	for _, t := range s.candidates() {
		if b, ok := hueBin(luma, t.mean); ok && distance(b, bin) <= spread+1 {
			shown = append(shown, t)
		}
	}
	screen := Screen{luma: luma, halved: s.Luma != [3]float64{}, w: s.w, h: s.h}
	for k := range screen.Colour {
		screen.Colour[k] = median(shown, func(t *tile) float64 { return t.mean[k] })
	}
	screen.Rough = median(shown, func(t *tile) float64 { return t.rough })
	cb, cr := chroma(luma, screen.Colour)
	screen.hue, screen.angle = newHue(luma, screen.Colour), math.Atan2(cr, cb)*180/math.Pi
	s.measureShare(&screen)
	s.estimateLight(&screen)
	s.measureAlike(&screen)
	return screen
}

// candidates are the tiles of all frames in which the screen is looked for: those at the
// border, or all where its colour is given.
func (s *Survey) candidates() (all []tile) {
	for _, f := range s.frames {
		for _, t := range f {
			if t.border || s.Key != nil {
				all = append(all, t)
			}
		}
	}
	return all
}

// commonHue is the bin of the hue that most of those places have, and whether any does.
func (s *Survey) commonHue(luma [3]float64) (best int, ok bool) {
	var counts [bins]int
	keyBin, hasKey := 0, s.Key != nil
	if hasKey {
		if keyBin, ok = hueBin(luma, [3]float64{float64(s.Key.R), float64(s.Key.G), float64(s.Key.B)}); !ok {
			return 0, false
		}
	}
	for _, t := range s.candidates() {
		if b, ok := hueBin(luma, t.mean); ok && (!hasKey || distance(b, keyBin) <= givenSpread) {
			for d := -spread; d <= spread; d++ {
				counts[(b+d+bins)%bins]++
			}
		}
	}
	most := slices.Max(counts[:])
	return slices.Index(counts[:], most), most > 0
}

// hueBin is the bin of a colour's hue, if it has one.
func hueBin(luma, c [3]float64) (int, bool) {
	cb, cr := chroma(luma, c)
	if math.Hypot(cb, cr) < minChroma {
		return 0, false
	}
	return int((math.Atan2(cr, cb)/(2*math.Pi)+1)*bins) % bins, true
}

// distance is that of two bins on their circle.
func distance(a, b int) int {
	d := (a - b + bins) % bins
	return min(d, bins-d)
}

func median(all []tile, value func(*tile) float64) float64 {
	if len(all) == 0 {
		return 0
	}
	v := make([]float64, len(all))
	for i := range all {
		v[i] = value(&all[i])
	}
	slices.Sort(v)
	return v[len(v)/2]
}

// measureShare fills Share and Steady.
func (s *Survey) measureShare(screen *Screen) {
	all, most := 0, 0
	screen.Steady = 1
	for _, f := range s.frames {
		n, m := 0, 0
		for i := range f {
			if !f[i].border {
				continue
			}
			n++
			if screen.showsTile(&f[i]) {
				m++
			}
		}
		all, most = all+n, most+m
		screen.Steady = min(screen.Steady, float64(m)/float64(n))
	}
	screen.Share = float64(most) / float64(max(all, 1))
}

// measureAlike fills Alike and Dark, by even tiles of the screen's hue.
func (s *Survey) measureAlike(screen *Screen) {
	alike, dark, other := 0, 0, 0
	for _, f := range s.frames {
		for i := range f {
			t, usual := &f[i], &screen.unshaded[i]
			c := [3]float32{float32(t.mean[0]), float32(t.mean[1]), float32(t.mean[2])}
			strength := screen.hue.strength(c[0], c[1], c[2]) / max(screen.hue.strength(usual[0], usual[1], usual[2]), 1)
			light := screen.lightness(&c) / max(screen.lightness((*[3]float32)(usual[:3])), 1)
			switch d := light - strength; {
			case strength < weak:
				other++
			case t.rough > max(evenTile, 2*screen.Rough): // an edge
			case !screen.showsTile(t) || max(d, -d) > 1.5*shadowTolerance || light > 1+shadowTolerance:
				alike++
			case light < 1-shadowTolerance:
				dark++
			}
		}
	}
	all := float64(max(alike+dark+other, 1))
	screen.Alike, screen.Dark = float64(alike)/all, float64(dark)/all
}

// estimateLight estimates the screen's colour over the whole picture: at each known
// place the mean of the brightest third of the frames, and interpolated between
// such places.
func (s *Survey) estimateLight(screen *Screen) {
	var f pullpush.Grid
	px := f.Begin(s.w, s.h)
	var shown []tile
	for i := range px {
		shown = shown[:0]
		for _, frame := range s.frames {
			if i < len(frame) && screen.showsTile(&frame[i]) {
				shown = append(shown, frame[i])
			}
		}
		if len(shown) == 0 {
			continue
		}
		slices.SortFunc(shown, func(a, b tile) int { return cmp.Compare(b.sum(), a.sum()) })
		shown = shown[:(len(shown)+2)/3]
		for _, t := range shown {
			for k := range t.mean {
				px[i][k] += float32(t.mean[k]) / float32(len(shown))
			}
		}
		px[i][3] = 1
	}
	screen.unshaded = screen.removeShadows(px)
	f.Fill()
	screen.lit = slices.Clone(px)
}

// removeShadows is the light of the screen's places without the shadows that are there in
// all frames: a smooth surface which the known places lie on, or show less of the
// screen than.
func (s *Screen) removeShadows(px []pullpush.Sample) []pullpush.Sample {
	at := func(i int) (u, v float64) {
		return (2*float64(i%s.w)+1)/float64(s.w) - 1, (2*float64(i/s.w)+1)/float64(s.h) - 1
	}
	var light surface.Surface
	for round := range shadeRounds {
		var fit surface.Fit
		for i, p := range px {
			if p[3] == 0 {
				continue
			}
			u, v := at(i)
			weight, want := 1.0, light.At(u, v)
			off := s.hue.strength(float32(want[0]), float32(want[1]), float32(want[2])) - s.hue.strength(p[0], p[1], p[2])
			if off /= shaded; round > 0 && off > 0 {
				weight = 1 / float64(1+off*off)
			}
			fit.Add(u, v, [3]float64{float64(p[0]), float64(p[1]), float64(p[2])}, weight)
		}
		light = fit.Solve()
	}
	even := make([]pullpush.Sample, len(px))
	for i := range even {
		c := light.At(at(i))
		even[i] = pullpush.Sample{float32(c[0]), float32(c[1]), float32(c[2]), 1}
	}
	return even
}
