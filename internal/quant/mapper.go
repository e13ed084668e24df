package quant

import "sync/atomic"

// Entry says how to show the colours of one cell. Near is the nearest palette
// entry. Near and Partner are the pair to dither with: Share of 64 pixels show
// the one with the higher index, so that a gradient through a pair keeps its
// pattern. Share 0 means that Near alone is best.
type Entry uint32

const (
	entryKnown   = 1 << 31
	entryCrowded = 1 << 30 // several palette entries lie in the cell
)

// Near returns the index of the nearest palette entry.
func (e Entry) Near() uint8 { return uint8(e) }

// Partner returns the other palette entry of the pair.
func (e Entry) Partner() uint8 { return uint8(e >> 8) }

// Share returns how many of 64 pixels show the pair's higher index.
func (e Entry) Share() uint32 { return uint32(e) >> 16 & 0x7f }

// Crowded reports whether the cell holds several palette entries. Mapper.Nearest
// tells them apart.
func (e Entry) Crowded() bool { return e&entryCrowded != 0 }

// Mapper finds palette entries for colours. It computes on demand and keeps
// the answers in a table. It is safe for concurrent use.
type Mapper struct {
	pal         []RGB
	noiseWeight float32
	lut         []uint32
	inner       map[uint32][]uint8 // palette entries by their cell
}

// NewMapper returns a Mapper for pal, which has 1 to 256 entries. noiseWeight in
// (0, 1] limits dithering: it weighs the noise of a pair against its error in the
// mean. 1 never dithers; values near 0 always do.
func NewMapper(pal []RGB, noiseWeight float64) *Mapper {
	m := &Mapper{pal: pal, noiseWeight: float32(noiseWeight), lut: make([]uint32, cells), inner: make(map[uint32][]uint8)}
	for i, c := range pal {
		k := Key(uint32(c.R) | uint32(c.G)<<8 | uint32(c.B)<<16)
		m.inner[k] = append(m.inner[k], uint8(i))
	}
	return m
}

// Entry returns how to show the colour p, packed R | G<<8 | B<<16.
func (m *Mapper) Entry(p uint32) Entry {
	k := Key(p)
	if e := atomic.LoadUint32(&m.lut[k]); e != 0 {
		return Entry(e)
	}
	return m.fill(k)
}

// Nearest returns the palette entry nearest to the colour p. The colours of a cell
// share one, unless it is crowded.
func (m *Mapper) Nearest(p uint32) uint8 {
	e := m.Entry(p)
	if !e.Crowded() {
		return e.Near()
	}
	c := RGB{uint8(p), uint8(p >> 8), uint8(p >> 16)}
	best, at := 1<<30, uint8(0)
	for _, i := range m.inner[Key(p)] {
		if d := Distance(c, m.pal[i]); d < best {
			best, at = d, i
		}
	}
	return at
}

// Distance is the squared Euclidean distance.
func Distance(a, b RGB) int {
	r, g, bl := int(a.R)-int(b.R), int(a.G)-int(b.G), int(a.B)-int(b.B)
	return r*r + g*g + bl*bl
}

// fill computes the entry of a cell for its middle. If the cell holds a palette
// entry, it computes it for that entry, so that exact colours stay exact.
func (m *Mapper) fill(k uint32) Entry {
	c := RGB{uint8(k&0x3f<<2 + 2), uint8(k>>6&0x3f<<2 + 2), uint8(k>>12&0x3f<<2 + 2)}
	inner := m.inner[k]
	if len(inner) == 1 {
		c = m.pal[inner[0]]
	}
	e := m.pair(c)
	if len(inner) > 1 {
		e |= entryCrowded
	}
	atomic.StoreUint32(&m.lut[k], uint32(e))
	return e
}

// pair finds the nearest entry a and the partner b that lower this sum most:
//
//	|mix - c|² + noiseWeight × share × (1 - share) × |a - b|²
//
// The best share of a pair has a closed form. Joel Yliluoma's
// "Arbitrary-palette positional dithering algorithm" introduced choosing pairs
// by error and contrast.
func (m *Mapper) pair(c RGB) Entry {
	near, minDistance := 0, 1<<30
	for i, p := range m.pal {
		if d := Distance(c, p); d < minDistance {
			near, minDistance = i, d
		}
	}
	a := m.pal[near]
	cr, cg, cb := float32(c.R)-float32(a.R), float32(c.G)-float32(a.G), float32(c.B)-float32(a.B)
	partner, best, share := near, float32(0), float32(0)
	for i, p := range m.pal {
		r, g, b := float32(p.R)-float32(a.R), float32(p.G)-float32(a.G), float32(p.B)-float32(a.B)
		length := r*r + g*g + b*b
		pull := 2*(r*cr+g*cg+b*cb) - m.noiseWeight*length
		if pull <= 0 || length == 0 {
			continue
		}
		if gain := pull * pull / length; gain > best {
			partner, best, share = i, gain, pull/(2*length*(1-m.noiseWeight))
		}
	}
	s := uint32(min(share, 0.5)*64 + 0.5)
	if s < 4 {
		return Entry(entryKnown | near<<8 | near)
	}
	if partner < near {
		s = 64 - s
	}
	return Entry(entryKnown | s<<16 | uint32(partner)<<8 | uint32(near))
}
