// Package onnxfile reads the description of a network in an .onnx file, without
// loading the weights: its inputs and outputs, and whether the file is
// complete.
//
// The field numbers are those of onnx.proto3 (ModelProto, GraphProto,
// ValueInfoProto, TypeProto, TensorShapeProto, TensorProto,
// StringStringEntryProto).
package onnxfile

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strconv"

	"github.com/bgremove/bgremove/internal/system/infile"
)

// Graph is a file's description of its network.
type Graph struct {
	// Inputs without a value in the file, and Outputs.
	Inputs, Outputs []Port
	Metadata        map[string]string
	// External means that some weights are in other files. ExternalBytes is the total
	// of their stated lengths.
	External      bool
	ExternalBytes int64
}

// Port is one input or output of a network.
type Port struct {
	Name string
	// Elem is the type of its values, in the numbering of onnx.proto.
	Elem  int
	Shape []int64 // -1 is open
}

// ErrTruncated means that a file was cut short, or has damage that looks the
// same.
var ErrTruncated = errors.New("ends too early")

// Read reads the first size bytes of r. It skips the weights. Errors other than
// those of r and ErrTruncated mean that the content is not a network.
func Read(r io.ReaderAt, size int64) (*Graph, error) { return parseModel(message{r: r, end: size}) }

// ReadFile reads a regular file, and also returns its size.
func ReadFile(path string) (_ *Graph, size int64, err error) {
	f, err := infile.Open(path)
	if err != nil {
		return nil, 0, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, 0, err
	}
	g, err := Read(f, info.Size())
	return g, info.Size(), err
}

// Unreadable reports whether an error of ReadFile is about the file rather than
// its content.
func Unreadable(err error) bool {
	return errors.As(err, new(*fs.PathError))
}

// message is a protobuf message within r that is read field by field.
type message struct {
	r        io.ReaderAt
	off, end int64
}

// field is one field of a message. body holds a length-delimited value, and
// value holds a varint.
type field struct {
	number int
	wire   int
	value  uint64
	body   message
}

func (m *message) varint() (uint64, error) {
	var b [binary.MaxVarintLen64]byte
	k, err := m.r.ReadAt(b[:min(int64(len(b)), m.end-m.off)], m.off)
	v, n := binary.Uvarint(b[:k])
	if n == 0 && (err == nil || err == io.EOF) {
		return 0, ErrTruncated
	}
	if n <= 0 {
		return 0, fmt.Errorf("read number at byte %d: %w", m.off, errors.Join(err, ErrTruncated))
	}
	m.off += int64(n)
	return v, nil
}

// next reads one field; io.EOF marks the end of the message.
func (m *message) next() (field, error) {
	if m.off >= m.end {
		return field{}, io.EOF
	}
	tag, err := m.varint()
	if err != nil {
		return field{}, err
	}
	f := field{number: int(tag >> 3), wire: int(tag & 7)}
	size := int64(0)
	switch f.wire {
	case 0:
		f.value, err = m.varint()
		return f, err
	case 1:
		size = 8
	case 2:
		n, err := m.varint()
		if err != nil {
			return f, err
		}
		size = int64(min(n, 1<<62))
	case 5:
		size = 4
	default:
		return f, fmt.Errorf("byte %d holds no field", m.off)
	}
	if f.number == 0 {
		return f, fmt.Errorf("byte %d holds no field", m.off)
	}
	if size > m.end-m.off {
		return f, ErrTruncated
	}
	f.body = message{m.r, m.off, m.off + size}
	m.off += size
	return f, nil
}

// each calls do for every length-delimited or varint field.
func (m message) each(do func(field) error) error {
	for {
		f, err := m.next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err == nil {
			err = do(f)
		}
		if err != nil {
			return err
		}
	}
}

// maxText is the largest size in bytes of a name or of metadata.
const maxText = 1 << 20

func (m message) text() (string, error) {
	if m.end-m.off > maxText {
		return "", fmt.Errorf("text of %d bytes", m.end-m.off)
	}
	b := make([]byte, m.end-m.off)
	if _, err := m.r.ReadAt(b, m.off); err != nil && err != io.EOF {
		return "", err
	}
	return string(b), nil
}

// fieldText returns the text of field number in m.
func (m message) fieldText(number int) (s string, err error) {
	err = m.each(func(f field) error {
		if f.number == number && f.wire == 2 {
			s, err = f.body.text()
		}
		return err
	})
	return s, err
}

func parseModel(m message) (*Graph, error) {
	g := &Graph{Metadata: map[string]string{}}
	found := false
	err := m.each(func(f field) error {
		switch {
		case f.number == 7 && f.wire == 2:
			found = true
			return g.parse(f.body)
		case f.number == 14 && f.wire == 2:
			k, err := f.body.fieldText(1)
			if err != nil {
				return err
			}
			v, err := f.body.fieldText(2)
			g.Metadata[k] = v
			return err
		}
		return nil
	})
	if err == nil && !found {
		err = errors.New("it has no graph")
	}
	return g, err
}

// parse reads the graph's outputs, and its inputs without an initial value.
func (g *Graph) parse(m message) error {
	constant := map[string]bool{}
	err := m.each(func(f field) error {
		if f.wire != 2 {
			return nil
		}
		switch f.number {
		case 5:
			name, err := g.initializer(f.body)
			constant[name] = true
			return err
		case 11, 12:
			p, err := parsePort(f.body)
			if f.number == 11 {
				g.Inputs = append(g.Inputs, p)
			} else {
				g.Outputs = append(g.Outputs, p)
			}
			return err
		}
		return nil
	})
	kept := g.Inputs[:0]
	for _, p := range g.Inputs {
		if !constant[p.Name] {
			kept = append(kept, p)
		}
	}
	g.Inputs = kept
	return err
}

// initializer reads the name of a weight, and whether it is in another file.
func (g *Graph) initializer(m message) (name string, err error) {
	err = m.each(func(f field) (err error) {
		switch {
		case f.number == 8 && f.wire == 2:
			name, err = f.body.text()
		case f.number == 13 && f.wire == 2:
			err = g.external(f.body)
		case f.number == 14 && f.wire == 0:
			g.External = g.External || f.value == 1
		}
		return err
	})
	return name, err
}

// external counts the bytes of a weight in another file.
func (g *Graph) external(m message) error {
	key, err := m.fieldText(1)
	if err != nil || key != "length" {
		return err
	}
	value, err := m.fieldText(2)
	if n, bad := strconv.ParseInt(value, 10, 64); bad == nil && n > 0 && n < 1<<50 {
		g.ExternalBytes += n
	}
	return err
}

func parsePort(m message) (Port, error) {
	var p Port
	err := m.each(func(f field) (err error) {
		switch {
		case f.number == 1 && f.wire == 2:
			p.Name, err = f.body.text()
		case f.number == 2 && f.wire == 2:
			err = f.body.each(func(f field) error {
				if f.number == 1 && f.wire == 2 {
					return p.parseTensor(f.body)
				}
				return nil
			})
		}
		return err
	})
	return p, err
}

func (p *Port) parseTensor(m message) error {
	return m.each(func(f field) error {
		switch {
		case f.number == 1 && f.wire == 0:
			p.Elem = int(f.value)
		case f.number == 2 && f.wire == 2:
			return f.body.each(func(f field) error {
				if f.number != 1 || f.wire != 2 {
					return nil
				}
				d := int64(-1)
				err := f.body.each(func(f field) error {
					if f.number == 1 && f.wire == 0 && int64(f.value) > 0 {
						d = int64(f.value)
					}
					return nil
				})
				p.Shape = append(p.Shape, d)
				return err
			})
		}
		return nil
	})
}
