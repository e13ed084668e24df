// Package hostile makes small files that claim to be huge, for tests and
// attacks.
package hostile

import (
	"bytes"
	"encoding/binary"
)

// LateBlock is a Matroska cluster with one block, shown after the given number
// of milliseconds.
func LateBlock(at uint64) []byte {
	cluster := binary.BigEndian.AppendUint64([]byte("\x1f\x43\xb6\x75\x91\xe7\x88"), at)
	return append(cluster, "\xa3\x85\x81\x00\x00\x80\x00"...)
}

// Samples describes the samples that an MP4 claims to have in each track.
type Samples struct {
	Count, Size uint32 // number of samples, and bytes of each; a Size of 0 claims a table that the file lacks
	Chunks      uint32 // number of chunks that hold them, all at offset 0
	Tracks      uint32
}

// MP4 returns a file of some hundred bytes for each track, plus four for each
// chunk of the track.
func (s Samples) MP4() []byte {
	matrix := words(0x10000, 0, 0, 0, 0x10000, 0, 0, 0, 0x40000000)
	entry := bytes.Join([][]byte{words(0, 1, 0, 0, 0, 0, 64<<16|64, 72<<16, 72<<16, 0, 1<<16), make([]byte, 30), words(24<<16 | 0xffff)}, nil)
	stbl := box("stbl", box("stsd", words(0, 1), box("raw ", entry)), box("stts", words(0, 1, s.Count, 1)),
		box("stsc", words(0, 1, 1, s.Count/s.Chunks, 1)), box("stsz", words(0, s.Size, s.Count)),
		box("stco", words(0, s.Chunks), make([]byte, 4*s.Chunks)))
	minf := box("minf", box("vmhd", words(1, 0, 0)), box("dinf", box("dref", words(0, 1), box("url ", words(1)))), stbl)
	mdia := box("mdia", box("mdhd", words(0, 0, 0, 1000, s.Count, 0)), box("hdlr", words(0, 0), []byte("vide"), make([]byte, 13)), minf)
	moov := [][]byte{box("mvhd", words(0, 0, 0, 1000, s.Count, 0x10000, 0x1000000, 0, 0), matrix, make([]byte, 24), words(s.Tracks+1))}
	for n := range s.Tracks {
		tkhd := box("tkhd", words(7, 0, 0, n+1, 0, s.Count, 0, 0, 0, 0), matrix, words(64<<16, 64<<16))
		moov = append(moov, box("trak", tkhd, mdia))
	}
	return append(box("ftyp", []byte("isom"), words(512), []byte("isom")), box("moov", moov...)...)
}

// box makes an ISO box.
func box(kind string, content ...[]byte) []byte {
	body := bytes.Join(content, nil)
	return append(binary.BigEndian.AppendUint32(nil, uint32(8+len(body))), append([]byte(kind), body...)...)
}

func words(values ...uint32) (b []byte) {
	for _, v := range values {
		b = binary.BigEndian.AppendUint32(b, v)
	}
	return b
}
