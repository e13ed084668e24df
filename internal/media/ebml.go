package media

import (
	"bytes"
	"math/bits"
)

// unknownLength marks an element that ends where the next begins, as in
// streams.
const unknownLength = 1<<56 - 1

// ebmlElement reads the head of an element, RFC 8794 sections 4 and 5: its id,
// with the marker, and the content's length in bytes. size is the head's own
// length in p, 0 if it is invalid.
func ebmlElement(p []byte) (id, length uint64, size int) {
	id, idSize := ebmlNumber(p, 4)
	length, lengthSize := ebmlNumber(p[idSize:], 8)
	if idSize == 0 || lengthSize == 0 {
		return 0, 0, 0
	}
	mask := uint64(1)<<(7*lengthSize) - 1
	if length &= mask; length == mask {
		length = unknownLength
	}
	return id, length, idSize + lengthSize
}

// ebmlNumber reads a number of up to maxSize bytes. Its first set bit gives its
// length. size is 0 if it is invalid.
func ebmlNumber(p []byte, maxSize int) (n uint64, size int) {
	if len(p) == 0 {
		return 0, 0
	}
	size = bits.LeadingZeros8(p[0]) + 1
	if size > maxSize || size > len(p) {
		return 0, 0
	}
	for _, b := range p[:size] {
		n = n<<8 | uint64(b)
	}
	return n, size
}

// ids of the header, RFC 8794 section 11.2.
const (
	ebmlHeader  = 0x1A45DFA3
	ebmlDocType = 0x4282
)

// sniffEBML distinguishes WebM from other Matroska files by the DocType of the
// EBML header. head must hold the whole header.
func sniffEBML(head []byte) Container {
	id, length, at := ebmlElement(head)
	if id != ebmlHeader || length > uint64(len(head)-at) {
		return Unknown
	}
	var docType []byte
	for rest := head[at : at+int(length)]; len(rest) > 0; {
		id, length, at := ebmlElement(rest)
		if at == 0 || length > uint64(len(rest)-at) || id == ebmlDocType && docType != nil {
			return Unknown
		}
		if id == ebmlDocType {
			docType = rest[at : at+int(length)]
		}
		rest = rest[at+int(length):]
	}
	docType, _, _ = bytes.Cut(docType, []byte{0}) // padding follows
	switch string(docType) {
	case "webm":
		return WebM
	case "matroska":
		return Matroska
	}
	return Unknown
}
