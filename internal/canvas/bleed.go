package canvas

import (
	"encoding/binary"
	"image"
)

// Bleed clears the colour of invisible pixels in place; alpha stays. Within
// reach of a visible pixel, along rows and then columns, they take its colour
// instead. A codec that blurs colour across the edge, as 4:2:0 chroma does,
// then blurs the subject's own colour. A reader that ignores alpha finds
// nothing of the old backdrop.
func Bleed(img *image.NRGBA, reach int) {
	w, h := img.Rect.Dx(), img.Rect.Dy()
	row := func(y int) []uint8 { return img.Pix[y*img.Stride:][:4*w] }
	visible, merged := make([][]span, h), make([][]span, h)
	var spans []span // of all rows
	for y := range visible {
		n := len(spans)
		spans = bleedRow(spans, row(y), reach)
		visible[y] = spans[n:]
		merged[y] = merge(nil, visible[y], nil)
	}
	stepsLeft := make([]int, w) // the number of steps that the colour above each pixel still has
	var u union
	for y := 1; y < h; y++ {
		bleedColumns(row(y), row(y-1), stepsLeft, u.of(merged[max(y-reach, 0):y]), visible[y], reach)
	}
	clear(stepsLeft)
	for y := h - 2; y >= 0; y-- {
		bleedColumns(row(y), row(y+1), stepsLeft, u.of(merged[y+1:min(y+1+reach, h)]), visible[y], reach)
	}
}

// span is the pixels of a row from lo up to hi.
type span struct{ lo, hi int }

// union is the memory for the merged spans of several rows.
type union struct{ all, more []span }

// of returns the columns around all visible pixels of the rows, in order. The
// result is valid until the next call.
func (u *union) of(rows [][]span) []span {
	u.all = u.all[:0]
	for _, r := range rows {
		if len(r) > 0 {
			u.all, u.more = merge(u.more[:0], u.all, r), u.all
		}
	}
	return u.all
}

// maxGap is the largest gap, in columns, between two spans that are merged.
const maxGap = 8

// merge appends the union of a and b, both in order, to dst, which is empty.
func merge(dst, a, b []span) []span {
	for len(a)+len(b) > 0 {
		if len(a) == 0 || len(b) > 0 && b[0].lo < a[0].lo {
			a, b = b, a
		}
		if n := len(dst); n > 0 && a[0].lo <= dst[n-1].hi+maxGap {
			dst[n-1].hi = max(dst[n-1].hi, a[0].hi)
		} else {
			dst = append(dst, a[0])
		}
		a = a[1:]
	}
	return dst
}

const (
	alphaMask  = 0xFF000000
	colourMask = 0x00FFFFFF
)

func load(p []uint8, i int) uint32     { return binary.LittleEndian.Uint32(p[i : i+4 : i+4]) }
func store(p []uint8, i int, v uint32) { binary.LittleEndian.PutUint32(p[i:i+4:i+4], v) }

// bleedRow clears the invisible pixels of a row and carries colours into them
// from both sides. It appends the row's visible spans to spans.
func bleedRow(spans []span, row []uint8, reach int) []span {
	for end := 0; end < len(row); {
		gap := end
		start := run(row, gap, false)
		bleedGap(row, gap, start, 4*reach)
		if end = run(row, start, true); end > start {
			spans = append(spans, span{start / 4, end / 4})
		}
	}
	return spans
}

// run returns where the run of visible (or invisible) pixels from i on ends.
// All are byte offsets.
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

// bleedGap fills the invisible bytes of a row from start to end: up to reach
// pixels take the colour before the gap, then up to reach the one after it.
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

// bleedColumns carries colours from the row before into the invisible pixels of
// row's columns. stepsLeft counts, for each column with an invisible pixel before,
// the steps its colour may still take.
func bleedColumns(row, before []uint8, stepsLeft []int, columns, visible []span, reach int) {
	for _, c := range columns {
		for x := c.lo; x < c.hi; x++ {
			for len(visible) > 0 && visible[0].hi <= x {
				visible = visible[1:]
			}
			if len(visible) > 0 && visible[0].lo <= x {
				x = visible[0].hi - 1
				continue
			}
			bleedPixel(row[4*x:4*x+4:4*x+4], load(before, 4*x), &stepsLeft[x], reach)
		}
	}
}

// bleedPixel gives an invisible pixel the colour of the pixel before.
func bleedPixel(p []uint8, before uint32, stepsLeft *int, reach int) {
	switch {
	case before&alphaMask != 0:
		*stepsLeft = reach
	case *stepsLeft == 0:
		return
	}
	if before != 0 && load(p, 0) == 0 {
		store(p, 0, before&colourMask)
	}
	*stepsLeft--
}
