package quant

import "encoding/binary"

const (
	maxColours = 256  // a set with more distinct colours gives up
	slots      = 1024 // a power of two, large enough to keep probing short
)

// colourSet remembers up to maxColours distinct colours and gives up beyond that.
// A slot is 0 or a colour with all bits of its top byte set.
type colourSet struct {
	slot     [slots]uint32
	n        int
	overflow bool
}

// addPix adds the colours of the pixels whose alpha is at least 128.
func (s *colourSet) addPix(pix []uint8) {
	last := uint32(0)
	for ; len(pix) >= 4 && !s.overflow; pix = pix[4:] {
		p := binary.LittleEndian.Uint32(pix)
		if int32(p) >= 0 || p|0xff<<24 == last {
			continue
		}
		last = p | 0xff<<24
		s.add(last)
	}
}

func (s *colourSet) add(p uint32) {
	if s.overflow {
		return
	}
	i := p * 0x9e3779b1 >> 22
	for s.slot[i] != p {
		if s.slot[i] == 0 {
			s.slot[i] = p
			s.n++
			s.overflow = s.n > maxColours
			return
		}
		i = (i + 1) % slots
	}
}

// colours lists the colours of the set in a fixed order.
func (s *colourSet) colours() []RGB {
	out := make([]RGB, 0, s.n)
	for _, p := range s.slot {
		if p != 0 {
			out = append(out, RGB{uint8(p), uint8(p >> 8), uint8(p >> 16)})
		}
	}
	return out
}
