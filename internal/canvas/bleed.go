package canvas

import (
	"encoding/binary"
	"image"
)

// Bleed gives the invisible pixels within reach of a visible one, along rows
// and then columns, that one's colour and clears all others, in place; alpha
// stays. Codecs that blur across the edge, as 4:2:0 chroma does, then blur the
// subject into itself, and nothing of the old backdrop is left to be seen by
// those who read the file without its alpha.
func Bleed(img *image.NRGBA, reach int) {
	w, h := img.Rect.Dx(), img.Rect.Dy()
	row := func(y int) []uint8 { return img.Pix[y*img.Stride:][:4*w] }
	spans := make([]span, h)
	for y := range spans {
		spans[y] = bleedRow(row(y), reach)
	}
	left := make([]int, w) // how far the colour above each pixel still reaches
	for y := 1; y < h; y++ {
		bleedDown(row(y), row(y-1), left, hull(spans[max(y-reach, 0):y]), reach)
	}
	clear(left)
	for y := h - 2; y >= 0; y-- {
		bleedDown(row(y), row(y+1), left, hull(spans[y+1:min(y+1+reach, h)]), reach)
	}
}

// span is the pixels of a row from lo up to hi, beyond which it is empty.
type span struct{ lo, hi int }

// hull is the span around all of those.
func hull(spans []span) (s span) {
	for _, o := range spans {
		switch {
		case o.hi <= o.lo:
		case s.hi <= s.lo:
			s = o
		default:
			s = span{min(s.lo, o.lo), max(s.hi, o.hi)}
		}
	}
	return s
}

const (
	alphaMask  = 0xFF000000
	colourMask = 0x00FFFFFF
)

func load(p []uint8, i int) uint32     { return binary.LittleEndian.Uint32(p[i : i+4 : i+4]) }
func store(p []uint8, i int, v uint32) { binary.LittleEndian.PutUint32(p[i:i+4:i+4], v) }

// bleedRow clears the invisible pixels of a row and carries colours into them
// from both sides. It returns where there is something then.
func bleedRow(row []uint8, reach int) (s span) {
	for end := 0; end < len(row); {
		gap := end
		start := run(row, gap, false)
		bleedGap(row, gap, start, 4*reach)
		end = run(row, start, true)
		if end == start {
			continue
		}
		if s.hi == 0 {
			s.lo = max(start/4-reach, 0)
		}
		s.hi = min(end/4+reach, len(row)/4)
	}
	return s
}

// run returns where, from pixel at i on, those end that are visible, or are
// not. All are byte offsets.
func run(row []uint8, i int, visible bool) int {
	const high, low = alphaMask << 32, alphaMask
	for i+8 <= len(row) {
		v := binary.LittleEndian.Uint64(row[i : i+8 : i+8])
		if (v&high != 0) != visible || (v&low != 0) != visible {
			break
		}
		i += 8
	}
	for i < len(row) && (row[i+3] != 0) == visible {
		i += 4
	}
	return i
}

// bleedGap fills the invisible bytes of a row from start to end: up to reach of
// them from the pixel before, then as many from the one behind.
func bleedGap(row []uint8, start, end, reach int) {
	left, right := start, end
	if start > 0 {
		left = min(start+reach, end)
		paint(row[start:left], load(row, start-4))
	}
	if end < len(row) {
		right = max(end-reach, left)
		paint(row[right:end], load(row, end))
	}
	clear(row[left:right])
}

// paint fills pixels with a colour, invisibly.
func paint(pix []uint8, colour uint32) {
	for i := 0; i < len(pix); i += 4 {
		store(pix, i, colour&colourMask)
	}
}

// bleedDown carries colours from the row before into the empty pixels of row,
// within s. left counts, for each column whose pixel before is invisible, the
// steps its colour may still take.
func bleedDown(row, before []uint8, left []int, s span, reach int) {
	row, before, left = row[4*s.lo:4*s.hi], before[4*s.lo:4*s.hi], left[s.lo:s.hi]
	for x := 0; x < len(left); {
		if n := idle(row[4*x:], before[4*x:], left[x:]); n > 0 {
			x += n
			continue
		}
		bleedPixel(row[4*x:4*x+4:4*x+4], load(before, 4*x), &left[x], reach)
		x++
	}
}

// idle is how many pixels at the start need nothing from the row before: they
// are visible, or there is nothing in either row and nothing under way. It may
// stop short.
func idle(row, before []uint8, left []int) (n int) {
	if n = run(row, 0, true) / 4; n > 0 {
		return n
	}
	for i := 0; i+8 <= len(row) && left[n]|left[n+1] == 0; i += 8 {
		if binary.LittleEndian.Uint64(row[i:])|binary.LittleEndian.Uint64(before[i:]) != 0 {
			break
		}
		n += 2
	}
	return n
}

// bleedPixel gives an invisible pixel the colour of the one before.
func bleedPixel(p []uint8, before uint32, left *int, reach int) {
	switch {
	case before&alphaMask != 0:
		*left = reach
	case *left == 0:
		return
	}
	if before != 0 && load(p, 0) == 0 {
		store(p, 0, before&colourMask)
	}
	*left--
}
