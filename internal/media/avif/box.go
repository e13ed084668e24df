package avif

import "encoding/binary"

// The formats of boxes are those of ISO/IEC 14496-12, HEIF (23008-12) and "AV1 Image
// File Format" (AOMedia). Numbers are big-endian.

// box is a box of a type with the parts one after the other.
func box(kind string, parts ...[]byte) []byte {
	size := 8
	for _, p := range parts {
		size += len(p)
	}
	b := append(u32(size), kind...)
	for _, p := range parts {
		b = append(b, p...)
	}
	return b
}

// full is a box with a version and flags.
func full(kind string, version, flags int, parts ...[]byte) []byte {
	return box(kind, append([][]byte{u32(version<<24 | flags)}, parts...)...)
}

func u8(n ...int) (b []byte) {
	for _, v := range n {
		b = append(b, byte(v))
	}
	return b
}

func u16(n ...int) (b []byte) {
	for _, v := range n {
		b = binary.BigEndian.AppendUint16(b, uint16(v))
	}
	return b
}

func u32(n ...int) (b []byte) {
	for _, v := range n {
		b = binary.BigEndian.AppendUint32(b, uint32(v))
	}
	return b
}

func u64(n ...uint64) (b []byte) {
	for _, v := range n {
		b = binary.BigEndian.AppendUint64(b, v)
	}
	return b
}

// text is a string that ends with a zero.
func text(s string) []byte { return append([]byte(s), 0) }
