package ffmpeg

import (
	"errors"
	"fmt"
	"io"
	"math/bits"

	"github.com/bgremove/bgremove/internal/media"
)

// vlc reads a variable-length number from the stream itself.
func (n *nutReader) vlc() (uint64, error) {
	var v uint64
	for range 10 {
		b, err := n.r.ReadByte()
		if err != nil {
			return 0, err
		}
		v = v<<7 | uint64(b&0x7f)
		if b < 0x80 {
			return v, nil
		}
	}
	return 0, fmt.Errorf("%w: number too long", errNUT)
}

// nutHeader reads numbers and remembers the first error.
type nutHeader struct {
	r   *nutReader
	err error
}

func (h *nutHeader) v() (v uint64) {
	if h.err == nil {
		v, h.err = h.r.vlc()
	}
	return v
}

// nutFields reads the numbers of one packet and remembers the first error.
type nutFields struct {
	b   []byte
	err error
}

func (p *nutFields) fail(format string, args ...any) {
	if p.err == nil {
		p.err = fmt.Errorf("%w: %s", errNUT, fmt.Sprintf(format, args...))
	}
}

func (p *nutFields) v() (v uint64) {
	for i, b := range p.b {
		if v = v<<7 | uint64(b&0x7f); b < 0x80 {
			p.b = p.b[i+1:]
			return v
		}
	}
	p.fail("header ends early")
	p.b = nil
	return 0
}

// s reads a signed number: 0, 1, -1, 2, -2, …
func (p *nutFields) s() int64 {
	v := p.v() + 1
	if v&1 != 0 {
		return -int64(v >> 1)
	}
	return int64(v >> 1)
}

// count reads a number of items, at most limit.
func (p *nutFields) count(limit uint64) uint64 {
	n := p.v()
	if n > limit {
		p.fail("%d time bases", n)
		return 0
	}
	return n
}

func (p *nutFields) skip(n uint64) {
	if n > uint64(len(p.b)) {
		p.fail("header ends early")
		return
	}
	p.b = p.b[n:]
}

// rescale converts t from one time base to another, rounding to the nearest.
// Times that do not fit in 63 bits saturate.
func rescale(t int64, from, to media.Rational) int64 {
	neg := t < 0
	if neg {
		t = -t
	}
	num, den := uint64(from.Num*to.Den), uint64(from.Den*to.Num)
	hi, lo := bits.Mul64(uint64(t), num)
	lo, carry := bits.Add64(lo, den/2, 0)
	hi += carry
	q := uint64(1<<63 - 1)
	if den > 0 && hi < den {
		q, _ = bits.Div64(hi, lo, den)
	}
	q = min(q, 1<<63-1)
	if neg {
		return -int64(q)
	}
	return int64(q)
}

func unexpected(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}
