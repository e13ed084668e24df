package heif

import (
	"encoding/binary"
	"errors"
	"io"
	"math"
)

// maxMeta bounds the box with the structure, in bytes. A picture of a few tiles needs
// some kilobytes.
const maxMeta = 4 << 20

// maxBoxes bounds the walk to that box, which is among the first.
const maxBoxes = 10_000

// find returns the content of the first box of a type in a file, and where it begins.
func find(r io.ReaderAt, size int64, kind string) (body []byte, at int64, err error) {
	for boxes := 0; at < size && boxes < maxBoxes; boxes++ {
		var head [16]byte
		n, err := r.ReadAt(head[:], at)
		if n < 8 {
			return nil, 0, orIncomplete(err)
		}
		length, start := int64(binary.BigEndian.Uint32(head[:])), int64(8)
		switch {
		case length == 0:
			length = size - at
		case length == 1 && n == 16:
			length, start = int64(min(binary.BigEndian.Uint64(head[8:]), math.MaxInt64)), 16
		}
		switch {
		case length < start:
			return nil, 0, damaged("a box is smaller than its head")
		case length > size-at:
			return nil, 0, incomplete
		case string(head[4:8]) != kind:
			at += length
			continue
		case length > maxMeta:
			return nil, 0, damaged("its structure is too large")
		}
		body = make([]byte, length-start)
		if n, err := r.ReadAt(body, at+start); n < len(body) {
			return nil, 0, orIncomplete(err)
		}
		return body, at + start, nil
	}
	return nil, 0, damaged("it has no box " + kind)
}

// orIncomplete is the error of a read that got too little.
func orIncomplete(err error) error {
	if err == nil || errors.Is(err, io.EOF) {
		return incomplete
	}
	return err
}

// fields reads big-endian numbers. After the end they are 0, and short is true.
type fields struct {
	b     []byte
	at    int // offset of b in what was given first
	short bool
}

// uint reads a number of up to eight bytes.
func (f *fields) uint(size int) (n uint64) {
	for _, v := range f.bytes(size) {
		n = n<<8 | uint64(v)
	}
	return n
}

func (f *fields) int(size int) int { return int(f.uint(size)) }

func (f *fields) bytes(n int) []byte {
	if n > len(f.b) {
		f.short, f.b = true, nil
		return nil
	}
	b := f.b[:n]
	f.b, f.at = f.b[n:], f.at+n
	return b
}

// version reads the version and the flags of a full box.
func (f *fields) version() (version, flags int) {
	n := f.int(4)
	return n >> 24, n & 0xFFFFFF
}

// id reads the number of an item.
func (f *fields) id(wide bool) int {
	if wide {
		return f.int(4)
	}
	return f.int(2)
}

// child is a box inside another.
type child struct {
	kind string
	body []byte
	at   int // offset of the body in its parent
}

// children reads the boxes of the rest.
func (f *fields) children() (all []child, err error) {
	for len(f.b) > 0 {
		size, kind := f.int(4), string(f.bytes(4))
		switch {
		case size == 0:
			size = len(f.b) + 8
		case size < 8:
			return nil, damaged("a box is smaller than its head")
		}
		c := child{kind: kind, at: f.at}
		c.body = f.bytes(size - 8)
		if f.short {
			return nil, damaged("a box is larger than its parent")
		}
		all = append(all, c)
	}
	return all, nil
}
