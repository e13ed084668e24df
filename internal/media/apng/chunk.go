package apng

import (
	"encoding/binary"
	"hash/crc32"
)

const signature = "\x89PNG\r\n\x1a\n"

// controlOffset is where acTL begins: behind the signature and IHDR (13 bytes
// of data), since every chunk has 12 bytes around its data.
const controlOffset int64 = int64(len(signature)) + 12 + 13

// appendChunk appends a chunk of the given type (PNG section 5.3).
func appendChunk(dst []byte, kind string, data ...byte) []byte {
	start := len(dst)
	dst = beginChunk(dst, kind)
	return endChunk(append(dst, data...), start)
}

// beginChunk appends a chunk's head; the data follows, then endChunk.
func beginChunk(dst []byte, kind string) []byte {
	return append(append(dst, 0, 0, 0, 0), kind...)
}

// endChunk completes the chunk that began at start with its length and CRC.
func endChunk(dst []byte, start int) []byte {
	binary.BigEndian.PutUint32(dst[start:], uint32(len(dst)-start-8))
	return binary.BigEndian.AppendUint32(dst, crc32.ChecksumIEEE(dst[start+4:]))
}

// header returns everything before the first frame. The number of frames is
// not known yet and is written as 0.
func header(width, height int, o Options) []byte {
	colour := byte(6) // RGB and alpha
	if o.Opaque {
		colour = 2 // RGB
	}
	ihdr := binary.BigEndian.AppendUint32(nil, uint32(width))
	ihdr = binary.BigEndian.AppendUint32(ihdr, uint32(height))
	ihdr = append(ihdr, 8, colour, 0, 0, 0)
	b := appendChunk([]byte(signature), "IHDR", ihdr...)
	return append(b, animationControl(0, o.Plays)...)
}

// animationControl returns the acTL chunk.
func animationControl(frames, plays int) []byte {
	data := binary.BigEndian.AppendUint32(nil, uint32(frames))
	return appendChunk(nil, "acTL", binary.BigEndian.AppendUint32(data, uint32(plays))...)
}

// appendFrameControl appends the fcTL chunk of j. Frame 0 takes sequence
// number 0 and has its pixels in IDAT; every later one takes two numbers, one
// for fcTL and one for its only fdAT.
func appendFrameControl(dst []byte, j *frame, blend int) []byte {
	start := len(dst)
	dst = beginChunk(dst, "fcTL")
	dst = binary.BigEndian.AppendUint32(dst, uint32(max(2*j.index-1, 0)))
	for _, v := range [...]int{j.rect.Dx(), j.rect.Dy(), j.rect.Min.X, j.rect.Min.Y} {
		dst = binary.BigEndian.AppendUint32(dst, uint32(v))
	}
	dst = binary.BigEndian.AppendUint16(dst, j.num)
	dst = binary.BigEndian.AppendUint16(dst, j.den)
	const disposeNone = 0
	return endChunk(append(dst, disposeNone, byte(blend)), start)
}

// beginData appends the head of the chunk that holds j's pixels.
func beginData(dst []byte, j *frame) []byte {
	if j.index == 0 {
		return beginChunk(dst, "IDAT")
	}
	return binary.BigEndian.AppendUint32(beginChunk(dst, "fdAT"), uint32(2*j.index))
}
