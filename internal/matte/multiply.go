package matte

import (
	"encoding/binary"
	"image"
	"math"
)

// Multiply scales the alpha of img by m, which has its size. Both have
// contiguous rows. Pixels that become transparent are cleared, colour included.
func Multiply(img *image.NRGBA, m *image.Alpha) {
	alpha := m.Pix
	for i := 0; i < len(alpha); {
		n := stretch(alpha[i:])
		switch {
		case n == 0:
			n = min(8, len(alpha)-i)
			multiply(img.Pix[4*i:4*(i+n)], alpha[i:i+n])
		case alpha[i] == 0:
			clear(img.Pix[4*i : 4*(i+n)])
		}
		i += n
	}
}

// stretch is how many values are 0, or how many are 255, before another one
// comes, rounded down to eights.
func stretch(alpha []uint8) (n int) {
	if len(alpha) < 8 {
		return 0
	}
	first := binary.LittleEndian.Uint64(alpha)
	if first != 0 && first != math.MaxUint64 {
		return 0
	}
	for n = 8; n+8 <= len(alpha) && binary.LittleEndian.Uint64(alpha[n:]) == first; {
		n += 8
	}
	return n
}

func multiply(pix, alpha []uint8) {
	pix = pix[:4*len(alpha)]
	for i, v := range alpha {
		switch v {
		case 255:
		case 0:
			clear(pix[4*i : 4*i+4])
		default:
			a := &pix[4*i+3]
			*a = uint8((uint32(*a)*uint32(v) + 127) / 255)
		}
	}
}
