package yuv

import "image"

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
	matte := y[len(y)/2:]
	for i := range matte {
		alpha := src.Pix[4*i+3]
		if e.opaque {
			alpha = 255
		}
		matte[i] = e.luma[alpha]
	}
	for _, plane := range [][]uint8{cb, cr} {
		below := plane[len(plane)/2:]
		for i := range below {
			below[i] = Grey
		}
	}
}
