package subject

import (
	"encoding/binary"
	"math"

	"github.com/bgremove/bgremove/internal/matte/motion"
)

// record is what is kept of a frame: its sample, except for what only leads back,
// and the sums of motion so far.
type record struct {
	matte, moving, seen     []float32
	movedBefore, seenBefore []float32
	forward                 motion.Field
	trust                   []float32 // ahead of the sample
}

const (
	// step is the precision of a field in the record, of a cell, and farthest its bound.
	step, farthest = 1.0 / 64, math.MaxInt16
	// doubling is by how many units of a byte a sum of frames seen doubles.
	doubling = 16
)

// planes are a record's parts: bytes of matte, moving, seen, mean motion, frames seen and
// trust, then the field as differences along rows, high and low bytes apart, which
// compress better.
const planes = 10

// write appends the record of a sample.
func (c *Clip) write(s *sample) error {
	n := len(s.matte)
	buf := make([]byte, planes*n)
	part := func(i int) []byte { return buf[i*n : (i+1)*n] }
	for i, p := range [][]float32{s.matte, s.moving, s.seen} {
		pack(part(i), p)
	}
	for i, seen := range c.tracks.seen {
		part(3)[i] = round(c.tracks.moved[i] / max(seen, 1e-6))
		part(4)[i] = logarithm(seen)
	}
	pack(part(5), s.ahead)
	for k, p := range [][]float32{s.forward.X, s.forward.Y} {
		high, low := part(6+2*k), part(7+2*k)
		before := int16(0)
		for i, v := range p {
			q := int16(max(min(v/step, farthest), -farthest))
			d := uint16(q - before)
			high[i], low[i], before = uint8(d>>8), uint8(d), q
		}
	}
	return c.frames.Append(buf)
}

// read is the record of frame i.
func (c *Clip) read(i int, r *record) error {
	n := c.grid.X * c.grid.Y
	buf := make([]byte, planes*n)
	if err := c.frames.Read(i, buf); err != nil {
		return err
	}
	part := func(i int) []byte { return buf[i*n : (i+1)*n] }
	for i, p := range []*[]float32{&r.matte, &r.moving, &r.seen} {
		*p = unpack(part(i))
	}
	r.movedBefore, r.seenBefore, r.trust = unpack(part(3)), make([]float32, n), unpack(part(5))
	for i, v := range part(4) {
		r.seenBefore[i] = frames[v]
		r.movedBefore[i] *= frames[v]
	}
	r.forward.Set(c.grid.X, c.grid.Y)
	for k, p := range [][]float32{r.forward.X, r.forward.Y} {
		high, low := part(6+2*k), part(7+2*k)
		q := int16(0)
		for i := range p {
			q += int16(binary.BigEndian.Uint16([]byte{high[i], low[i]}))
			p[i] = float32(q) * step
		}
	}
	return nil
}

// logarithm is the byte for a number of frames.
func logarithm(frames float32) uint8 {
	return uint8(min(doubling*math.Log2(1+float64(frames))+0.5, 255))
}

// frames is the number of frames seen that a byte stands for.
var frames = func() (t [256]float32) {
	for i := range t {
		t[i] = float32(math.Exp2(float64(i)/doubling) - 1)
	}
	return t
}()

func round(v float32) uint8 { return uint8(min(max(v, 0), 1)*255 + 0.5) }

func pack(dst []byte, v []float32) {
	for i, a := range v {
		dst[i] = round(a)
	}
}

func unpack(b []byte) []float32 {
	v := make([]float32, len(b))
	for i, a := range b {
		v[i] = float32(a) / 255
	}
	return v
}
