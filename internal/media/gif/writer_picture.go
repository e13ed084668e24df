package gif

import (
	"bytes"
	"image"
	"slices"

	"github.com/bgremove/bgremove/internal/media"
)

// picture is one frame on its way into the file. Its planes cover the canvas.
type picture struct {
	index   []uint8  // what to write; transparent = leave as it is
	alt     []uint8  // an index that shows the same
	most    []uint16 // see lossyPixels; nil = lossless
	reward  int
	img     *image.NRGBA
	palette *palette
	local   bool // palette is not the global one
	changed image.Rectangle

	delay   int // centiseconds
	erase   bool
	area    image.Rectangle // what is written
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
		p.most = make([]uint16, width*height)
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

// finish fixes the rectangle and the disposal, once it is known what the next
// frame needs erased.
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
	pool  *media.Pool
	lzw   lzwEncoder
	px    lzwPixels
	lossy lossyPixels
}

// pack fills p.encoded and gives up p.img.
func (k *packer) pack(p *picture) {
	k.crop(p)
	disposal := byte(disposeKeep)
	if p.erase {
		disposal = disposeClear
	}
	none := p.palette.transparent
	clear := p.erase || bytes.IndexByte(k.px.index, none) >= 0
	var local *palette
	if p.local {
		local = p.palette
	}
	out := append(p.encoded[:0], p.prefix...)
	out = appendControl(out, uint16(p.delay), disposal, clear, none)
	out = appendDescriptor(out, p.area, local)
	p.encoded = k.lzw.encode(out, &k.px)
	if p.img != nil && k.pool != nil {
		k.pool.Put(p.img)
	}
	p.img = nil
}

// crop copies the picture's area into rows without gaps.
func (k *packer) crop(p *picture) {
	n := p.area.Dx() * p.area.Dy()
	px := &k.px
	px.size = p.palette.size()
	px.index, px.alt = resize(px.index, n), resize(px.alt, n)
	px.lossy = nil
	if p.most != nil && p.img != nil {
		px.lossy = &k.lossy
		k.lossy.reward, k.lossy.palette = p.reward, p.palette.colours
		k.lossy.most, k.lossy.colour = resize(k.lossy.most, n), resize(k.lossy.colour, n)
	}
	w := p.area.Dx()
	for y := range p.area.Dy() {
		from, to := (p.area.Min.Y+y)*k.width+p.area.Min.X, y*w
		copy(px.index[to:][:w], p.index[from:])
		copy(px.alt[to:][:w], p.alt[from:])
		if px.lossy == nil {
			continue
		}
		copy(k.lossy.most[to:][:w], p.most[from:])
		pix := p.img.Pix[(p.area.Min.Y+y)*p.img.Stride+4*p.area.Min.X:]
		for x := range k.lossy.colour[to:][:w] {
			k.lossy.colour[to+x] = uint32(pix[4*x]) | uint32(pix[4*x+1])<<8 | uint32(pix[4*x+2])<<16
		}
	}
}

func resize[T any](s []T, n int) []T { return slices.Grow(s[:0], n)[:n] }
