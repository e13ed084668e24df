package ffmpeg

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/bgremove/bgremove/internal/media"
)

// nutReader reads the one raw video stream of a NUT file, as ffmpeg's muxer
// writes it to a pipe. Format: "NUT Open Container Format", 2013-10 draft
// (ffmpeg's nut.txt), sections 3 (structure) and 4.2 (timestamps). Checksums
// are skipped: the pipe is local.
type nutReader struct {
	r        *bufio.Reader
	size     int // of a frame, in bytes
	bases    []media.Rational
	codes    [256]nutCode
	base     media.Rational // of the stream
	width    int
	height   int
	ptsShift uint
	lastPTS  int64
}

// nutCode is one entry of the frame code table: the meaning of a frame's first
// byte.
type nutCode struct {
	flags    uint64
	ptsDelta int64
	sizeMul  uint64
	sizeLSB  uint64
	reserved uint64
}

const (
	nutID = "nut/multimedia container\x00"

	nutMain      = 0x4E4D7A561F5F04AD
	nutStream    = 0x4E5311405BF2F9DB
	nutSyncpoint = 0x4E4BE4ADEECA4569

	nutCodedPTS  = 1 << 3
	nutStreamID  = 1 << 4
	nutSizeMSB   = 1 << 5
	nutChecksum  = 1 << 6
	nutReserved  = 1 << 7
	nutSideData  = 1 << 8
	nutHeaderIdx = 1 << 10
	nutMatchTime = 1 << 11
	nutCoded     = 1 << 12
	nutInvalid   = 1 << 13

	nutMaxHeader = 1 << 20 // bytes; the real ones have a few hundred
)

var errNUT = errors.New("malformed NUT stream")

// newNUTReader reads up to the first frame's syncpoint: afterwards width,
// height and base are known. A frame has size bytes.
func newNUTReader(r io.Reader, size int) (*nutReader, error) {
	n := &nutReader{r: bufio.NewReaderSize(r, 64<<10), size: size}
	id := make([]byte, len(nutID))
	if _, err := io.ReadFull(n.r, id); err != nil {
		return nil, err
	}
	if string(id) != nutID {
		return nil, fmt.Errorf("%w: no file id", errNUT)
	}
	for n.width == 0 {
		if err := n.packet(); err != nil {
			return nil, err
		}
	}
	return n, nil
}

// next reads up to the next frame's data, which read must be called for, and
// returns its time in units of base. It returns io.EOF after the last.
func (n *nutReader) next() (pts int64, err error) {
	for {
		b, err := n.r.Peek(1)
		if err != nil {
			return 0, err
		}
		if b[0] != 'N' {
			return n.frame()
		}
		if err := n.packet(); err != nil {
			return 0, unexpected(err)
		}
	}
}

// read reads the frame's data, of size bytes.
func (n *nutReader) read(data []uint8) error {
	_, err := io.ReadFull(n.r, data)
	return unexpected(err)
}

// packet reads one packet that starts with a startcode: headers and
// syncpoints are taken in, all others skipped.
func (n *nutReader) packet() error {
	var code uint64
	if err := binary.Read(n.r, binary.BigEndian, &code); err != nil {
		return err
	}
	size, err := n.vlc()
	if err != nil {
		return err
	}
	if size < 4 || size > nutMaxHeader {
		return fmt.Errorf("%w: packet of %d bytes", errNUT, size)
	}
	if size > 4096 {
		if _, err := n.r.Discard(4); err != nil {
			return err
		}
	}
	body := make([]byte, size)
	if _, err := io.ReadFull(n.r, body); err != nil {
		return err
	}
	p := &nutFields{b: body[:size-4]}
	switch code {
	case nutMain:
		n.main(p)
	case nutStream:
		n.stream(p)
	case nutSyncpoint:
		n.syncpoint(p)
	}
	return p.err
}

// main reads the main header: time bases and the frame code table (3.2).
func (n *nutReader) main(p *nutFields) {
	if version := p.v(); version > 3 {
		p.v() // minor version
	}
	if streams := p.v(); streams != 1 {
		p.fail("%d streams", streams)
	}
	p.v() // max_distance
	for range p.count(16) {
		n.bases = append(n.bases, media.Rational{Num: int64(p.v()), Den: int64(p.v())})
	}
	var c nutCode
	c.sizeMul = 1
	for i := 0; i < 256 && p.err == nil; {
		c.flags = p.v()
		fields := p.v()
		c.sizeLSB, c.reserved = 0, 0
		if fields > 0 {
			c.ptsDelta = p.s()
		}
		if fields > 1 {
			c.sizeMul = p.v()
		}
		if fields > 2 {
			p.v() // stream id
		}
		if fields > 3 {
			c.sizeLSB = p.v()
		}
		if fields > 4 {
			c.reserved = p.v()
		}
		count := c.sizeMul - c.sizeLSB
		if fields > 5 {
			count = p.v()
		}
		for j := uint64(6); j < fields && p.err == nil; j++ {
			p.v() // match time, header index, and what later versions add
		}
		for j := uint64(0); j < count && i < 256; i++ {
			if i == 'N' {
				n.codes[i].flags = nutInvalid
				continue
			}
			n.codes[i] = c
			n.codes[i].sizeLSB = c.sizeLSB + j
			j++
		}
		if count == 0 {
			p.fail("empty run in the frame code table")
		}
	}
}

// stream reads the stream header (3.3).
func (n *nutReader) stream(p *nutFields) {
	p.v() // stream id
	if class := p.v(); class != 0 {
		p.fail("stream of class %d", class)
	}
	p.skip(p.v()) // fourcc
	base := p.v()
	n.ptsShift = uint(p.v())
	for range 3 {
		p.v() // max_pts_distance, decode_delay, stream_flags
	}
	p.skip(p.v()) // codec specific data
	n.width, n.height = int(p.v()), int(p.v())
	if p.err != nil {
		return
	}
	switch {
	case base >= uint64(len(n.bases)):
		p.fail("time base %d of %d", base, len(n.bases))
	case n.ptsShift > 40:
		p.fail("msb_pts_shift %d", n.ptsShift)
	case n.width < 1 || n.height < 1 || n.width > 1<<16 || n.height > 1<<16:
		p.fail("picture of %d×%d", n.width, n.height)
	default:
		n.base = n.bases[base]
		if n.base.Num < 1 || n.base.Den < 1 {
			p.fail("time base %d/%d", n.base.Num, n.base.Den)
		}
	}
}

// syncpoint sets the reference of coded timestamps (3.4).
func (n *nutReader) syncpoint(p *nutFields) {
	key := p.v()
	if p.err != nil || len(n.bases) == 0 || n.base.Den == 0 {
		p.fail("syncpoint before headers")
		return
	}
	from := n.bases[key%uint64(len(n.bases))]
	t := int64(key / uint64(len(n.bases)))
	n.lastPTS = rescale(t, from, n.base)
}

// frame reads one frame header (3.5).
func (n *nutReader) frame() (int64, error) {
	first, err := n.r.ReadByte()
	if err != nil {
		return 0, err
	}
	c := n.codes[first]
	if n.base.Den == 0 || c.flags&nutInvalid != 0 {
		return 0, fmt.Errorf("%w: frame code %d", errNUT, first)
	}
	h := &nutHeader{r: n}
	if c.flags&nutCoded != 0 {
		c.flags ^= h.v()
	}
	if c.flags&nutStreamID != 0 {
		h.v()
	}
	if c.flags&nutCodedPTS != 0 {
		n.lastPTS = n.pts(h.v())
	} else {
		n.lastPTS += c.ptsDelta
	}
	size := c.sizeLSB
	if c.flags&nutSizeMSB != 0 {
		size += h.v() * c.sizeMul
	}
	if c.flags&nutMatchTime != 0 {
		h.v()
	}
	if c.flags&nutHeaderIdx != 0 {
		h.v()
	}
	if c.flags&nutReserved != 0 {
		c.reserved = h.v()
	}
	for i := uint64(0); i < c.reserved && h.err == nil; i++ {
		h.v()
	}
	if c.flags&nutChecksum != 0 && h.err == nil {
		_, h.err = n.r.Discard(4)
	}
	if h.err != nil {
		return 0, unexpected(h.err)
	}
	if want := uint64(n.size); size != want || c.flags&nutSideData != 0 {
		return 0, fmt.Errorf("%w: frame of %d bytes, not %d", errNUT, size, want)
	}
	return n.lastPTS, nil
}

// pts undoes the shortening of a coded timestamp: small values are the low
// bits of one near the last (4.2, lsb2full).
func (n *nutReader) pts(coded uint64) int64 {
	if mask := int64(1)<<n.ptsShift - 1; coded <= uint64(mask) {
		delta := n.lastPTS - mask/2
		return (int64(coded)-delta)&mask + delta
	}
	return int64(coded - 1<<n.ptsShift)
}
