package pipeline

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"image"
	"io"
	"os"
	"slices"

	"github.com/klauspost/compress/s2"

	"github.com/bgremove/bgremove/internal/outfile"
)

// matteFile keeps the mattes of a pass, and foregrounds where there are any, in order, compressed in a temporary file.
// First all are appended, then rewind, then all are read.
type matteFile struct {
	file *os.File
	w    *bufio.Writer
	r    *bufio.Reader
	buf  []byte
}

func newMatteFile(dir string) (*matteFile, error) {
	f, err := os.CreateTemp(dir, "bgremove-mattes-*")
	if err != nil {
		return nil, err
	}
	// If the system allows it, the file loses its name now, so nothing is left
	// even if the process is killed.
	_ = os.Remove(f.Name())
	return &matteFile{file: f, w: bufio.NewWriterSize(f, 256<<10)}, nil
}

// append adds a matte and its foreground, which may be nil.
func (s *matteFile) append(m *image.Alpha, foreground *image.NRGBA) error {
	if err := s.write(m.Pix); err != nil {
		return fmt.Errorf("keep mattes: %w", err)
	}
	var size [2]uint32
	var pix []uint8
	if foreground != nil {
		size = [2]uint32{uint32(foreground.Rect.Dx()), uint32(foreground.Rect.Dy())}
		pix = foreground.Pix
	}
	err := binary.Write(s.w, binary.LittleEndian, size)
	if err == nil && pix != nil {
		err = s.write(pix)
	}
	if err != nil {
		return fmt.Errorf("keep mattes: %w", err)
	}
	return nil
}

func (s *matteFile) write(pix []uint8) error {
	s.buf = s2.Encode(s.buf[:cap(s.buf)], pix)
	if err := binary.Write(s.w, binary.LittleEndian, uint32(len(s.buf))); err != nil {
		return err
	}
	_, err := s.w.Write(s.buf)
	return err
}

// rewind ends writing; reading starts with the first matte.
func (s *matteFile) rewind() error {
	if err := s.w.Flush(); err != nil {
		return fmt.Errorf("keep mattes: %w", err)
	}
	if _, err := s.file.Seek(0, io.SeekStart); err != nil {
		return fmt.Errorf("keep mattes: %w", err)
	}
	s.r = bufio.NewReaderSize(s.file, 256<<10)
	return nil
}

// next reads the next matte into m, which has the size of the one appended,
// and returns the foreground.
func (s *matteFile) next(m *image.Alpha) (*image.NRGBA, error) {
	if err := s.read(m.Pix); err != nil {
		return nil, fmt.Errorf("read mattes back: %w", err)
	}
	var size [2]uint32
	if err := binary.Read(s.r, binary.LittleEndian, &size); err != nil {
		return nil, fmt.Errorf("read mattes back: %w", err)
	}
	if size == [2]uint32{} {
		return nil, nil
	}
	foreground := image.NewNRGBA(image.Rect(0, 0, int(size[0]), int(size[1])))
	if err := s.read(foreground.Pix); err != nil {
		return nil, fmt.Errorf("read mattes back: %w", err)
	}
	return foreground, nil
}

func (s *matteFile) read(pix []uint8) error {
	var n uint32
	if err := binary.Read(s.r, binary.LittleEndian, &n); err != nil {
		return err
	}
	s.buf = slices.Grow(s.buf[:0], int(n))[:n]
	if _, err := io.ReadFull(s.r, s.buf); err != nil {
		return err
	}
	_, err := s2.Decode(pix, s.buf)
	return err
}

// close removes the file.
func (s *matteFile) close() error {
	return errors.Join(s.file.Close(), outfile.Remove(s.file.Name()))
}
