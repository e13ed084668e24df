package yuv

import (
	"encoding/binary"
	"image"
	"math"
)

// StackedEncoder makes Y'CbCr of twice the height: the colours, and below them the
// matte in grey, with black for none and white for full. It is safe for concurrent
// use.
type StackedEncoder struct {
	colours *Encoder
	layout  Layout     // of both halves
	luma    [256]uint8 // of alpha
	opaque  bool
}

// NewStackedEncoder returns an encoder of pictures of l, which has even sides. If l
// has no alpha, the matte is white.
func NewStackedEncoder(c Coding, l Layout) *StackedEncoder {
	e := &StackedEncoder{
		colours: NewEncoder(c, Layout{Width: l.Width, Height: l.Height}),
		layout:  Layout{Width: l.Width, Height: 2 * l.Height},
		opaque:  !l.Alpha,
	}
	black, steps, _ := c.scale()
	for alpha := range e.luma {
		e.luma[alpha] = uint8(float64(black) + steps*float64(alpha) + 0.5)
	}
	return e
}

// Bytes is the size of a picture.
func (e *StackedEncoder) Bytes() int { return e.layout.Bytes() }

// Encode is Encoder.Encode.
func (e *StackedEncoder) Encode(picture []uint8, src *image.NRGBA) {
	y, cb, cr, _ := e.layout.planes(picture)
	e.colours.encode(y[:len(y)/2], cb[:len(cb)/2], cr[:len(cr)/2], nil, src)
	e.encodeMatte(y[len(y)/2:], src)
	for _, plane := range [][]uint8{cb, cr} {
		fill(plane[len(plane)/2:], Grey)
	}
}

// encodeMatte sets the luma of the lower half.
func (e *StackedEncoder) encodeMatte(matte []uint8, src *image.NRGBA) {
	if e.opaque {
		fill(matte, e.luma[255])
		return
	}
	alphaRow(matte, src.Pix)
	none, full := eight*uint64(e.luma[0]), eight*uint64(e.luma[255])
	i := 0
	for ; i+8 <= len(matte); i += 8 {
		p := matte[i : i+8 : i+8]
		switch binary.LittleEndian.Uint64(p) {
		case 0:
			binary.LittleEndian.PutUint64(p, none)
		case math.MaxUint64:
			binary.LittleEndian.PutUint64(p, full)
		default:
			for k, alpha := range p {
				p[k] = e.luma[alpha]
			}
		}
	}
	for ; i < len(matte); i++ {
		matte[i] = e.luma[matte[i]]
	}
}

// eight repeats a byte eight times, as a factor.
const eight = 0x0101010101010101

// fill sets all of p, by doubling what is set.
func fill(p []uint8, v uint8) {
	p[0] = v
	for n := 1; n < len(p); n *= 2 {
		copy(p[n:], p[:n])
	}
}
