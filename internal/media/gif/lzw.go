package gif

import "encoding/binary"

const (
	maxCodes    = 1 << 12 // GIF89a, appendix F: codes have at most 12 bits
	maxCodeSize = 11      // one bit more for clear and end
	minCodeSize = 2       // one-bit pictures are written with two, too

	// lzwSlack is how far past its limit decode may write: the longest
	// string, and the rest of its last chunk.
	lzwSlack = maxCodes + chunk
	chunk    = 8
)

// lzwDecoder decodes the variable-width LZW of GIF (GIF89a, appendix F), fed
// block by block. A table entry holds the last chunk of its string, up to eight
// bytes, and names the entry of what precedes it, so that long strings are
// copied backwards a word at a time; the idea is from Wuffs, std/lzw.
//
// It tolerates what browsers do: no leading clear, a full table that is not
// cleared, a missing end code. Bits of a literal beyond eight are dropped.
type lzwDecoder struct {
	suffix [maxCodes]uint64
	prefix [maxCodes]uint16
	last   [maxCodes]uint16 // length of the string less one

	bits     uint64
	nbits    uint
	codeSize uint
	width    uint // of the next code
	clear    uint
	next     uint // first free code
	prev     int  // the code before, -1 after a clear
	ended    bool // end code seen
	damaged  bool // impossible code seen
}

// reset prepares for a picture with data of the given codeSize, which is in
// [minCodeSize, maxCodeSize].
func (d *lzwDecoder) reset(codeSize int) {
	d.bits, d.nbits = 0, 0
	d.ended, d.damaged = false, false
	d.codeSize, d.clear = uint(codeSize), 1<<codeSize
	d.width, d.next, d.prev = d.codeSize+1, d.clear+2, -1
	for c := range d.clear {
		d.suffix[c], d.prefix[c], d.last[c] = uint64(byte(c)), 0, 0
	}
}

// stopped says that no further input yields pixels.
func (d *lzwDecoder) stopped() bool { return d.ended || d.damaged }

// decode appends pixels to dst[:n] until n reaches limit, src has no more whole
// code, or the data stop. dst is at least lzwSlack longer than limit. It
// returns the new n and the rest of src.
func (d *lzwDecoder) decode(dst []byte, n, limit int, src []byte) (int, []byte) {
	bits, nbits, width, next, prev := d.bits, d.nbits, d.width, d.next, d.prev
	clearCode := d.clear
	for n < limit {
		if nbits < width {
			if bits, nbits, src = refill(bits, nbits, src); nbits < width {
				break
			}
		}
		code := uint(bits) & (1<<width - 1)
		bits >>= width
		nbits -= width

		switch {
		case code < clearCode:
			dst[n] = byte(code)
			n++
			if prev >= 0 && next < maxCodes {
				d.define(next, uint(prev), byte(code))
				next++
			}
		case code == clearCode:
			width, next, prev = d.codeSize+1, clearCode+2, -1
			continue
		case code == clearCode+1:
			d.ended = true
			return n, nil
		case code < next:
			first := d.expand(dst[n:], code)
			n += int(d.last[code]) + 1
			if next < maxCodes {
				d.define(next, uint(prev), first)
				next++
			}
		case code == next && prev >= 0:
			first := d.expand(dst[n:], uint(prev))
			n += int(d.last[prev]) + 1
			dst[n] = first
			n++
			d.define(next, uint(prev), first)
			next++
		default:
			d.damaged = true
			return n, nil
		}
		prev = int(code)
		if next == 1<<width && width < 12 {
			width++
		}
	}
	d.bits, d.nbits, d.width, d.next, d.prev = bits, nbits, width, next, prev
	return n, src
}

// define makes code the string of prev and b.
func (d *lzwDecoder) define(code, prev uint, b byte) {
	last := d.last[prev] + 1
	d.last[code] = last
	if at := last % chunk; at != 0 {
		d.suffix[code] = d.suffix[prev] | uint64(b)<<(8*at)
		d.prefix[code] = d.prefix[prev]
		return
	}
	d.suffix[code] = uint64(b)
	d.prefix[code] = uint16(prev)
}

// expand writes the string of code to the start of dst, whole chunks of it,
// and returns its first byte.
func (d *lzwDecoder) expand(dst []byte, code uint) byte {
	code %= maxCodes
	at := int(d.last[code]) &^ (chunk - 1)
	for ; at > 0; at -= chunk {
		binary.LittleEndian.PutUint64(dst[at:], d.suffix[code])
		code = uint(d.prefix[code]) % maxCodes
	}
	binary.LittleEndian.PutUint64(dst, d.suffix[code])
	return byte(d.suffix[code])
}

// refill moves whole bytes from src behind the nbits that are in bits. Bits
// beyond nbits may be set already; they are those of the bytes that follow.
func refill(bits uint64, nbits uint, src []byte) (uint64, uint, []byte) {
	if len(src) >= 8 {
		n := (63 - nbits) / 8
		bits |= binary.LittleEndian.Uint64(src) << nbits
		nbits += 8 * n
		return bits, nbits, src[n:]
	}
	for len(src) > 0 && nbits <= 56 {
		bits |= uint64(src[0]) << nbits
		nbits += 8
		src = src[1:]
	}
	return bits, nbits, src
}

// validStart says whether the first code of a picture's data, clears aside,
// is one that can stand there. Without it not a pixel can be decoded.
func validStart(codeSize int, data []byte) bool {
	var bits uint64
	var nbits uint
	width, clearCode := uint(codeSize+1), uint64(1)<<codeSize
	for {
		if bits, nbits, data = refill(bits, nbits, data); nbits < width {
			return true
		}
		if code := bits & (1<<width - 1); code != clearCode {
			return code <= clearCode+1
		}
		bits >>= width
		nbits -= width
	}
}
