package floodfill

import (
	"encoding/binary"
	"image"
)

const (
	// compressedRing is the ringing above which a source counts as one that was
	// compressed with halved colour, whatever it is kept in now.
	compressedRing = 2
	// minRing is what ringing counts as there, also where it hides below the
	// noise.
	minRing = 12
)

// metric knows the backdrop's colour and measures pixels against it.
type metric struct {
	// from[k][v] is how far the value v of channel k lies from the backdrop.
	from [3][256]float32
	// noise is how far backdrop pixels stray.
	noise float32
	// ring is how far ringing of compression throws them near the subject.
	ring float32
	// weights are those of lightness, and halved says that colour has half of the
	// resolution of lightness.
	weights vector
	halved  bool
	// slope is nil where the backdrop is one colour.
	slope *slopeMap
	// alphaOnly says that no colour is backdrop, only transparency.
	alphaOnly bool
}

func newMetric(b Backdrop) metric {
	var n metric
	for k := range n.from {
		for v := range n.from[k] {
			n.from[k][v] = float32(float64(v) - b.Colour[k])
		}
	}
	n.noise, n.ring = float32(b.Noise), float32(b.Ringing)
	n.weights = vector{float32(b.Luma[0]), float32(b.Luma[1]), float32(b.Luma[2])}
	if b.Luma == [3]float64{} {
		n.weights = vector{0.299, 0.587, 0.114} // BT.601, as JPEG has them
	}
	if n.halved = b.Luma != [3]float64{} || n.ring > compressedRing; n.halved {
		n.ring = max(n.ring, minRing)
	}
	if b.slope != nil {
		n.slope = newSlopeMap(b.slope, b.Colour)
	}
	return n
}

// useAlphaOnly makes transparency the only backdrop.
func (b *metric) useAlphaOnly() { b.alphaOnly = true }

// offset is the colour of pixel at, of all in pix, minus the backdrop.
func (b *metric) offset(pix []byte, at int) vector {
	p := pix[4*at : 4*at+3 : 4*at+3]
	v := vector{b.from[0][p[0]], b.from[1][p[1]], b.from[2][p[2]]}
	if b.slope != nil {
		v = v.minus(b.slope.at(at))
	}
	return v
}

// backdrop is the backdrop's colour at a pixel.
func (b *metric) backdrop(at int) vector {
	c := vector{-b.from[0][0], -b.from[1][0], -b.from[2][0]}
	if b.slope != nil {
		c = c.plus(b.slope.at(at))
	}
	return c
}

// distance is the largest channel difference of a pixel to the backdrop.
func (b *metric) distance(pix []byte, at int) float32 {
	v := b.offset(pix, at)
	return maxAbs(v)
}

// luma is the lightness of a difference of colours.
func (b *metric) luma(c vector) float32 { return dot(b.weights, c) }

// chroma is a difference of colours without its difference in lightness.
func (b *metric) chroma(c vector) vector { return c.less(b.luma(c)) }

// contrast measures a difference of colours in the source's components:
// channels, or, if colour has half the resolution, lightness and the two chroma
// differences, which carry the compression errors.
func (b *metric) contrast(c vector) float32 {
	if !b.halved {
		return maxAbs(c)
	}
	y := b.luma(c)
	return max(abs(y), abs(c.r-y)/(2*(1-b.weights.r)), abs(c.b-y)/(2*(1-b.weights.b)))
}

// lanes are bounds on the bytes of two pixels for comparing all of them at
// once: every byte has 16 bits of its own, bytes 0, 2, 4, 6 in even and 1, 3,
// 5, 7 in odd. Bit 8 of a lane survives a subtraction iff it does not borrow.
type lanes struct{ loEven, loOdd, hiEven, hiOdd uint64 }

const (
	lane   = 0x00ff00ff00ff00ff
	carry  = 0x0100010001000100
	opaque = 0xff000000ff000000
)

// bounds returns the lanes for a largest channel difference of tol.
func (b *metric) bounds(tol int) lanes {
	var lo, hi [4]uint64
	hi[3] = 255
	for k := range 3 {
		lo[k], hi[k] = 256, 0
		for v, d := range b.from[k] {
			if d >= float32(-tol) && d <= float32(tol) {
				lo[k], hi[k] = min(lo[k], uint64(v)), uint64(v)
			}
		}
		if b.alphaOnly {
			lo[k] = 256
		}
	}
	twice := func(a, b uint64) uint64 { return (a | b<<16) * 0x0000000100000001 }
	return lanes{twice(lo[0], lo[2]), twice(lo[1], lo[3]), twice(hi[0], hi[2]) | carry, twice(hi[1], hi[3]) | carry}
}

// matches is 1 if one pixel lies within the bounds or is transparent.
func (n *lanes) matches(p uint32) uint64 {
	even, odd := uint64(p)&lane, uint64(p)>>8&lane
	t := (even | carry - n.loEven) & (n.hiEven - even) & (odd | carry - n.loOdd) & (n.hiOdd - odd)
	return (t>>8&(t>>24) | transparent(uint64(p))) & 1
}

// transparentBelow is the alpha below which a pixel counts as transparent: VP8 and VP9
// leave noise of a few 1/255 where alpha was 0.
const transparentBelow = 8

// transparent has bit 0 or 32 set for each of two pixels with such an alpha.
func transparent(p uint64) (m uint64) {
	if p>>24&0xff < transparentBelow {
		m = 1
	}
	if p>>56 < transparentBelow {
		m |= 1 << 32
	}
	return m
}

// scan adds the runs of pixels within tol of the backdrop.
func (b *metric) scan(img *image.NRGBA, tol int, l *labels) {
	if b.slope != nil {
		b.scanSlope(img, tol, l)
		return
	}
	n := b.bounds(tol)
	w := l.w
	for y := range l.h {
		l.row()
		row := img.Pix[y*img.Stride : y*img.Stride+4*w]
		for x := n.seek(row, 0, 0); x < w; {
			end := n.seek(row, x, 1)
			l.add(x, end)
			x = n.seek(row, end, 0)
		}
	}
}

// seek returns the first pixel from x on with a membership other than state, or
// the end of the row.
func (n *lanes) seek(row []byte, x int, state uint64) int {
	both := state | state<<32
	loEven, loOdd, hiEven, hiOdd := n.loEven, n.loOdd, n.hiEven, n.hiOdd
	i := 4 * x
	last := uint64(opaque) // the pair found to be in state last
	if i+8 <= len(row) {
		last = ^binary.LittleEndian.Uint64(row[i:])
	}
	for ; i+8 <= len(row); i += 8 {
		p := binary.LittleEndian.Uint64(row[i:])
		if p == last {
			continue
		}
		even, odd := p&lane, p>>8&lane
		t := (even | carry - loEven) & (hiEven - even) & (odd | carry - loOdd) & (hiOdd - odd)
		m := t >> 8 & (t >> 24)
		if p&opaque != opaque {
			m |= transparent(p)
		}
		if m &= 1 | 1<<32; m != both {
			if m&1 != state {
				return i / 4
			}
			return i/4 + 1
		}
		last = p
	}
	if i < len(row) && n.matches(binary.LittleEndian.Uint32(row[i:])) != state {
		return i / 4
	}
	return len(row) / 4
}
