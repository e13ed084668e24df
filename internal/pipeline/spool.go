package pipeline

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"image"
	"io"
	"os"

	"github.com/klauspost/compress/s2"
)

// spool keeps the mattes of a pass, in order, compressed in a temporary file.
// First all are appended, then rewind, then all are read.
type spool struct {
	file *os.File
	w    *bufio.Writer
	r    *bufio.Reader
	buf  []byte
}

func newSpool() (*spool, error) {
	f, err := os.CreateTemp("", "bgremove-mattes-*")
	if err != nil {
		return nil, err
	}
	// Where the system allows it the file has no name from now on, so that
	// nothing is left even if we are killed.
	_ = os.Remove(f.Name())
	return &spool{file: f, w: bufio.NewWriterSize(f, 256<<10)}, nil
}

// append adds a matte.
func (s *spool) append(m *image.Alpha) error {
	s.buf = s2.Encode(s.buf[:cap(s.buf)], m.Pix)
	if err := binary.Write(s.w, binary.LittleEndian, uint32(len(s.buf))); err != nil {
		return fmt.Errorf("keep mattes: %w", err)
	}
	if _, err := s.w.Write(s.buf); err != nil {
		return fmt.Errorf("keep mattes: %w", err)
	}
	return nil
}

// rewind ends writing; reading starts with the first matte.
func (s *spool) rewind() error {
	if err := s.w.Flush(); err != nil {
		return fmt.Errorf("keep mattes: %w", err)
	}
	if _, err := s.file.Seek(0, io.SeekStart); err != nil {
		return fmt.Errorf("keep mattes: %w", err)
	}
	s.r = bufio.NewReaderSize(s.file, 256<<10)
	return nil
}

// next reads the next matte into m, which has the size of the one appended.
func (s *spool) next(m *image.Alpha) error {
	var n uint32
	if err := binary.Read(s.r, binary.LittleEndian, &n); err != nil {
		return fmt.Errorf("read mattes back: %w", err)
	}
	if int(n) > cap(s.buf) {
		s.buf = make([]byte, n)
	}
	s.buf = s.buf[:n]
	if _, err := io.ReadFull(s.r, s.buf); err != nil {
		return fmt.Errorf("read mattes back: %w", err)
	}
	if _, err := s2.Decode(m.Pix, s.buf); err != nil {
		return fmt.Errorf("read mattes back: %w", err)
	}
	return nil
}

// close removes the file.
func (s *spool) close() error {
	err := s.file.Close()
	if e := os.Remove(s.file.Name()); !errors.Is(e, os.ErrNotExist) {
		err = errors.Join(err, e)
	}
	return err
}
