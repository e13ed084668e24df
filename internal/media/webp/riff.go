package webp

import (
	"encoding/binary"
	"errors"
	"image"
)

// The flags of VP8X and ANMF.
const (
	hasAnimation = 0x02
	hasAlpha     = 0x10
	noBlend      = 0x02 // the frame replaces what is below it
)

// sizeOffset is where the file's size stands.
const sizeOffset = 4

// maxDuration is the longest that one frame can be shown, in milliseconds: 24
// bits, more than four hours.
const maxDuration = 1<<24 - 1

// maxFile bounds the file, because its size is a number of 32 bits.
const maxFile = 1<<32 - 10

var errStill = errors.New("webp: the encoder's file is malformed")

// header is everything before the first frame, with a size that is patched at
// the end.
func header(width, height, plays int, opaque bool) []byte {
	flags := uint32(hasAnimation | hasAlpha)
	if opaque {
		flags = hasAnimation
	}
	extended := binary.LittleEndian.AppendUint32(nil, flags)
	extended = append24(append24(extended, width-1), height-1)
	b := append([]byte("RIFF\x00\x00\x00\x00WEBP"), chunk("VP8X", extended)...)
	const background = 0 // transparent; browsers ignore it
	animation := binary.LittleEndian.AppendUint32(nil, background)
	return append(b, chunk("ANIM", binary.LittleEndian.AppendUint16(animation, uint16(plays)))...)
}

// frameChunk is the chunk ANMF of a frame. Its corner is at even coordinates.
func frameChunk(r image.Rectangle, milliseconds int, over bool, bitstream []byte) []byte {
	b := make([]byte, 0, 16+len(bitstream))
	b = append24(append24(b, r.Min.X/2), r.Min.Y/2)
	b = append24(append24(b, r.Dx()-1), r.Dy()-1)
	b = append24(b, milliseconds)
	flags := byte(noBlend)
	if over {
		flags = 0
	}
	return chunk("ANMF", append(append(b, flags), bitstream...))
}

// bitstream is the part of a still's file that a frame of an animation has: the
// chunks ALPH, VP8 and VP8L.
func bitstream(still []byte) ([]byte, error) {
	if len(still) < 12 || string(still[8:12]) != "WEBP" {
		return nil, errStill
	}
	var b []byte
	for rest := still[12:]; len(rest) > 0; {
		if len(rest) < 8 {
			return nil, errStill
		}
		size := int64(binary.LittleEndian.Uint32(rest[4:]))
		size += 8 + size&1
		if size > int64(len(rest)) {
			return nil, errStill
		}
		switch string(rest[:4]) {
		case "ALPH", "VP8 ", "VP8L":
			b = append(b, rest[:size]...)
		}
		rest = rest[size:]
	}
	if b == nil {
		return nil, errStill
	}
	return b, nil
}

// chunk is a chunk of RIFF, padded to an even size.
func chunk(kind string, data []byte) []byte {
	b := make([]byte, 0, 8+len(data)+1)
	b = binary.LittleEndian.AppendUint32(append(b, kind...), uint32(len(data)))
	b = append(b, data...)
	return append(b, make([]byte, len(data)&1)...)
}

func append24(b []byte, n int) []byte { return append(b, byte(n), byte(n>>8), byte(n>>16)) }
