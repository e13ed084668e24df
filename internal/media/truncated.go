package media

import (
	"encoding/binary"
	"io"
	"math"
)

// Truncated reports whether a file of the given size and container ends too
// early by its own structure: a box (ISO/IEC 14496-12), a Matroska segment (RFC
// 9559) or the first chunk of a RIFF file reaches beyond the end. Files with an unknown structure count as
// complete.
func Truncated(r io.ReaderAt, size int64, c Container) bool {
	switch c {
	case MP4, MOV, AVIF:
		return truncatedISO(r, size)
	case WebM, Matroska:
		return truncatedEBML(r, size)
	case AVI, WebP:
		return truncatedRIFF(r, size)
	}
	return false
}

// truncatedRIFF looks at the outermost chunk. Of a recording that was cut off its
// size is 0, and of a stream all ones.
func truncatedRIFF(r io.ReaderAt, size int64) bool {
	var head [8]byte
	if n, _ := r.ReadAt(head[:], 0); n < len(head) {
		return n > 0
	}
	length := binary.LittleEndian.Uint32(head[4:])
	return length != math.MaxUint32 && int64(len(head))+int64(length) > size
}

// maxBoxes bounds the walk over a file's boxes, which may have eight bytes each. A film in
// fragments has two for each of them. A file with more counts as complete.
const maxBoxes = 1_000_000

func truncatedISO(r io.ReaderAt, size int64) bool {
	var head [16]byte
	movie, samples := false, false // the whole boxes moov and mdat were seen
	for at, boxes := int64(0), 0; at < size && boxes < maxBoxes; boxes++ {
		n, _ := r.ReadAt(head[:], at)
		complete := movie && samples // what follows may be of no use, or no box
		if n < 8 {
			return n > 0 && !complete
		}
		kind := string(head[4:8])
		length := int64(binary.BigEndian.Uint32(head[:]))
		switch {
		case length == 0: // to the end of the file
			return false
		case length == 1 && n == 16:
			length = int64(min(binary.BigEndian.Uint64(head[8:]), math.MaxInt64))
		}
		if length < 8 {
			return false
		}
		if length > size-at {
			return !complete || kind == "mdat" || kind == "moof" || kind == "moov"
		}
		movie, samples = movie || kind == "moov", samples || kind == "mdat"
		at += length
	}
	return false
}

// truncatedEBML looks at the two elements that a file consists of: the EBML
// header and the segment.
func truncatedEBML(r io.ReaderAt, size int64) bool {
	at := int64(0)
	for range 2 {
		var head [12]byte
		n, _ := r.ReadAt(head[:], at)
		_, length, headSize := ebmlElement(head[:n])
		if headSize == 0 || length == unknownLength {
			return false
		}
		if uint64(headSize)+length > uint64(size-at) {
			return true
		}
		at += int64(headSize) + int64(length)
	}
	return at > size
}
