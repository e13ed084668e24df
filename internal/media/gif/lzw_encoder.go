package gif

import (
	"math/bits"

	"github.com/bgremove/bgremove/internal/quant"
)

const (
	lzwCodes    = 4096
	lzwMaxWidth = 12
	lzwHashBits = 13
	lzwBlock    = 255 // payload of a data sub-block

	// With a full dictionary the encoder continues while a window of that many
	// codes packs more pixels into a bit than the whole cycle since the last
	// clear. After that a fresh dictionary is expected to do better.
	lzwWindow = 256

	// lossyVisits bounds the search for one string.
	lossyVisits = 40
)

// lzwPixels is a rectangle of palette indexes to compress, row by row.
type lzwPixels struct {
	// index is the colour to show. alt is another index that shows the same, or
	// index itself.
	index, alt []uint8
	// size is the number of palette entries, at most 256.
	size int
	// lossy is nil if only index and alt may be written.
	lossy *lossyPixels
}

// lossyPixels says which other indexes may be written for a pixel.
type lossyPixels struct {
	colour   []uint32 // true colours, packed R | G<<8 | B<<16
	maxError []uint16 // squared error that may be added to a pixel's; 0 = none
	palette  []quant.RGB
	near     *nearTable // similar indexes by index
	reward   int        // squared error worth adding to make a string a pixel longer
}

// lzwEncoder compresses pictures with GIF's variable-width LZW (GIF89a
// specification, appendix F). It may leave a full dictionary in use (deferred
// clear codes) and choose among equivalent or, with lossy set, similar indexes
// those that continue a string of the dictionary. It is reused from picture to
// picture, by one goroutine.
type lzwEncoder struct {
	out   []byte
	block int // where in out the open sub-block's length byte is
	acc   uint64
	nacc  uint

	literals int // 1 << minimum code size; also the clear code
	width    uint
	next     int // first code not yet assigned

	hash [1 << lzwHashBits]uint32 // parent, suffix and code of a string; 0 = free

	first    [lzwCodes]uint16 // the newest child of a code; 0 = none
	sibling  [lzwCodes]uint16 // the next older one
	suffix   [lzwCodes]uint8
	children [lzwCodes]uint16 // number of children

	cycle, window rate
	search        lossySearch
}

// rate counts pixels and the bits they took.
type rate struct{ pixels, bits, codes int }

func (r rate) worse(o rate) bool { return r.pixels*o.bits < o.pixels*r.bits }

// encode appends the minimum code size, the data sub-blocks and their
// terminator to dst.
func (e *lzwEncoder) encode(dst []byte, px *lzwPixels) []byte {
	minWidth := max(2, bits.Len(uint(px.size-1)))
	e.literals = 1 << minWidth
	e.out = append(dst, byte(minWidth), 0)
	e.block = len(e.out) - 1
	e.acc, e.nacc = 0, 0
	e.reset()
	e.emit(e.literals)
	e.writeStrings(px)
	if e.next == 1<<e.width && e.next < lzwCodes {
		e.width++ // the decoder takes the last string into its dictionary too
	}
	e.emit(e.literals + 1)
	for e.nacc > 0 {
		e.putByte(byte(e.acc))
		e.acc >>= 8
		e.nacc -= min(8, e.nacc)
	}
	if e.out[e.block] != 0 {
		e.out = append(e.out, 0)
	}
	out := e.out
	e.out = nil
	return out
}

// writeStrings writes the codes of all pixels.
func (e *lzwEncoder) writeStrings(px *lzwPixels) {
	for pos := 0; pos < len(px.index); {
		var code, end int
		if px.lossy != nil {
			code, end = e.search.longest(e, px, pos)
		} else {
			code, end = e.match(px, pos)
		}
		e.emit(code)
		e.count(end-pos, int(e.width))
		pos = end
		if pos < len(px.index) {
			e.addString(code, px.index[pos])
		}
	}
}

// match follows the dictionary from the literal at pos.
func (e *lzwEncoder) match(px *lzwPixels, pos int) (code, end int) {
	index, alt := px.index, px.alt[:len(px.index)]
	code = int(index[pos])
	for pos++; pos < len(index); pos++ {
		child := e.child(code, index[pos])
		if child == 0 {
			if alt[pos] == index[pos] {
				break
			}
			if child = e.child(code, alt[pos]); child == 0 {
				break
			}
		}
		code = child
	}
	return code, pos
}

// child returns the code of the string code+suffix, or 0.
func (e *lzwEncoder) child(code int, suffix uint8) int {
	key := uint32(code)<<8 | uint32(suffix)
	for i := lzwSlot(key); ; i = (i + 1) % (1 << lzwHashBits) {
		v := e.hash[i]
		if v == 0 {
			return 0
		}
		if v>>lzwMaxWidth == key {
			return int(v % lzwCodes)
		}
	}
}

func lzwSlot(key uint32) uint32 { return key * 0x9e3779b1 >> (32 - lzwHashBits) }

// addString assigns the next code to code+suffix, as the decoder will, and keeps
// the width of codes in step. When the dictionary is full it clears it as soon
// as that pays.
func (e *lzwEncoder) addString(code int, suffix uint8) {
	if e.next == lzwCodes {
		if e.window.codes >= lzwWindow {
			if e.window.worse(e.cycle) {
				e.emit(e.literals)
				e.reset()
				return
			}
			e.window = rate{}
		}
		return
	}
	if e.child(code, suffix) == 0 {
		e.insert(code, suffix)
	}
	if e.next == 1<<e.width {
		e.width++
	}
	e.next++
	if e.next == lzwCodes {
		e.window = rate{}
	}
}

func (e *lzwEncoder) insert(code int, suffix uint8) {
	key := uint32(code)<<8 | uint32(suffix)
	i := lzwSlot(key)
	for e.hash[i] != 0 {
		i = (i + 1) % (1 << lzwHashBits)
	}
	e.hash[i] = key<<lzwMaxWidth | uint32(e.next)
	e.suffix[e.next] = suffix
	e.sibling[e.next] = e.first[code]
	e.first[code] = uint16(e.next)
	e.children[code]++
}

func (e *lzwEncoder) reset() {
	e.next = e.literals + 2
	e.width = uint(bits.Len(uint(e.literals)))
	clear(e.hash[:])
	clear(e.first[:])
	clear(e.children[:])
	e.cycle, e.window = rate{}, rate{}
}

func (e *lzwEncoder) count(pixels, bits int) {
	e.cycle.pixels += pixels
	e.cycle.bits += bits
	e.window.pixels += pixels
	e.window.bits += bits
	e.window.codes++
}

// emit writes one code, least significant bit first.
func (e *lzwEncoder) emit(code int) {
	e.acc |= uint64(code) << e.nacc
	e.nacc += e.width
	for e.nacc >= 8 {
		e.putByte(byte(e.acc))
		e.acc >>= 8
		e.nacc -= 8
	}
}

func (e *lzwEncoder) putByte(b byte) {
	if e.out[e.block] == lzwBlock {
		e.block = len(e.out)
		e.out = append(e.out, 0)
	}
	e.out = append(e.out, b)
	e.out[e.block]++
}
