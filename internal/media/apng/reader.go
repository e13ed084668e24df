package apng

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"image"
	"image/png"
	"io"
	"math"
	"os"
	"time"

	"github.com/bgremove/bgremove/internal/media"
	"github.com/bgremove/bgremove/internal/media/picture"
)

// maxKept bounds a chunk that is kept for all frames: a palette or its alpha.
const maxKept = 1 << 10

// Probe reads the structure of an APNG (PNG, third edition) and checks its
// checksums: no picture is decoded. A file that is not right is a
// *media.UnreadableError, one beyond l a *media.LimitError.
func Probe(path string, l media.Limits) (*picture.Animation, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	s := &scanner{r: bufio.NewReaderSize(f, 64<<10), limits: l, info: media.Info{Container: media.PNG, Codec: "apng"}}
	if err := s.scan(); err != nil {
		return nil, err
	}
	return picture.NewAnimation(path, s.info, s.parts, s.shared.decode), nil
}

// scanner reads the chunks of a file, one after the other.
type scanner struct {
	r      *bufio.Reader
	at     int64 // of the next chunk
	limits media.Limits
	info   media.Info
	shared shared
	parts  []picture.Part
	number uint32
}

// shared is what all frames of a file have in common.
type shared struct {
	header         []byte // IHDR's data
	palette, alpha []byte // the chunks PLTE and tRNS, empty if there are none
}

func malformed(format string, args ...any) error {
	return &media.UnreadableError{Reason: "the APNG is malformed: " + fmt.Sprintf(format, args...)}
}

// scan reads all chunks. A cut file has the frames that are whole.
func (s *scanner) scan() error {
	if _, err := s.r.Discard(len(signature)); err != nil {
		return err
	}
	s.at = int64(len(signature))
	for {
		kind, size, data, err := s.chunk()
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			s.info.Truncated = true
			break
		}
		if err == nil {
			err = s.add(kind, size, data)
		}
		if err != nil {
			return err
		}
		s.at += size + 12
		if kind == "IEND" {
			break
		}
	}
	return s.finish()
}

// finish drops a frame without a picture from a cut file.
func (s *scanner) finish() error {
	if n := len(s.parts); n > 0 && (s.parts[n-1].Size == 0 || s.info.Truncated) {
		if !s.info.Truncated {
			return malformed("frame %d has no picture", n)
		}
		s.parts = s.parts[:n-1]
	}
	if len(s.parts) == 0 {
		return &media.UnreadableError{Reason: "the APNG has no whole frame"}
	}
	return nil
}

// chunk reads a chunk and checks it; of data it returns the first bytes.
func (s *scanner) chunk() (kind string, size int64, data []byte, err error) {
	var head [8]byte
	if _, err := io.ReadFull(s.r, head[:]); err != nil {
		return "", 0, nil, err
	}
	kind, size = string(head[4:]), int64(binary.BigEndian.Uint32(head[:]))
	sum := crc32.NewIEEE()
	_, _ = sum.Write(head[4:]) // which does not fail
	kept := new(bytes.Buffer)
	if _, err := io.CopyN(io.MultiWriter(sum, kept), s.r, min(size, maxKept)); err != nil {
		return "", 0, nil, err
	}
	if _, err := io.CopyN(sum, s.r, max(0, size-maxKept)); err != nil {
		return "", 0, nil, err
	}
	var stated [4]byte
	if _, err := io.ReadFull(s.r, stated[:]); err != nil {
		return "", 0, nil, err
	}
	if sum.Sum32() != binary.BigEndian.Uint32(stated[:]) {
		return "", 0, nil, malformed("the checksum of a chunk %q is wrong", kind)
	}
	return kind, size, kept.Bytes(), nil
}

func (s *scanner) add(kind string, size int64, data []byte) error {
	if (kind == "IHDR") != (s.shared.header == nil) {
		return malformed("a chunk %q is not in its place", kind)
	}
	switch kind {
	case "IHDR":
		return s.addHeader(data)
	case "PLTE", "tRNS":
		if size > maxKept {
			return malformed("a chunk %q has %d bytes", kind, size)
		}
		whole := appendChunk(nil, kind, data...)
		if kind == "PLTE" {
			s.shared.palette = whole
		} else {
			s.shared.alpha, s.info.HasAlpha = whole, true
		}
	case "acTL":
		if len(data) < 8 {
			return malformed("the chunk acTL")
		}
		s.info.Plays = int(min(binary.BigEndian.Uint32(data[4:]), math.MaxInt32)) // PNG's numbers have 31 bits
	case "fcTL":
		return s.addFrame(data)
	case "IDAT": // before the first fcTL it is a picture for other programs
		if len(s.parts) > 0 {
			return s.addData(size)
		}
	case "fdAT":
		if err := s.sequence(data); err != nil {
			return err
		}
		return s.addData(size)
	}
	return nil
}

func (s *scanner) addHeader(data []byte) error {
	if len(data) != 13 {
		return malformed("the chunk IHDR")
	}
	w, h := binary.BigEndian.Uint32(data), binary.BigEndian.Uint32(data[4:])
	if w == 0 || h == 0 || w > 1<<31-1 || h > 1<<31-1 {
		return malformed("a picture of %d×%d pixels", w, h)
	}
	const alpha = 4 // of the colour type
	s.shared.header = bytes.Clone(data)
	s.info.Width, s.info.Height, s.info.HasAlpha = int(w), int(h), data[9]&alpha != 0
	return s.limits.CheckPicture(int(w), int(h))
}

// sequence checks the number that fcTL and fdAT begin with.
func (s *scanner) sequence(data []byte) error {
	if len(data) < 4 || binary.BigEndian.Uint32(data) != s.number {
		return malformed("its chunks are not in order")
	}
	s.number++
	return nil
}

func (s *scanner) addFrame(data []byte) error {
	if len(data) < 26 {
		return malformed("frame %d", len(s.parts)+1)
	}
	if err := s.sequence(data); err != nil {
		return err
	}
	if n := len(s.parts); n > 0 && s.parts[n-1].Size == 0 {
		return malformed("frame %d has no picture", n)
	}
	u := func(at int) int { return int(binary.BigEndian.Uint32(data[at:])) }
	num, den := time.Duration(binary.BigEndian.Uint16(data[20:])), time.Duration(binary.BigEndian.Uint16(data[22:]))
	if den == 0 {
		den = 100
	}
	corner := image.Pt(u(12), u(16))
	p := picture.Part{Rect: image.Rectangle{Min: corner, Max: corner.Add(image.Pt(u(4), u(8)))}, Delay: num * time.Second / den,
		Dispose: picture.Disposal(data[24]), Over: data[25] == 1}
	if data[24] > 2 || data[25] > 1 {
		return malformed("frame %d", len(s.parts)+1)
	}
	s.parts = append(s.parts, p)
	return picture.CheckParts(s.parts[:len(s.parts)-1], p, image.Rect(0, 0, s.info.Width, s.info.Height), s.limits)
}

// addData adds a chunk to the last frame.
func (s *scanner) addData(size int64) error {
	if len(s.parts) == 0 {
		return malformed("data before a frame")
	}
	p := &s.parts[len(s.parts)-1]
	if p.Size == 0 {
		p.Offset = s.at
	}
	p.Size = s.at + size + 12 - p.Offset
	return nil
}

// decode reads a frame's picture, as a file of its own.
func (s shared) decode(r io.ReaderAt, p picture.Part) (*image.NRGBA, error) {
	stored := make([]byte, p.Size)
	if _, err := r.ReadAt(stored, p.Offset); err != nil {
		return nil, err
	}
	header := bytes.Clone(s.header)
	binary.BigEndian.PutUint32(header, uint32(p.Rect.Dx()))
	binary.BigEndian.PutUint32(header[4:], uint32(p.Rect.Dy()))
	file := appendChunk([]byte(signature), "IHDR", header...)
	file = append(append(file, s.palette...), s.alpha...)
	for len(stored) >= 12 {
		size := min(int(binary.BigEndian.Uint32(stored)), len(stored)-12)
		switch data := stored[8 : 8+size]; string(stored[4:8]) {
		case "IDAT":
			file = appendChunk(file, "IDAT", data...)
		case "fdAT":
			file = appendChunk(file, "IDAT", data[min(4, size):]...)
		}
		stored = stored[12+size:]
	}
	img, err := png.Decode(bytes.NewReader(appendChunk(file, "IEND")))
	if err != nil {
		return nil, err
	}
	return picture.Straight(img), nil
}
