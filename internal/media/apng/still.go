package apng

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"io"

	"github.com/klauspost/compress/zlib"
)

// maxStill is the longest side of a still, which PNG itself hardly bounds.
const maxStill = 1 << 16

// Still writes one PNG that does not move, with straight alpha, from its first row
// to its last. It holds a few rows in memory, however large the picture is. It is
// for one goroutine.
type Still struct {
	w        io.Writer
	z        *zlib.Writer
	chunks   *bufio.Writer // cuts the compressed rows into chunks
	rows     filter
	filtered bool
	width    int
	left     int    // rows to come
	above    []byte // the row last written
	buf      []byte // filtered rows
}

// NewStill writes the header of a picture. Filtered rows are smaller for most
// pictures, and larger for some of those that Flat is true for.
func NewStill(w io.Writer, width, height int, filtered bool) (*Still, error) {
	if width < 1 || height < 1 || width > maxStill || height > maxStill {
		return nil, fmt.Errorf("png: cannot write %d×%d pixels", width, height)
	}
	s := &Still{w: w, filtered: filtered, width: width, left: height, above: make([]byte, 4*width)}
	s.chunks = bufio.NewWriterSize(imageData{w}, 1<<16)
	s.z = compressor(finalLevel)
	s.z.Reset(s.chunks)
	ihdr := binary.BigEndian.AppendUint32(nil, uint32(width))
	ihdr = binary.BigEndian.AppendUint32(ihdr, uint32(height))
	_, err := w.Write(appendChunk([]byte(signature), "IHDR", append(ihdr, 8, 6, 0, 0, 0)...))
	return s, err
}

// WriteRows takes the next rows, as RGBA without gaps. It keeps none of them.
func (s *Still) WriteRows(pix []byte) error {
	stride := 4 * s.width
	n := len(pix) / stride
	if len(pix)%stride != 0 || n > s.left {
		return fmt.Errorf("png: %d bytes are not up to %d rows of %d pixels", len(pix), s.left, s.width)
	}
	if n == 0 {
		return nil
	}
	s.left -= n
	if s.filtered {
		s.buf = s.rows.adaptiveBelow(s.buf[:0], s.above, pix, stride, 4)
		copy(s.above, pix[len(pix)-stride:])
	} else {
		s.buf = unfiltered(s.buf[:0], pix, stride)
	}
	_, err := s.z.Write(s.buf)
	return err
}

// Close completes the picture. It does not close what it is written to.
func (s *Still) Close() error {
	if s.left > 0 {
		return fmt.Errorf("png: %d rows are missing", s.left)
	}
	if err := s.z.Close(); err != nil {
		return err
	}
	if err := s.chunks.Flush(); err != nil {
		return err
	}
	_, err := s.w.Write(appendChunk(nil, "IEND"))
	return err
}

// imageData writes each piece as a chunk of its own.
type imageData struct{ w io.Writer }

func (d imageData) Write(p []byte) (int, error) {
	if _, err := d.w.Write(appendChunk(nil, "IDAT", p...)); err != nil {
		return 0, err
	}
	return len(p), nil
}

// Flat reports whether the opaque pixels of pix, as RGBA, have at most 256 colours.
// Such pictures are often smaller without filters.
func Flat(pix []byte) bool { return fewColours(pix, 4) }
