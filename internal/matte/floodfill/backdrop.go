package floodfill

import (
	"fmt"
	"image"
	"image/color"
	"math"
	"slices"

	"github.com/bgremove/bgremove/pkg/option"
)

const (
	// flatTolerance is the largest channel difference that still counts as backdrop
	// in Backdrop.Flat and Backdrop.Steady.
	flatTolerance = 16
	// flatShare is the least share of flat border for Flatness.
	flatShare = 0.6
	// slopeShare is that where the backdrop is a slope of colours, filmedShare that of
	// video: a floor before a wall is no slope.
	slopeShare, filmedShare = 0.9, 0.97
	// transparentShare is the least share of transparent border from which on
	// transparency is the backdrop.
	transparentShare = 0.25
	// borderWidth is the width in pixels of the frame of border pixels surveyed.
	borderWidth = 2
	// maxBorderPixels bounds the border pixels kept of one frame.
	maxBorderPixels = 8192
)

// Backdrop is a Survey's description of a clip's border.
type Backdrop struct {
	// Colour is the backdrop's red, green and blue, 0–255, finer than whole
	// steps.
	Colour [3]float64
	// Noise is how far border pixels of the backdrop stray from Colour: the
	// 99th percentile of the largest channel difference, 0–16; more where the
	// backdrop is dithered.
	Noise float64
	// Flat is the share, 0–1, of border pixels over all surveyed frames that
	// are transparent or have all channels within 16 of Colour.
	Flat float64
	// Steady is that share in the worst frame.
	Steady float64
	// Ringing is how far compression throws pixels of the backdrop that lie
	// near the subject off Colour, beyond Noise, estimated as the median over
	// the surveyed frames; 0 for sources without such compression.
	Ringing float64
	// slope is the backdrop's colour over the picture where that is not Colour,
	// which is then that of the middle; nil else.
	slope *slope
	// dither are colours far off Colour that a palette's dither scatters over the backdrop.
	dither map[[3]uint8]bool
	// Luma is that of the Survey.
	Luma [3]float64
	// Hard says that no pixel at the subject's edges is a mix of colours, as in pixel
	// art: each is either subject or backdrop.
	Hard bool
	// Transparent says that much of the border is transparent: the clip was cut
	// out before, and what else is at the border is its subject. Colour then
	// means nothing, and an Estimator takes transparency alone for backdrop.
	Transparent bool
}

// Flatness decides whether the flood fill suits the clip, and says why in
// words for a person.
func (b Backdrop) Flatness() (ok bool, reason string) {
	name := fmt.Sprintf("#%02x%02x%02x", round(b.Colour[0]), round(b.Colour[1]), round(b.Colour[2]))
	flat := int(math.Floor(100 * b.Flat))
	minFlat := slopeShare
	if b.Luma != [3]float64{} {
		minFlat = filmedShare
	}
	switch {
	case b.Transparent:
		return true, "the border is transparent"
	case b.slope != nil && (b.Flat < minFlat || b.Steady < minFlat-0.1):
		return false, fmt.Sprintf("the border is not flat: %d %% of its pixels are on one smooth slope of colours, %d %% in the worst frame",
			flat, int(math.Floor(100*b.Steady)))
	case b.slope != nil:
		return true, fmt.Sprintf("the border is a smooth slope of colours around %s in %d %% of its pixels", name, flat)
	case b.Flat < flatShare:
		return false, fmt.Sprintf("the border is not flat: only %d %% of its pixels are near %s", flat, name)
	case b.Steady < 0.35:
		return false, fmt.Sprintf("the border is not steady: in one frame only %d %% of its pixels are near %s",
			int(math.Floor(100*b.Steady)), name)
	case b.Noise > 10 && b.Flat < 0.85:
		return false, fmt.Sprintf("the border is near %s but differs by %.0f", name, b.Noise)
	}
	return true, fmt.Sprintf("the border is flat %s in %d %% of its pixels", name, flat)
}

func round(v float64) uint8 { return uint8(min(max(math.Round(v), 0), 255)) }

// Survey collects the border pixels of frames spread over a clip. The zero
// value is ready to use. It is used by one goroutine. It keeps at most 128
// KiB a frame.
type Survey struct {
	// Key is a backdrop known beforehand; nil means that it is to be found.
	Key *color.NRGBA
	// Luma is the weights of red, green and blue in the lightness of clips that
	// keep colour at half the resolution (4:2:0); zero where that is not known.
	Luma [3]float64

	frames [][][4]uint8
	tiles  []tile
	size   image.Point
	rings  []float64
	runs   labels
	rims   rims

	scatter scatter
}

// Add looks at the border of img and keeps no reference to it.
func (s *Survey) Add(img *image.NRGBA) {
	w, h := img.Rect.Dx(), img.Rect.Dy()
	if w == 0 || h == 0 {
		return
	}
	step := 1 + 2*borderWidth*(w+h)/maxBorderPixels
	px := make([][4]uint8, 0, 2*borderWidth*(w+h)/step+4)
	n := 0
	eachAtBorder(w, h, func(x, y int) {
		if n++; n%step == 0 {
			px = append(px, pixel(img, x, y))
		}
	})
	s.tiles = append(s.tiles, tiles(img, len(s.frames))...)
	s.frames = append(s.frames, px)
	s.size = image.Pt(w, h)
	if ring, ok := s.ringing(img, px); ok {
		s.rings = append(s.rings, ring)
	}
}

// eachAtBorder calls do with the border pixels of a picture of w × h, row by row.
func eachAtBorder(w, h int, do func(x, y int)) {
	for y := range h {
		inner := y >= borderWidth && y < h-borderWidth
		for x := 0; x < w; x++ {
			if inner && x == borderWidth && w > 2*borderWidth {
				x = w - borderWidth
			}
			do(x, y)
		}
	}
}

func pixel(img *image.NRGBA, x, y int) [4]uint8 { return [4]uint8(img.Pix[y*img.Stride+4*x:]) }

// ringing measures one frame against the backdrop of its own border.
func (s *Survey) ringing(img *image.NRGBA, border [][4]uint8) (ring float64, ok bool) {
	single := Survey{Key: s.Key, Luma: s.Luma, frames: [][][4]uint8{border}}
	b := single.Backdrop()
	if b.Transparent || b.Flat < flatShare {
		return 0, false
	}
	s.scatter.add(img, b.Colour)
	n := newMetric(b)
	s.runs.reset(img.Rect.Dx(), img.Rect.Dy())
	n.scan(img, option.Tolerance.Default, &s.runs)
	s.runs.link(0)
	for i := range s.runs.parts {
		s.runs.parts[i].selected = s.runs.parts[i].border
	}
	s.rims.add(img, &n, &s.runs)
	return float64(n.ringing(img, &s.runs)), true
}

// Backdrop sums up the frames added so far. Without any it is zero. The colour
// is the mode of the border, refined by the median of what lies near it, so a
// subject that touches the border does not pull it.
func (s *Survey) Backdrop() Backdrop {
	b := Backdrop{Luma: s.Luma}
	var opaque, all int
	counts := make([]int32, 1<<15)
	for _, px := range s.frames {
		for _, p := range px {
			if p[3] >= transparentBelow {
				opaque++
				counts[int(p[0]>>3)<<10|int(p[1]>>3)<<5|int(p[2]>>3)]++
			}
		}
		all += len(px)
	}
	if all == 0 {
		return b
	}
	b.Transparent = s.Key == nil && float64(all-opaque) >= transparentShare*float64(all)
	switch {
	case s.Key != nil:
		b.Colour = [3]float64{float64(s.Key.R), float64(s.Key.G), float64(s.Key.B)}
	case !b.Transparent:
		b.Colour = s.refine(mode(counts))
	}
	s.measure(&b, all)
	if len(s.rings) > 0 {
		rings := slices.Sorted(slices.Values(s.rings))
		b.Ringing = rings[len(rings)/2]
	}
	if s.Key == nil && !b.Transparent {
		s.findSlope(&b)
	}
	b.dither = s.scatter.dither()
	b.Hard = b.Noise <= hardNoise && b.Ringing <= compressedRing && s.Luma == [3]float64{} && s.rims.hard()
	return b
}

// mode returns the centre of the 16-wide cube, on a grid of 8, that holds most
// pixels; counts has one entry for each cube 8 wide.
func mode(counts []int32) [3]float64 {
	var best int32 = -1
	var at [3]float64
	for r := range 31 {
		for g := range 31 {
			for b := range 31 {
				i := r<<10 | g<<5 | b
				n := counts[i] + counts[i+1] + counts[i+32] + counts[i+33] +
					counts[i+1024] + counts[i+1025] + counts[i+1056] + counts[i+1057]
				if n > best {
					best, at = n, [3]float64{float64(r*8 + 8), float64(g*8 + 8), float64(b*8 + 8)}
				}
			}
		}
	}
	return at
}

// refine moves c to the centre of the pixels near it: first the median of each
// channel, then the mean of what lies within 4 of that median.
func (s *Survey) refine(c [3]float64) [3]float64 {
	for range 2 {
		var hist [3][256]int
		for _, px := range s.frames {
			for _, p := range px {
				if p[3] >= transparentBelow && difference(p, c) <= flatTolerance {
					for k := range hist {
						hist[k][p[k]]++
					}
				}
			}
		}
		for k := range c {
			c[k] = median(&hist[k])
		}
	}
	var sum [3]float64
	n := 0.0
	for _, px := range s.frames {
		for _, p := range px {
			if p[3] >= transparentBelow && difference(p, c) <= 4 {
				n++
				for k := range sum {
					sum[k] += float64(p[k])
				}
			}
		}
	}
	if n > 0 {
		for k := range c {
			c[k] = sum[k] / n
		}
	}
	return c
}

func median(hist *[256]int) float64 {
	total := 0
	for _, n := range hist {
		total += n
	}
	seen := 0
	for v, n := range hist {
		if seen += n; 2*seen >= total {
			return float64(v)
		}
	}
	return 0
}

// measure fills Flat, Steady and Noise for b's colour.
func (s *Survey) measure(b *Backdrop, all int) {
	var differences []float64
	flat := 0
	b.Steady = 1
	for _, px := range s.frames {
		n := 0
		for _, p := range px {
			if p[3] < transparentBelow {
				n++
				continue
			}
			if d := difference(p, b.Colour); d <= flatTolerance {
				n++
				differences = append(differences, d)
			}
		}
		flat += n
		b.Steady = min(b.Steady, float64(n)/float64(len(px)))
	}
	b.Flat = float64(flat) / float64(all)
	if len(differences) > 0 {
		slices.Sort(differences)
		b.Noise = differences[(len(differences)-1)*99/100]
	}
}

// difference is the largest channel difference of p to c.
func difference(p [4]uint8, c [3]float64) float64 {
	return max(math.Abs(float64(p[0])-c[0]), math.Abs(float64(p[1])-c[1]), math.Abs(float64(p[2])-c[2]))
}
