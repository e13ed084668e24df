package model

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
)

// Fields of onnx.proto's ModelProto.
const (
	fieldGraph = 7
	lastField  = 64 // far above those in use
)

// checkONNX walks the outermost fields of a serialised ModelProto: enough to
// tell a network from other files and a whole one from a cut one, without
// reading the weights.
func checkONNX(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	if !info.Mode().IsRegular() {
		return fmt.Errorf("%s: not a regular file", path)
	}
	if err := walkONNX(f, info.Size()); err != nil {
		return fmt.Errorf("%s: %w (%w)", path, ErrNotONNX, err)
	}
	return nil
}

func walkONNX(r io.ReaderAt, size int64) error {
	hasGraph := false
	for at := int64(0); at < size; {
		tag, n := varintAt(r, at)
		field, wire := tag>>3, tag&7
		if n <= 0 || field == 0 || field > lastField {
			return fmt.Errorf("no field begins at byte %d", at)
		}
		at += int64(n)
		length, n := fieldLength(r, at, wire)
		if n < 0 {
			return fmt.Errorf("field %d is malformed", field)
		}
		at += int64(n)
		if length > uint64(size-at) {
			return fmt.Errorf("field %d ends behind the file's end", field)
		}
		at += int64(length)
		hasGraph = hasGraph || field == fieldGraph && wire == 2
	}
	if !hasGraph {
		return errors.New("no graph in it")
	}
	return nil
}

// fieldLength is the number of bytes of a field's value, and of what says so;
// the latter is negative if the field is malformed.
func fieldLength(r io.ReaderAt, at int64, wire uint64) (length uint64, n int) {
	switch wire {
	case 0:
		if _, n = varintAt(r, at); n <= 0 {
			return 0, -1
		}
		return 0, n
	case 1:
		return 8, 0
	case 2:
		if length, n = varintAt(r, at); n <= 0 {
			return 0, -1
		}
		return length, n
	case 5:
		return 4, 0
	}
	return 0, -1
}

func varintAt(r io.ReaderAt, at int64) (uint64, int) {
	var buf [binary.MaxVarintLen64]byte
	n, err := r.ReadAt(buf[:], at)
	if err != nil && err != io.EOF {
		return 0, 0
	}
	return binary.Uvarint(buf[:n])
}
