package onnx

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
)

// graph is what an .onnx file says of itself. It is read from the file rather
// than asked of the runtime, which would load the network twice, and so that a
// file cut short is told from a network that the runtime does not know.
//
// The field numbers are those of onnx.proto3 (ModelProto, GraphProto,
// ValueInfoProto, TypeProto, TensorShapeProto, StringStringEntryProto).
type graph struct {
	inputs, outputs []port
	metadata        map[string]string
	size            int64 // of the file in bytes
}

// port is one input or output of a network.
type port struct {
	name  string
	elem  elem
	shape []int64 // -1 is open
}

var errTruncated = errors.New("ends before its time")

func readGraph(c Config) (*graph, error) {
	fail := func(reason string, err error) error {
		return &ModelError{Path: c.Model, Reason: reason, Err: err}
	}
	var r io.ReaderAt = bytes.NewReader(c.ModelData)
	size := int64(len(c.ModelData))
	if c.ModelData == nil {
		f, err := os.Open(c.Model)
		if err != nil {
			return nil, fail("cannot be read", err)
		}
		defer f.Close()
		st, err := f.Stat()
		if err != nil {
			return nil, fail("cannot be read", err)
		}
		if !st.Mode().IsRegular() {
			return nil, fail("is not a file", nil)
		}
		r, size = f, st.Size()
	}
	g, err := parseModel(message{r: r, end: size})
	switch {
	case errors.Is(err, errTruncated):
		return nil, fail("is truncated or corrupt", err)
	case err != nil:
		return nil, fail("is not an ONNX network", err)
	}
	g.size = size
	return g, nil
}

// message is a protobuf message within r, read field by field.
type message struct {
	r        io.ReaderAt
	off, end int64
}

// field is one field of a message: body holds it when it is length-delimited,
// value when it is a varint.
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
		return 0, errTruncated
	}
	if n <= 0 {
		return 0, fmt.Errorf("read number at byte %d: %w", m.off, errors.Join(err, errTruncated))
	}
	m.off += int64(n)
	return v, nil
}

// next reads one field; io.EOF is the end of the message.
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
		return f, errTruncated
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

// maxText bounds the names and metadata that are read: 1 MB.
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

// only returns the text of field number in m.
func (m message) only(number int) (s string, err error) {
	err = m.each(func(f field) error {
		if f.number == number && f.wire == 2 {
			s, err = f.body.text()
		}
		return err
	})
	return s, err
}

func parseModel(m message) (*graph, error) {
	g := &graph{metadata: map[string]string{}}
	found := false
	err := m.each(func(f field) error {
		switch {
		case f.number == 7 && f.wire == 2:
			found = true
			return g.parse(f.body)
		case f.number == 14 && f.wire == 2:
			k, err := f.body.only(1)
			if err != nil {
				return err
			}
			v, err := f.body.only(2)
			g.metadata[k] = v
			return err
		}
		return nil
	})
	if err == nil && !found {
		err = errors.New("it has no graph")
	}
	return g, err
}

// parse reads the graph's inputs, those that have an initial value left out,
// and outputs.
func (g *graph) parse(m message) error {
	constant := map[string]bool{}
	err := m.each(func(f field) error {
		if f.wire != 2 {
			return nil
		}
		switch f.number {
		case 5:
			name, err := f.body.only(8)
			constant[name] = true
			return err
		case 11, 12:
			p, err := parsePort(f.body)
			if f.number == 11 {
				g.inputs = append(g.inputs, p)
			} else {
				g.outputs = append(g.outputs, p)
			}
			return err
		}
		return nil
	})
	kept := g.inputs[:0]
	for _, p := range g.inputs {
		if !constant[p.name] {
			kept = append(kept, p)
		}
	}
	g.inputs = kept
	return err
}

func parsePort(m message) (port, error) {
	var p port
	err := m.each(func(f field) (err error) {
		switch {
		case f.number == 1 && f.wire == 2:
			p.name, err = f.body.text()
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

func (p *port) parseTensor(m message) error {
	return m.each(func(f field) error {
		switch {
		case f.number == 1 && f.wire == 0:
			p.elem = elem(f.value)
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
				p.shape = append(p.shape, d)
				return err
			})
		}
		return nil
	})
}
