package yuv

import (
	"encoding/binary"
	"image"
)

// Encoder makes Y'CbCr of RGBA. It is safe for concurrent use.
type Encoder struct {
	layout Layout
	k      toYUV
}

// toYUV holds factors four times, as vectors have them: of red and blue side
// by side, and of green beside that of alpha, which is 0. A factor is scaled by
// 2¹⁵.
type toYUV struct {
	luma, cb, cr                    mix
	lumaOffset, colourOffset, evens [4]uint32
}

// mix is the factors of one component.
type mix struct{ redBlue, green [8]int16 }

const (
	lumaShift = 15
	// colourShift also divides by four, because differences are sums of four
	// pixels.
	colourShift = lumaShift + 2
)

// NewEncoder returns an Encoder of pictures of the layout.
func NewEncoder(c Coding, l Layout) *Encoder {
	red, blue := c.Matrix.weights()
	green := 1 - red - blue
	black, luma, colour := c.scale()
	luma, colour = luma*(1<<lumaShift), colour*(1<<lumaShift)
	toCb, toCr := colour/2/(1-blue), colour/2/(1-red)
	return &Encoder{l, toYUV{
		luma:         newMix(luma*red, luma*green, luma*blue),
		cb:           newMix(-toCb*red, -toCb*green, toCb*(1-blue)),
		cr:           newMix(toCr*(1-red), -toCr*green, -toCr*blue),
		lumaOffset:   constant(uint32(black)<<lumaShift + 1<<(lumaShift-1)),
		colourOffset: constant(Grey<<colourShift + 1<<(colourShift-1)),
		evens:        constant(0x00ff00ff),
	}}
}

func newMix(red, green, blue float64) (m mix) {
	r, g, b := factor(red), factor(green), factor(blue)
	for i := 0; i < len(m.green); i += 2 {
		m.redBlue[i], m.redBlue[i+1], m.green[i] = r[0], b[0], g[0]
	}
	return m
}

func constant(v uint32) [4]uint32 { return [4]uint32{v, v, v, v} }

// Bytes is the size of a picture.
func (e *Encoder) Bytes() int { return e.layout.Bytes() }

// Encode sets picture, of Bytes, to src, which has the Encoder's size and no
// gaps between its rows. If the layout has no alpha, src's alpha is dropped.
func (e *Encoder) Encode(picture []uint8, src *image.NRGBA) {
	y, cb, cr, a := e.layout.planes(picture)
	e.encode(y, cb, cr, a, src)
}

// encode sets the planes; a is nil without alpha.
func (e *Encoder) encode(y, cb, cr, a []uint8, src *image.NRGBA) {
	w, h, pairs := e.layout.Width, e.layout.Height, e.layout.colour().X
	for top := 0; top < h; top += 2 {
		bottom := min(top+1, h-1) // with an odd number of rows, the last counts twice
		for i := top; i <= bottom; i++ {
			from := line(src.Pix, i, 4*w)
			e.k.lumaRow(line(y, i, w), from)
			if a != nil {
				alphaRow(line(a, i, w), from)
			}
		}
		e.k.colourRow(line(cb, top/2, pairs), line(cr, top/2, pairs), line(src.Pix, top, 4*w), line(src.Pix, bottom, 4*w))
	}
}

func (k *toYUV) lumaRow(y, src []uint8) {
	for x := k.lumaBlocks(y, src); x < len(y); x++ {
		p := src[4*x:][:4:4]
		y[x] = uint8((k.luma.component(int32(p[0]), int32(p[1]), int32(p[2])) + int32(k.lumaOffset[0])) >> lumaShift)
	}
}

func alphaRow(a, src []uint8) {
	for x := alphaBlocks(a, src); x < len(a); x++ {
		a[x] = src[4*x+3]
	}
}

// colourRow makes a row of differences from two rows of pixels. With an odd
// number, the last pixel counts twice.
func (k *toYUV) colourRow(cb, cr, upper, lower []uint8) {
	x := k.colourBlocks(cb, cr, upper, lower)
	for ; x < len(upper)/8; x++ {
		cb[x], cr[x] = k.colour(binary.LittleEndian.Uint64(upper[8*x:]), binary.LittleEndian.Uint64(lower[8*x:]))
	}
	if x < len(cb) {
		p, q := uint64(binary.LittleEndian.Uint32(upper[8*x:])), uint64(binary.LittleEndian.Uint32(lower[8*x:]))
		cb[x], cr[x] = k.colour(p|p<<32, q|q<<32)
	}
}

// colour is the differences of two pixels above two others.
func (k *toYUV) colour(p, q uint64) (cb, cr uint8) {
	const evens = 0x00ff00ff00ff00ff
	rb, ga := p&evens+q&evens, p>>8&evens+q>>8&evens
	rb, ga = rb+rb>>32, ga+ga>>32
	r, g, b, offset := int32(rb&0xffff), int32(ga&0xffff), int32(rb>>16&0xffff), int32(k.colourOffset[0])
	cb = uint8(min((k.cb.component(r, g, b)+offset)>>colourShift, 255))
	cr = uint8(min((k.cr.component(r, g, b)+offset)>>colourShift, 255))
	return cb, cr
}

// component is the component of a colour, without what rounds it.
func (m *mix) component(r, g, b int32) int32 {
	return r*int32(m.redBlue[0]) + g*int32(m.green[0]) + b*int32(m.redBlue[1])
}
