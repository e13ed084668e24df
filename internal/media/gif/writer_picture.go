package gif

import (
	"bytes"
	"image"

	"github.com/bgremove/bgremove/internal/buffer"
)

// picture is one frame on its way into the file. Its planes cover the canvas.
type picture struct {
	index   []uint8      // indexes to write; transparent leaves a pixel unchanged
	alt     []uint8      // an index that shows the same
	lossy   *lossyPixels // nil = lossless
	palette *palette
	local   bool // palette is not the global one
	changed image.Rectangle

	delay   int // centiseconds
	erase   bool
	area    image.Rectangle // the written area
	prefix  []byte          // what precedes the frame in the file
	encoded []byte
	done    chan struct{} // holds a token when encoded is ready
}

func newPicture(width, height int, lossy bool) *picture {
	p := &picture{
		index: make([]uint8, width*height),
		alt:   make([]uint8, width*height),
		done:  make(chan struct{}, 1),
	}
	if lossy {
		p.lossy = &lossyPixels{colour: make([]uint32, width*height), maxError: make([]uint16, width*height)}
	}
	return p
}

// blank makes p a frame that changes nothing.
func (p *picture) blank() {
	none := p.palette.transparent
	for i := range p.index {
		p.index[i], p.alt[i] = none, none
	}
	p.changed = image.Rectangle{}
}

// finish fixes the rectangle and the disposal, once the next frame's erased
// pixels are known.
func (p *picture) finish(vanishing image.Rectangle) {
	p.erase = !vanishing.Empty()
	p.area = p.changed.Union(vanishing)
	if p.area.Empty() {
		p.area = image.Rect(0, 0, 1, 1)
	}
}

// packer compresses pictures; it holds the scratch memory of one worker.
type packer struct {
	width int // of the canvas
	lzw   lzwEncoder
	px    lzwPixels
	lossy lossyPixels
}

// pack fills p.encoded.
func (k *packer) pack(p *picture) {
	k.crop(p)
	disposal := byte(disposeKeep)
	if p.erase {
		disposal = disposeClear
	}
	none := p.palette.transparent
	// Around a picture that does not cover the canvas some decoders show the
	// background colour, unless the picture says that it has transparency.
	covers := len(k.px.index) == len(p.index)
	seeThrough := p.erase || !covers || bytes.IndexByte(k.px.index, none) >= 0
	var local *palette
	if p.local {
		local = p.palette
	}
	out := append(p.encoded[:0], p.prefix...)
	out = appendControl(out, uint16(p.delay), disposal, seeThrough, none)
	out = appendDescriptor(out, p.area, local)
	p.encoded = k.lzw.encode(out, &k.px)
}

// crop copies the picture's area into rows without gaps.
func (k *packer) crop(p *picture) {
	n := p.area.Dx() * p.area.Dy()
	px := &k.px
	px.size = p.palette.size()
	px.index, px.alt = buffer.Sized(px.index, n), buffer.Sized(px.alt, n)
	cropPlane(px.index, p.index, k.width, p.area)
	cropPlane(px.alt, p.alt, k.width, p.area)
	px.lossy = nil
	if l := p.lossy; l != nil {
		px.lossy = &k.lossy
		k.lossy.reward, k.lossy.palette, k.lossy.near = l.reward, p.palette.colours, p.palette.near
		k.lossy.maxError, k.lossy.colour = buffer.Sized(k.lossy.maxError, n), buffer.Sized(k.lossy.colour, n)
		cropPlane(k.lossy.maxError, l.maxError, k.width, p.area)
		cropPlane(k.lossy.colour, l.colour, k.width, p.area)
	}
}

// cropPlane copies the area of a plane that is width wide.
func cropPlane[T any](dst, plane []T, width int, area image.Rectangle) {
	for y := area.Min.Y; y < area.Max.Y; y++ {
		n := copy(dst, plane[y*width+area.Min.X:y*width+area.Max.X])
		dst = dst[n:]
	}
}
