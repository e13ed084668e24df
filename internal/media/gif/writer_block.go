package gif

import (
	"encoding/binary"
	"image"
	"math/bits"
)

// Block labels and flags of the GIF89a specification.
const (
	blockExtension = 0x21
	blockImage     = 0x2c
	blockTrailer   = 0x3b
	labelControl   = 0xf9
	labelApp       = 0xff

	flagTable       = 0x80
	flagTransparent = 0x01
	disposeKeep     = 1
	disposeClear    = 2
)

// appendHeader writes the header, the logical screen descriptor, the global
// colour table and the looping extension.
func appendHeader(dst []byte, width, height int, p *palette, plays int) []byte {
	dst = append(dst, "GIF89a"...)
	dst = binary.LittleEndian.AppendUint16(dst, uint16(width))
	dst = binary.LittleEndian.AppendUint16(dst, uint16(height))
	depth := byte(p.depth() - 1)
	dst = append(dst, flagTable|depth<<4|depth, p.transparent, 0)
	dst = p.appendTable(dst)
	if plays == 1 {
		return dst
	}
	dst = append(dst, blockExtension, labelApp, 11)
	dst = append(dst, "NETSCAPE2.0"...)
	dst = append(dst, 3, 1)
	dst = binary.LittleEndian.AppendUint16(dst, uint16(max(plays-1, 0)))
	return append(dst, 0)
}

// size is the number of colours including the transparent one.
func (p *palette) size() int { return len(p.colours) + 1 }

// depth is the number of bits that index the colour table.
func (p *palette) depth() int { return max(1, bits.Len(uint(p.size()-1))) }

func (p *palette) appendTable(dst []byte) []byte {
	for _, c := range p.colours {
		dst = append(dst, c.R, c.G, c.B)
	}
	for range 1<<p.depth() - len(p.colours) {
		dst = append(dst, 0, 0, 0)
	}
	return dst
}

// appendControl writes the graphic control extension.
func appendControl(dst []byte, delay uint16, disposal byte, transparent bool, index uint8) []byte {
	flags := disposal << 2
	if transparent {
		flags |= flagTransparent
	} else {
		index = 0
	}
	dst = append(dst, blockExtension, labelControl, 4, flags)
	dst = binary.LittleEndian.AppendUint16(dst, delay)
	return append(dst, index, 0)
}

// appendDescriptor writes the image descriptor and the local colour table, if
// there is one.
func appendDescriptor(dst []byte, r image.Rectangle, local *palette) []byte {
	dst = append(dst, blockImage)
	for _, v := range [4]int{r.Min.X, r.Min.Y, r.Dx(), r.Dy()} {
		dst = binary.LittleEndian.AppendUint16(dst, uint16(v))
	}
	if local == nil {
		return append(dst, 0)
	}
	dst = append(dst, flagTable|byte(local.depth()-1))
	return local.appendTable(dst)
}
