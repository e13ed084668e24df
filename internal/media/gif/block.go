package gif

import (
	"bufio"
	"errors"
	"fmt"
	"image"
	"io"
	"time"

	"github.com/bgremove/bgremove/internal/media"
)

const centisecond = 10 * time.Millisecond

type disposal uint8

const (
	disposeNone       disposal = 0
	disposeBackground disposal = 2
	disposePrevious   disposal = 3
)

// control is a graphic control extension; its zero value means none.
type control struct {
	delay       time.Duration // as written
	disposal    disposal
	transparent int // palette index plus one, 0 for none
}

// colourTable maps an index to R | G<<8 | B<<16 | A<<24. Entries the file does not
// give are 0, which is transparent.
type colourTable struct {
	packed [256]uint32
	size   int
}

// imageBlock is an image descriptor with what governs it.
type imageBlock struct {
	rect        image.Rectangle // on the canvas, may reach beyond it
	interlaced  bool
	codeSize    int
	colourTable *colourTable // as the file has it, transparent index not applied
	control     control
}

// opaque means that every pixel of the picture with a colour of the palette
// covers the pixels below.
func (p *imageBlock) opaque() bool {
	return p.colourTable.size > 0 && (p.control.transparent == 0 || p.control.transparent > p.colourTable.size)
}

// parser walks the blocks of a GIF. Scan and Reader both count its pictures.
//
// A picture counts when its data are terminated. A truncated one counts only if
// it is the first: browsers show the available part of a still, but never a
// part of a later frame. An empty picture ends the clip: its code size is out
// of range, or its data begin with an impossible code.
type parser struct {
	r      *bufio.Reader
	limits media.Limits
	offset int64
	buf    [3 * 256]byte

	width, height int
	global, local colourTable
	control       control
	current       imageBlock
	plays         int

	frames         int   // pictures that count
	pixels         int64 // charged against the limit
	begun          bool  // data of the current picture have been seen
	firstTruncated bool  // the first picture is truncated
	truncated      bool  // the file ends in the middle of something
	damaged        bool
}

// newParser reads the header up to the first block.
func newParser(r io.Reader, lim media.Limits) (*parser, error) {
	p := &parser{r: bufio.NewReaderSize(r, 1<<15), limits: lim, plays: 1}
	head, err := p.read(13, "header")
	if err != nil {
		return nil, err
	}
	if s := string(head[:6]); s != "GIF87a" && s != "GIF89a" {
		return nil, fmt.Errorf("%w: signature %q", ErrMalformed, s)
	}
	p.width, p.height = word(head[6:]), word(head[8:])
	if err := lim.CheckPicture(p.width, p.height); err != nil {
		return nil, err
	}
	return p, p.readPalette(&p.global, head[10])
}

// next moves on to the next picture, valid until the next call. io.EOF is
// the end of the clip.
func (p *parser) next() (*imageBlock, error) {
	if p.firstTruncated {
		return nil, io.EOF
	}
	pic, err := p.nextPicture()
	return pic, p.endIfDamaged(err)
}

// data returns the next block of the picture's data, valid until the next
// call, and nothing after the last; then the picture counts. io.EOF says that
// the picture does not count, and is the end of the clip.
func (p *parser) data(pic *imageBlock) ([]byte, error) {
	if p.firstTruncated {
		p.frames++
		return nil, nil
	}
	b, err := p.subBlock("picture data")
	p.truncated = p.truncated || errors.Is(err, io.ErrUnexpectedEOF)
	if errors.Is(err, io.ErrUnexpectedEOF) && p.frames == 0 && (p.begun || len(b) > 0) {
		p.firstTruncated, p.damaged, err = true, true, nil
	}
	if err != nil {
		return nil, p.endIfDamaged(err)
	}
	if len(b) == 0 {
		p.frames++
		return nil, nil
	}
	if !p.begun && !validStart(pic.codeSize, b) {
		return nil, p.endIfDamaged(p.malformed("picture data begin with an impossible code"))
	}
	p.begun = true
	return b, nil
}

// endIfDamaged turns damage after whole frames into the end of the clip.
func (p *parser) endIfDamaged(err error) error {
	if p.frames > 0 && errors.Is(err, ErrMalformed) {
		p.damaged = true
		return io.EOF
	}
	return err
}

func (p *parser) nextPicture() (*imageBlock, error) {
	for {
		label, err := p.read(1, "block")
		if err != nil {
			return nil, err
		}
		switch label[0] {
		case blockExtension:
			if err := p.extension(); err != nil {
				p.truncated = errors.Is(err, io.ErrUnexpectedEOF)
				return nil, err
			}
		case blockImage:
			pic, err := p.descriptor()
			p.truncated = errors.Is(err, io.ErrUnexpectedEOF)
			return pic, err
		case blockTrailer:
			if p.frames == 0 {
				return nil, ErrNoFrames
			}
			return nil, io.EOF
		default:
			return nil, p.malformed(fmt.Sprintf("unknown block 0x%02x", label[0]))
		}
	}
}

func (p *parser) descriptor() (*imageBlock, error) {
	b, err := p.read(9, "image descriptor")
	if err != nil {
		return nil, err
	}
	flags := b[8]
	pic := &p.current
	*pic = imageBlock{interlaced: flags&0x40 != 0, colourTable: &p.global, control: p.control}
	p.control = control{}
	empty, err := p.setRect(pic, word(b), word(b[2:]), word(b[4:]), word(b[6:]))
	if err != nil {
		return nil, err
	}
	p.begun = false
	err = p.pictureHead(pic, flags)
	if empty && p.frames == 0 && errors.Is(err, ErrMalformed) {
		// A picture without area needs no data; it is blank.
		pic.colourTable, pic.codeSize = &colourTable{}, minCodeSize
		p.firstTruncated, p.damaged, err = true, true, nil
	}
	return pic, err
}

// setRect sets the picture's rectangle and charges its area to the limits. The
// first picture can enlarge the canvas. One without area takes up the canvas,
// as in Chromium and Firefox; empty tells.
func (p *parser) setRect(pic *imageBlock, x, y, w, h int) (empty bool, err error) {
	if p.frames == 0 {
		p.width, p.height = enlarged(p.width, x, w), enlarged(p.height, y, h)
		if err := p.limits.CheckPicture(p.width, p.height); err != nil {
			return false, err
		}
	}
	if empty = w == 0 || h == 0; empty {
		w, h = p.width, p.height
	}
	if w == 0 || h == 0 {
		return false, p.malformed("canvas without area")
	}
	pic.rect = image.Rect(x, y, x+w, y+h)
	p.pixels += max(int64(p.width)*int64(p.height), int64(w)*int64(h))
	return empty, p.limits.CheckTotals(p.frames+1, p.pixels)
}

// enlarged is a canvas side, given the first picture's offset and side. As in
// Firefox a picture that would fit is clipped, not made room for; only a side
// that the header leaves open reaches to the picture's end.
func enlarged(side, offset, size int) int {
	if side == 0 && size > 0 {
		return min(offset+size, 1<<16-1)
	}
	return max(side, size)
}

// pictureHead reads what stands between descriptor and data.
func (p *parser) pictureHead(pic *imageBlock, flags byte) error {
	if flags&0x80 != 0 {
		pic.colourTable = &p.local
		if err := p.readPalette(&p.local, flags); err != nil {
			return err
		}
	}
	b, err := p.read(1, "code size")
	if err != nil {
		return err
	}
	if pic.codeSize = int(b[0]); pic.codeSize < minCodeSize || pic.codeSize > maxCodeSize {
		return p.malformed(fmt.Sprintf("code size %d", pic.codeSize))
	}
	return nil
}

func (p *parser) extension() error {
	label, err := p.read(1, "extension")
	if err != nil {
		return err
	}
	kind := label[0]
	looping := false
	for i := 0; ; i++ {
		b, err := p.subBlock("extension")
		if err != nil || len(b) == 0 {
			return err
		}
		switch {
		case kind == labelControl && i == 0 && len(b) >= 4:
			p.control = parseControl(b)
		case kind == labelApp && i == 0:
			looping = string(b) == "NETSCAPE2.0" || string(b) == "ANIMEXTS1.0"
		case looping && len(b) >= 3 && b[0]&7 == 1:
			p.plays = plays(word(b[1:]))
		}
	}
}

// plays turns the loop count of the Netscape extension, which says how often
// to repeat, into the number of plays.
func plays(loops int) int {
	if loops == 0 {
		return 0
	}
	return loops + 1
}

func parseControl(b []byte) control {
	c := control{delay: time.Duration(word(b[1:])) * centisecond}
	switch b[0] >> 2 & 7 {
	case 2:
		c.disposal = disposeBackground
	case 3, 4: // some encoders took the third bit for the value 3
		c.disposal = disposePrevious
	}
	if b[0]&1 != 0 {
		c.transparent = int(b[3]) + 1
	}
	return c
}

// readPalette reads the colour table described by flags.
func (p *parser) readPalette(pal *colourTable, flags byte) error {
	*pal = colourTable{}
	if flags&0x80 == 0 {
		return nil
	}
	size := 2 << (flags & 7)
	b, err := p.read(3*size, "colour table")
	if err != nil {
		return err
	}
	for i := range size {
		pal.packed[i] = uint32(b[3*i]) | uint32(b[3*i+1])<<8 | uint32(b[3*i+2])<<16 | 0xFF<<24
	}
	pal.size = size
	return nil
}

// subBlock returns the next data sub-block, empty for the terminator. If the
// file ends inside it, it returns the available bytes with the error.
func (p *parser) subBlock(what string) ([]byte, error) {
	n, err := p.read(1, what)
	if err != nil || n[0] == 0 {
		return nil, err
	}
	return p.read(int(n[0]), what)
}

// read reads n bytes, at most a full colour table, into the parser's buffer.
func (p *parser) read(n int, what string) ([]byte, error) {
	got, err := io.ReadFull(p.r, p.buf[:n])
	p.offset += int64(got)
	switch {
	case err == nil:
		return p.buf[:n], nil
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return p.buf[:got], fmt.Errorf("%w: %s ends at byte %d: %w", ErrMalformed, what, p.offset, io.ErrUnexpectedEOF)
	}
	return p.buf[:got], fmt.Errorf("reading gif: %w", err)
}

func (p *parser) malformed(what string) error {
	return fmt.Errorf("%w: %s before byte %d", ErrMalformed, what, p.offset)
}

func word(b []byte) int { return int(b[0]) | int(b[1])<<8 }
