package avif

import (
	"errors"
	"fmt"
)

var errUnit = errors.New("avif: the encoder's packet is malformed")

// unit is a temporal unit as files have it.
type unit struct {
	data     []byte // without the delimiter, which files leave out
	sequence []byte // the OBU of the sequence header; nil unless it is a key frame
}

// The types of OBUs ("AV1 Bitstream & Decoding Process Specification", section 6.2.2).
const (
	obuSequence  = 1
	obuDelimiter = 2
)

// parseUnit takes a packet apart (section 5.3). libaom writes a sequence header before
// each key frame, and no other.
func parseUnit(packet []byte) (u unit, err error) {
	for rest := packet; len(rest) > 0; {
		kind, size := rest[0]>>3&0xF, 1
		if rest[0]&0b100 != 0 { // an extension
			size++
		}
		if rest[0]&0b10 == 0 || size >= len(rest) { // without a size it cannot be followed
			return unit{}, errUnit
		}
		length, n := leb128(rest[size:])
		if n == 0 || length > len(rest)-size-n {
			return unit{}, errUnit
		}
		size += n + length
		switch kind {
		case obuDelimiter:
		case obuSequence:
			u.sequence = rest[:size]
			fallthrough
		default:
			u.data = append(u.data, rest[:size]...)
		}
		rest = rest[size:]
	}
	if u.data == nil {
		return unit{}, errUnit
	}
	return u, nil
}

// leb128 reads a number of up to four bytes. n is 0 if it is invalid.
func leb128(b []byte) (value, n int) {
	for i, v := range b[:min(len(b), 4)] {
		value |= int(v&0x7F) << (7 * i)
		if v&0x80 == 0 {
			return value, i + 1
		}
	}
	return 0, 0
}

// configuration is the box av1C ("AV1 Codec ISO Media File Format Binding", section
// 2.3) of a sequence of 8-bit pictures, with colours at half resolution or without.
func configuration(sequence []byte, monochrome bool) ([]byte, error) {
	head := 1
	if sequence[0]&0b100 != 0 {
		head++
	}
	_, n := leb128(sequence[head:])
	bits := &bitReader{bytes: sequence[head+n:]}
	// Section 5.5.1. Timing is not asked for.
	profile, still, reduced, timing := bits.read(3), bits.read(1), bits.read(1), 0
	level, tier := 0, 0
	if reduced == 1 {
		level = bits.read(5)
	} else {
		timing = bits.read(1)
		bits.read(1 + 5 + 12) // delays, and the number and layers of operating points
		if level = bits.read(5); level > 7 {
			tier = bits.read(1)
		}
	}
	if still == 1 || timing == 1 || profile != 0 {
		return nil, fmt.Errorf("%w: an unknown sequence header", errUnit)
	}
	format := tier<<7 | 0b1100 // both resolutions are half
	if monochrome {
		format |= 0b10000
	}
	return box("av1C", u8(0x81, profile<<5|level, format, 0), sequence), nil
}

// bitReader reads bits, the highest of a byte first. There are zeros after its end.
type bitReader struct {
	bytes []byte
	at    int
}

func (b *bitReader) read(n int) (value int) {
	for range n {
		value <<= 1
		if i := b.at / 8; i < len(b.bytes) {
			value |= int(b.bytes[i] >> (7 - b.at%8) & 1)
		}
		b.at++
	}
	return value
}
