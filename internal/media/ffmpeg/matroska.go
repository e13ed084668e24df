package ffmpeg

import (
	"encoding/binary"
	"io"
	"time"

	"github.com/bgremove/bgremove/internal/media/yuv"
)

// matroskaWriter writes raw pictures with their times as Matroska (RFC 9559) for
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
	idCodecID        = 0x86
	idVideo          = 0xE0
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
)

const unknownSize = 1<<56 - 1

// fourCC is how ffmpeg calls the layout of raw pictures.
func fourCC(l yuv.Layout) []byte {
	if l.Alpha {
		return []byte{'Y', '4', 11, 8}
	}
	return []byte("I420")
}

// bt709 says that samples are of BT.709 in limited range, by ITU-T H.273.
func bt709() (b []byte) {
	for _, id := range []uint32{idMatrix, idRange, idTransfer, idPrimaries} {
		b = append(b, number(id, 1)...)
	}
	return b
}

// newMatroskaWriter writes the headers of a stream of pictures.
func newMatroskaWriter(w io.Writer, l yuv.Layout) (*matroskaWriter, error) {
	m := &matroskaWriter{w: w}
	video := number(idPixelWidth, l.Width)
	video = append(video, number(idPixelHeight, l.Height)...)
	video = append(video, element(idFourCC, fourCC(l))...)
	video = append(video, element(idColour, bt709())...)
	track := number(idTrackNumber, 1)
	track = append(track, number(idTrackUID, 1)...)
	track = append(track, number(idTrackType, 1)...) // video
	track = append(track, element(idCodecID, []byte("V_UNCOMPRESSED"))...)
	track = append(track, element(idVideo, video)...)

	head := element(idEBML, element(idDocType, []byte("matroska")))
	head = appendID(head, idSegment)
	head = appendSize(head, unknownSize)
	head = append(head, element(idInfo, number(idTimestampScale, int(time.Microsecond)))...)
	head = append(head, element(idTracks, element(idTrackEntry, track))...)
	_, err := w.Write(head)
	return m, err
}

// write appends one picture.
func (m *matroskaWriter) write(picture []uint8, pts, duration time.Duration) error {
	block := []byte{0x81, 0, 0, 0} // track 1, at the cluster's time, no lacing
	blockSize := len(block) + len(picture)
	after := number(idBlockDuration, int(max(duration, time.Microsecond)/time.Microsecond))
	stamp := number(idTimestamp, int(pts.Round(time.Microsecond)/time.Microsecond))

	groupSize := headerLen(idBlock) + blockSize + len(after)
	b := appendID(m.buf[:0], idCluster)
	b = appendSize(b, uint64(len(stamp)+headerLen(idBlockGroup)+groupSize))
	b = append(b, stamp...)
	b = appendSize(appendID(b, idBlockGroup), uint64(groupSize))
	b = appendSize(appendID(b, idBlock), uint64(blockSize))
	b = append(b, block...)
	m.buf = b
	for _, part := range [][]byte{b, picture, after} {
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
