package gif

import (
	"encoding/binary"
	"image"
	"image/color"
)

// screen is the picture that a viewer sees between two frames, and its origin.
// Planes are width × height, row by row.
type screen struct {
	width, height int
	settings
	edge *color.NRGBA

	shown   []uint32 // opaque palette colours; 0 = transparent
	truth   []uint32 // true colours when the shown ones were drawn
	index   []uint8  // indexes of the shown ones in the palette in use; transparent = unknown
	palette *palette
	drift   []drift // of blocks, row by row
	// cleared is the rectangle that is erased before the next frame is drawn.
	cleared image.Rectangle
}

func newScreen(width, height int, s settings, edge *color.NRGBA) *screen {
	n := width * height
	return &screen{
		width: width, height: height, settings: s, edge: edge,
		shown: make([]uint32, n), truth: make([]uint32, n), index: make([]uint8, n),
		drift: make([]drift, (width+driftSide-1)/driftSide),
	}
}

// solid returns the opaque colour to show for the straight one p, or 0 for
// transparent.
func (s *screen) solid(p uint32) uint32 {
	switch {
	case p >= opaque:
		return p
	case s.edge == nil:
		if p>>24 >= alphaThreshold {
			return p | opaque
		}
	case p>>24 >= edgeThreshold:
		return blend(p, *s.edge)
	}
	return 0
}

// vanishing bounds the pixels that are shown now and transparent in next: only
// the disposal of the frame now shown can erase them.
func (s *screen) vanishing(next *image.NRGBA) image.Rectangle {
	minAlpha := uint8(alphaThreshold)
	if s.edge != nil {
		minAlpha = edgeThreshold
	}
	var out image.Rectangle
	for y := range s.height {
		shown := s.shown[y*s.width:][:s.width]
		pix := next.Pix[y*next.Stride:][:4*s.width]
		vanishes := func(x int) bool { return shown[x] != 0 && pix[4*x+3] < minAlpha }
		left, right := 0, s.width-1
		for left <= right && !vanishes(left) {
			left++
		}
		for right > left && !vanishes(right) {
			right--
		}
		if left <= right {
			out = out.Union(image.Rect(left, y, right+1, y+1))
		}
	}
	return out
}

// setPalette makes p the palette of the next frame.
func (s *screen) setPalette(p *palette) {
	if s.palette == p {
		return
	}
	s.palette = p
	for i := range s.index {
		s.index[i] = p.transparent
	}
}

// draw fills pic with the pixels to be written so that a viewer then sees img,
// and updates the screen to match.
func (s *screen) draw(img *image.NRGBA, pic *picture) {
	none := s.palette.transparent
	pic.changed = image.Rectangle{}
	for y := range s.height {
		if y%driftSide == 0 {
			s.measure(img, y)
		}
		s.drawRow(img, pic, y)
		row, alt := pic.index[y*s.width:][:s.width], pic.alt[y*s.width:][:s.width]
		left, right := 0, s.width-1
		for left <= right && (row[left] == none || alt[left] == none) {
			left++
		}
		for right > left && (row[right] == none || alt[right] == none) {
			right--
		}
		if left <= right {
			pic.changed = pic.changed.Union(image.Rect(left, y, right+1, y+1))
		}
	}
	s.cleared = image.Rectangle{}
}

func (s *screen) drawRow(img *image.NRGBA, pic *picture, y int) {
	pix := img.Pix[y*img.Stride:][:4*s.width]
	above := img.Pix[max(y-1, 0)*img.Stride:][:4*s.width]
	from := y * s.width
	shown, truth, known := s.shown[from:][:s.width], s.truth[from:][:s.width], s.index[from:][:s.width]
	index, alt := pic.index[from:][:s.width], pic.alt[from:][:s.width]
	none := s.palette.transparent
	erased := image.Rectangle{}
	if y >= s.cleared.Min.Y && y < s.cleared.Max.Y {
		erased = s.cleared
	}
	before := binary.LittleEndian.Uint32(pix)
	for x := range index {
		p, left := binary.LittleEndian.Uint32(pix[4*x:]), before
		before = p
		c := s.solid(p)
		if c == 0 {
			shown[x], index[x], alt[x] = 0, none, none
			continue
		}
		old := shown[x]
		stillShown := old != 0 && (x < erased.Min.X || x >= erased.Max.X)
		reusable := old != 0 && (stillShown || known[x] != none) // it can be shown as it was
		if reusable && squaredPacked(c, truth[x]) <= s.drift[x/driftSide].still {
			index[x], alt[x] = known[x], known[x]
			if stillShown {
				index[x], alt[x] = s.keepIndex(known[x])
			} else if s.reward > 0 {
				pic.lossy.colour[from+x], pic.lossy.maxError[from+x] = old, 0
				if !s.stillLossless {
					pic.lossy.maxError[from+x] = s.tolerance(contrast(p, left) + contrast(p, binary.LittleEndian.Uint32(above[4*x:])))
				}
			}
			continue
		}
		activity := contrast(p, left) + contrast(p, binary.LittleEndian.Uint32(above[4*x:]))
		i, dithered := s.palette.pick(c, activity < s.smooth, thresholds[y%8*8+x%8])
		now := s.palette.packed[i]
		slack := s.slack
		if !stillShown {
			slack = min(slack, erasedSlack)
		}
		reusable = reusable && (now == old || squaredPacked(c, old) <= squaredPacked(c, now)+slack)
		if reusable && stillShown {
			index[x], alt[x] = s.keepIndex(known[x])
			continue
		}
		if reusable {
			dithered = dithered || now != old
			now, i = old, known[x]
		} else {
			truth[x] = c
		}
		shown[x], known[x] = now, i
		index[x], alt[x] = i, i
		if s.reward > 0 {
			if dithered { // similar compares with the pattern, not with its mean
				c = now
			}
			pic.lossy.colour[from+x], pic.lossy.maxError[from+x] = c, s.tolerance(activity)
		}
	}
}

// erasedSlack bounds the slack of pixels that are erased and redrawn: it calms
// them, but saves little.
const erasedSlack = 6

// driftSide is the side of the blocks whose mean change distinguishes motion
// and fading from noise. Noise of standard deviation 2 makes differences whose
// sum over n pixels deviates by about 2√n; the limit is the square of 3.5 times
// that.
const (
	driftSide  = 8
	driftLimit = 50 // times n
)

// drift sums the change of a block's true colours since they were drawn.
type drift struct {
	r, g, b, n int
	squares    int
	still      int // what change of a pixel to ignore
}

// measure decides which change to ignore for the blocks whose first row is y.
// Every other row is enough.
func (s *screen) measure(img *image.NRGBA, y int) {
	clear(s.drift)
	for end := min(y+driftSide, s.height); y < end; y += 2 {
		pix := img.Pix[y*img.Stride:][:4*s.width]
		shown, truth := s.shown[y*s.width:][:s.width], s.truth[y*s.width:][:s.width]
		for x, t := range truth {
			p := binary.LittleEndian.Uint32(pix[4*x:])
			if shown[x] == 0 || p < opaque {
				continue
			}
			d := &s.drift[x/driftSide]
			d.r += int(p&255) - int(t&255)
			d.g += int(p>>8&255) - int(t>>8&255)
			d.b += int(p>>16&255) - int(t>>16&255)
			d.squares += squaredPacked(p, t)
			d.n++
		}
	}
	for i := range s.drift {
		d := &s.drift[i]
		d.still = s.still
		if 3*d.squares > 2*s.still*d.n || max(d.r*d.r, d.g*d.g, d.b*d.b) > driftLimit*d.n {
			d.still = 0
		}
	}
}

// keepIndex returns the index to write for a pixel that may stay unchanged and was
// drawn as known, and an index that shows the same colour. If much is redrawn,
// a pixel like its neighbours compresses better than an omitted one. The result
// of lossy compression is unknown here.
func (s *screen) keepIndex(known uint8) (index, alt uint8) {
	none := s.palette.transparent
	switch {
	case s.reward > 0:
		return none, none
	case s.cleared.Empty():
		return none, known
	}
	return known, none
}

// tolerance is the squared error that lossy compression may add to a pixel:
// the busier its surroundings, the less it is seen.
func (s *screen) tolerance(activity int) uint16 {
	return uint16(min(s.reward*(4+activity/8), 65535))
}
