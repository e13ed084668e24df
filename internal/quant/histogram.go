// Package quant chooses small palettes for many colours and maps colours to
// them. It knows no file format. A Histogram counts pixels, Histogram.Palette
// reduces it to a few colours, and a Mapper finds the palette entries that show
// a colour.
package quant

import (
	"encoding/binary"
	"maps"
	"slices"
)

// RGB is an opaque colour with 8 bits a channel. It has the transfer curve of
// the pictures; distances are plain Euclidean ones.
type RGB struct{ R, G, B uint8 }

const (
	cellBits = 6 // bits a channel that select a histogram cell
	cells    = 1 << (3 * cellBits)
	lowMask  = 1<<(8-cellBits) - 1

	// A cell packs its count and the sums of the channels' low bits into one
	// word of four 16-bit fields, so that counting a pixel is one addition.
	// The sums of cellFull pixels still fit.
	cellFull  = 65535 / lowMask
	fullLimit = uint64(cellFull) << 48
)

// sums collects the overflow of a packed cell.
type sums struct{ n, r, g, b uint64 }

// Histogram counts colours in cells of 6 bits a channel, each with the exact
// mean of its pixels. While distinct colours are few it also remembers them.
// The zero value is ready to use. A histogram is for one goroutine.
type Histogram struct {
	cell     []uint64
	spill    map[uint32]sums
	distinct colourSet
	pixels   uint64
}

// AddPix counts the pixels of pix with alpha of at least 128. Each pixel has
// four bytes in the order R, G, B, A. Alpha has no other effect.
func (h *Histogram) AddPix(pix []uint8) {
	h.Notice(pix)
	h.Count(pix)
}

// Notice remembers the colours of pix while distinct colours are few, without
// counting pixels. It costs little once there are many.
func (h *Histogram) Notice(pix []uint8) { h.distinct.addPix(pix) }

// Count does what AddPix does, for pixels that Notice has seen. A large picture
// can thus be noticed in full and counted in part.
func (h *Histogram) Count(pix []uint8) {
	if h.cell == nil {
		h.cell = make([]uint64, cells)
	}
	cell := (*[cells]uint64)(h.cell)
	n := uint64(0)
	for i := 0; i+4 <= len(pix); i += 4 {
		p := binary.LittleEndian.Uint32(pix[i:])
		if int32(p) >= 0 {
			continue
		}
		n++
		k := Key(p)
		v := cell[k] + packed(p)
		cell[k] = v
		if v >= fullLimit {
			h.flush(k)
		}
	}
	h.pixels += n
}

// Add counts n pixels of one colour.
func (h *Histogram) Add(c RGB, n uint64) {
	if h.cell == nil {
		h.cell = make([]uint64, cells)
	}
	if h.spill == nil {
		h.spill = make(map[uint32]sums)
	}
	p := uint32(c.R) | uint32(c.G)<<8 | uint32(c.B)<<16 | 0xff<<24
	k := Key(p)
	s := h.spill[k]
	s.n += n
	s.r += n * uint64(c.R&lowMask)
	s.g += n * uint64(c.G&lowMask)
	s.b += n * uint64(c.B&lowMask)
	h.spill[k] = s
	h.distinct.add(p)
	h.pixels += n
}

// Reset empties the histogram and keeps its memory.
func (h *Histogram) Reset() {
	clear(h.cell)
	clear(h.spill)
	h.distinct = colourSet{}
	h.pixels = 0
}

// Key returns the cell of the colour p, packed as R | G<<8 | B<<16.
func Key(p uint32) uint32 {
	return p>>2&0x3f | p>>4&0xfc0 | p>>6&0x3f000
}

func packed(p uint32) uint64 {
	return 1<<48 | uint64(p&lowMask)<<32 | uint64(p>>8&lowMask)<<16 | uint64(p>>16&lowMask)
}

func (h *Histogram) flush(k uint32) {
	if h.spill == nil {
		h.spill = make(map[uint32]sums)
	}
	h.spill[k] = h.spill[k].plus(h.cell[k])
	h.cell[k] = 0
}

func (s sums) plus(v uint64) sums {
	return sums{s.n + v>>48, s.r + v>>32&0xffff, s.g + v>>16&0xffff, s.b + v&0xffff}
}

// sample is one occupied cell: the mean colour of its pixels and their number.
type sample struct{ r, g, b, n float32 }

// samples lists the occupied cells in a fixed order.
func (h *Histogram) samples() []sample {
	var out []sample
	add := func(k uint32, s sums) {
		n := float32(s.n)
		out = append(out, sample{
			r: float32(k&0x3f<<2) + float32(s.r)/n,
			g: float32(k>>6&0x3f<<2) + float32(s.g)/n,
			b: float32(k>>12&0x3f<<2) + float32(s.b)/n,
			n: n,
		})
	}
	var rest []uint32
	for k := range h.spill {
		rest = append(rest, k)
	}
	slices.Sort(rest)
	for _, k := range rest {
		add(k, h.spill[k].plus(h.cell[k]))
	}
	for k, v := range h.cell {
		if v == 0 {
			continue
		}
		if _, ok := h.spill[uint32(k)]; !ok {
			add(uint32(k), sums{}.plus(v))
		}
	}
	return out
}

// Clone returns an independent copy.
func (h *Histogram) Clone() *Histogram {
	c := *h
	c.cell, c.spill = slices.Clone(h.cell), maps.Clone(h.spill)
	return &c
}
