// Package records keeps records of a clip's frames in a temporary file, so that
// memory does not depend on the clip's length.
package records

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"sync"

	"github.com/klauspost/compress/s2"

	"github.com/bgremove/bgremove/internal/system/scratch"
)

// File is a list of records, compressed, in a temporary file. Several goroutines may use it at once.
type File struct {
	mu   sync.Mutex
	file *os.File
	w    *bufio.Writer
	buf  []byte
	ends []int64 // where each record ends

	closed bool
}

// Create makes an empty file in dir; empty is the system's folder for temporary
// files. The caller closes it.
func Create(dir string) (*File, error) {
	f, err := scratch.File(dir, "bgremove-frames-*")
	if err != nil {
		return nil, fmt.Errorf("keep records of frames: %w", err)
	}
	return &File{file: f, w: bufio.NewWriterSize(f, 256<<10)}, nil
}

// Len is the number of records.
func (f *File) Len() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(f.ends)
}

// Append adds a record, which consists of parts. It keeps none of them.
func (f *File) Append(parts ...[]byte) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	end := f.end()
	for _, part := range parts {
		f.buf = s2.Encode(f.buf[:cap(f.buf)], part)
		head := binary.AppendUvarint(nil, uint64(len(f.buf)))
		if err := f.write(head, f.buf); err != nil {
			return fmt.Errorf("keep records of frames: %w", err)
		}
		end += int64(len(head) + len(f.buf))
	}
	f.ends = append(f.ends, end)
	return nil
}

// end is where the next record begins.
func (f *File) end() int64 {
	if len(f.ends) == 0 {
		return 0
	}
	return f.ends[len(f.ends)-1]
}

func (f *File) write(pieces ...[]byte) error {
	for _, p := range pieces {
		if _, err := f.w.Write(p); err != nil {
			return err
		}
	}
	return nil
}

var errShort = errors.New("a record is shorter than was written")

// Read fills parts with those of record i. Their number and lengths are those of
// Append.
func (f *File) Read(i int, parts ...[]byte) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if err := f.read(i, parts); err != nil {
		return fmt.Errorf("read frame %d back: %w", i, err)
	}
	return nil
}

func (f *File) read(i int, parts [][]byte) error {
	if err := f.w.Flush(); err != nil {
		return err
	}
	begin := int64(0)
	if i > 0 {
		begin = f.ends[i-1]
	}
	n := int(f.ends[i] - begin)
	if cap(f.buf) < n {
		f.buf = make([]byte, n)
	}
	rest := f.buf[:n]
	if _, err := f.file.ReadAt(rest, begin); err != nil {
		return err
	}
	for _, part := range parts {
		n, head := binary.Uvarint(rest)
		if head <= 0 || uint64(len(rest)-head) < n {
			return errShort
		}
		if whole, err := s2.DecodedLen(rest[head:]); err != nil || whole != len(part) {
			return errors.Join(errShort, err)
		}
		if _, err := s2.Decode(part, rest[head:head+int(n)]); err != nil {
			return err
		}
		rest = rest[head+int(n):]
	}
	return nil
}

// Close removes the file. It is idempotent.
func (f *File) Close() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.closed {
		return nil
	}
	f.closed = true
	return scratch.Discard(f.file)
}
