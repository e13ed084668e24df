package media

import (
	"bytes"
	"math/bits"
)

// unknownLength is of an element that goes on until another begins, as in streams.
const unknownLength = 1<<56 - 1

// ebmlElement reads what stands before the content of an element, RFC 8794
// sections 4 and 5: its id, with the marker, and the content's length in bytes.
// size is how much of p that takes, 0 if it is none.
func ebmlElement(p []byte) (id, length uint64, size int) {
	id, wide := ebmlNumber(p, 4)
	length, more := ebmlNumber(p[wide:], 8)
	if wide == 0 || more == 0 {
		return 0, 0, 0
	}
	mask := uint64(1)<<(7*more) - 1
	if length &= mask; length == mask {
		length = unknownLength
	}
	return id, length, wide + more
}

// ebmlNumber reads a number of up to most bytes, the first bit set of which says
// how many there are. size is 0 if there is none.
func ebmlNumber(p []byte, most int) (n uint64, size int) {
	if len(p) == 0 {
		return 0, 0
	}
	size = bits.LeadingZeros8(p[0]) + 1
	if size > most || size > len(p) {
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

// sniffEBML tells WebM from other Matroska files by the one DocType of the EBML
// header, which head must hold whole.
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
	docType, _, _ = bytes.Cut(docType, []byte{0}) // what comes after is padding
	switch string(docType) {
	case "webm":
		return WebM
	case "matroska":
		return Matroska
	}
	return Unknown
}
