package yuv

import (
	"encoding/binary"
	"image"
	"math"
)

// Decoder makes RGBA of Y'CbCr. It is safe for concurrent use.
type Decoder struct {
	layout Layout
	k      toRGB
}

// toRGB holds each factor eight times, for vectors. The product of a factor and
// a sample keeps bits 16 and up; fraction bits of it follow the point.
type toRGB struct {
	luma             [8]int16 // of (Y-black)·2⁷
	redCr, blueCb    [8]int16 // of (C-128)·2⁸
	greenCb, greenCr [8]int16
	black, rounding  [8]int16
}

const (
	fraction = 5
	// lumaBits and colourBits are how far samples are shifted before they are
	// multiplied: as far as 16 bits with a sign allow.
	lumaBits, colourBits = 7, 8
	// rounding is half of the sum's final loss, and one more for the average
	// loss of the products, each of which is rounded down.
	rounding = 1<<(fraction-1) + 1
)

// NewDecoder returns a Decoder of opaque pictures.
func NewDecoder(c Coding, width, height int) *Decoder {
	red, blue := c.Matrix.weights()
	green := 1 - red - blue
	black, lumaScale, colourScale := c.scale()
	luma := func(f float64) [8]int16 { return factor(f / lumaScale * (1 << (16 + fraction - lumaBits))) }
	colour := func(f float64) [8]int16 { return factor(f / colourScale * (1 << (16 + fraction - colourBits))) }
	return &Decoder{Layout{Width: width, Height: height}, toRGB{
		luma:     luma(1),
		redCr:    colour(2 * (1 - red)),
		blueCb:   colour(2 * (1 - blue)),
		greenCb:  colour(-2 * (1 - blue) * blue / green),
		greenCr:  colour(-2 * (1 - red) * red / green),
		black:    factor(float64(black << lumaBits)),
		rounding: factor(rounding),
	}}
}

func factor(f float64) (v [8]int16) {
	for i := range v {
		v[i] = int16(math.Round(f))
	}
	return v
}

// Bytes is the size of a picture.
func (d *Decoder) Bytes() int { return d.layout.Bytes() }

// Decode sets dst to picture, opaque. Both have the Decoder's size; dst has no
// gaps between its rows.
func (d *Decoder) Decode(dst *image.NRGBA, picture []uint8) {
	w, pairs := d.layout.Width, d.layout.colour().X
	y, cb, cr, _ := d.layout.planes(picture)
	for i := range d.layout.Height {
		d.k.row(line(dst.Pix, i, 4*w), line(y, i, w), line(cb, i/2, pairs), line(cr, i/2, pairs))
	}
}

// row converts one row.
func (k *toRGB) row(dst, y, cb, cr []uint8) {
	black, luma, redCr, blueCb := int32(k.black[0]), int32(k.luma[0]), int32(k.redCr[0]), int32(k.blueCb[0])
	greenCb, greenCr := int32(k.greenCb[0]), int32(k.greenCr[0])
	for x := k.blocks(dst, y, cb, cr); x < len(y); x += 2 {
		u, v := (int32(cb[x/2])-Grey)<<colourBits, (int32(cr[x/2])-Grey)<<colourBits
		r, g, b := v*redCr>>16, u*greenCb>>16+v*greenCr>>16, u*blueCb>>16
		for i := x; i < min(x+2, len(y)); i++ {
			l := (int32(y[i])<<lumaBits-black)*luma>>16 + rounding
			binary.LittleEndian.PutUint32(dst[4*i:], opaque((l+r)>>fraction, (l+g)>>fraction, (l+b)>>fraction))
		}
	}
}

// opaque returns the four bytes of a pixel with its components clamped to 0 to
// 255.
func opaque(r, g, b int32) uint32 {
	if uint32(r|g|b) > 255 {
		r, g, b = max(0, min(r, 255)), max(0, min(g, 255)), max(0, min(b, 255))
	}
	return uint32(r) | uint32(g)<<8 | uint32(b)<<16 | 0xff<<24
}
