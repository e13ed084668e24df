package ffmpeg

import (
	"encoding/binary"
	"image"
	"io"
	"time"

	"github.com/bgremove/bgremove/internal/media/yuv"
)

// matroskaWriter writes pictures with their times as Matroska (RFC 9559) for
// ffmpeg to read from a pipe: one cluster a picture, sizes known, timestamps in
// microseconds.
type matroskaWriter struct {
	w   io.Writer
	buf []byte
}

// EBML ids, RFC 8794 and RFC 9559 section 5.
const (
	idEBML           = 0x1A45DFA3
	idDocType        = 0x4282
	idSegment        = 0x18538067
	idInfo           = 0x1549A966
	idTimestampScale = 0x2AD7B1
	idTracks         = 0x1654AE6B
	idTrackEntry     = 0xAE
	idTrackNumber    = 0xD7
	idTrackUID       = 0x73C5
	idTrackType      = 0x83
	idMaxAdditionID  = 0x55EE
	idCodecID        = 0x86
	idCodecPrivate   = 0x63A2
	idVideo          = 0xE0
	idInterlaced     = 0x9A
	idAlphaMode      = 0x53C0
	idPixelWidth     = 0xB0
	idPixelHeight    = 0xBA
	idFourCC         = 0x2EB524
	idColour         = 0x55B0
	idMatrix         = 0x55B1
	idRange          = 0x55B9
	idTransfer       = 0x55BA
	idPrimaries      = 0x55BB
	idCluster        = 0x1F43B675
	idTimestamp      = 0xE7
	idBlockGroup     = 0xA0
	idBlock          = 0xA1
	idBlockDuration  = 0x9B
	idReferenceBlock = 0xFB
	idAdditions      = 0x75A1
	idBlockMore      = 0xA6
	idAddID          = 0xEE
	idAdditional     = 0xA5
)

const unknownSize = 1<<56 - 1

// codec is how Matroska calls the way that pictures are coded. Raw ones also have
// the code of their samples.
type codec struct{ id, samples string }

var (
	rawVideo = codec{"V_UNCOMPRESSED", "I420"}
	rawRGBA  = codec{"V_UNCOMPRESSED", "RGBA"}
	rawGrey  = codec{"V_UNCOMPRESSED", "Y800"}
	vp9      = codec{"V_VP9", ""} // alpha comes beside it
	av1Video = codec{"V_AV1", ""}
	hevc     = codec{"V_MPEGH/ISO/HEVC", ""}
)

// block is one picture with its time and flags.
type block struct {
	stream        int
	pts, duration time.Duration
	data          [][]byte // one after the other
	alpha         []byte   // a packet of its own; nil without
	follows       bool     // it needs pictures before it
}

// bt709 says that samples are of BT.709 in limited range, by ITU-T H.273.
func bt709() (b []byte) {
	for _, id := range []uint32{idMatrix, idRange, idTransfer, idPrimaries} {
		b = append(b, number(id, 1)...)
	}
	return b
}

// newMatroskaWriter writes the headers of a stream of pictures. The layout's alpha
// is that beside VP9.
func newMatroskaWriter(w io.Writer, c codec, l yuv.Layout) (*matroskaWriter, error) {
	m := &matroskaWriter{w: w}
	video := number(idPixelWidth, l.Width)
	video = append(video, number(idPixelHeight, l.Height)...)
	video = append(video, number(idInterlaced, progressive)...)
	if c != rawRGBA && c != rawGrey {
		video = append(video, element(idColour, bt709())...)
	}
	track := number(idTrackNumber, 1)
	track = append(track, number(idTrackUID, 1)...)
	track = append(track, number(idTrackType, 1)...) // video
	track = append(track, element(idCodecID, []byte(c.id))...)
	if c.samples != "" {
		video = append(video, element(idFourCC, []byte(c.samples))...)
	}
	if l.Alpha {
		video = append(video, number(idAlphaMode, 1)...)
		track = append(track, number(idMaxAdditionID, alphaAddID)...)
	}
	track = append(track, element(idVideo, video)...)
	_, err := w.Write(matroskaHead(element(idTrackEntry, track)))
	return m, err
}

// matroskaHead is what stands before the first cluster.
func matroskaHead(tracks []byte) []byte {
	head := element(idEBML, element(idDocType, []byte("matroska")))
	head = appendID(head, idSegment)
	head = appendSize(head, unknownSize)
	head = append(head, element(idInfo, number(idTimestampScale, int(time.Microsecond)))...)
	return append(head, element(idTracks, tracks)...)
}

// newCodedWriter writes the headers of streams of pictures that are coded already.
func newCodedWriter(w io.Writer, streams []coded) (*matroskaWriter, error) {
	var tracks []byte
	for i, s := range streams {
		track := append(number(idTrackNumber, i+1), number(idTrackUID, i+1)...)
		track = append(append(track, number(idTrackType, 1)...), element(idCodecID, []byte(s.codec.id))...)
		track = append(track, element(idCodecPrivate, s.config)...)
		video := append(number(idPixelWidth, s.size.X), number(idPixelHeight, s.size.Y)...)
		tracks = append(tracks, element(idTrackEntry, append(track, element(idVideo, video)...))...)
	}
	_, err := w.Write(matroskaHead(tracks))
	return &matroskaWriter{w: w}, err
}

// coded is a stream of pictures that are coded already.
type coded struct {
	codec  codec
	config []byte // for the decoder
	size   image.Point
}

// progressive says that pictures are whole.
const progressive = 2

// alphaAddID marks a block's addition as its alpha.
const alphaAddID = 1

// write appends one picture.
func (m *matroskaWriter) write(p block) error {
	head := []byte{0x81 + byte(p.stream), 0, 0, 0} // the track, from 1, at the cluster's time, no lacing
	blockSize := len(head)
	for _, part := range p.data {
		blockSize += len(part)
	}
	trailer := number(idBlockDuration, int(max(p.duration, time.Microsecond)/time.Microsecond))
	if p.follows {
		trailer = append(trailer, number(idReferenceBlock, -1)...)
	}
	if p.alpha != nil {
		more := append(number(idAddID, alphaAddID), element(idAdditional, p.alpha)...)
		trailer = append(trailer, element(idAdditions, element(idBlockMore, more))...)
	}
	timestamp := number(idTimestamp, int(p.pts.Round(time.Microsecond)/time.Microsecond))

	groupSize := headerLen(idBlock) + blockSize + len(trailer)
	b := appendID(m.buf[:0], idCluster)
	b = appendSize(b, uint64(len(timestamp)+headerLen(idBlockGroup)+groupSize))
	b = append(b, timestamp...)
	b = appendSize(appendID(b, idBlockGroup), uint64(groupSize))
	b = appendSize(appendID(b, idBlock), uint64(blockSize))
	m.buf = append(b, head...)
	for _, part := range append(append([][]byte{m.buf}, p.data...), trailer) {
		if _, err := m.w.Write(part); err != nil {
			return err
		}
	}
	return nil
}

// element is an id, an eight-byte size and the data.
func element(id uint32, data []byte) []byte {
	return append(appendSize(appendID(nil, id), uint64(len(data))), data...)
}

func number(id uint32, n int) []byte {
	return element(id, binary.BigEndian.AppendUint64(nil, uint64(n)))
}

func appendID(b []byte, id uint32) []byte {
	for shift := 24; shift >= 0; shift -= 8 {
		if id>>shift != 0 {
			b = append(b, byte(id>>shift))
		}
	}
	return b
}

func appendSize(b []byte, n uint64) []byte {
	return binary.BigEndian.AppendUint64(b, n|1<<56)
}

func headerLen(id uint32) int { return len(appendID(nil, id)) + 8 }
