package gif

import (
	"encoding/binary"
	"image"
	"image/color"

	"github.com/bgremove/bgremove/internal/quant"
)

// Pixels at least that opaque become opaque; with an edge colour to blend on,
// softer ones do too.
const (
	cutHard = 128
	cutEdge = 32
)

// Census counts the colours of a clip before it is written, so that one
// palette can suit all of its frames. The zero value is ready to use. It is
// for one goroutine.
type Census struct {
	hist quant.Histogram
	soft map[uint32]uint64 // partly transparent colours, 4 bits a channel
}

// Add counts the pixels of a picture that is to be written. Its rows must be
// contiguous. It does not keep the picture.
func (c *Census) Add(img *image.NRGBA) {
	c.hist.AddPix(img.Pix)
	c.addSoft(img.Pix)
}

// addSoft counts the partly transparent pixels. They lie along edges; in large
// pictures some of them tell all.
func (c *Census) addSoft(pix []uint8) {
	step := 1
	if len(pix) > 1<<16 {
		step = 3
	}
	for i := 0; i+4 <= len(pix); i += 4 * step {
		if a := pix[i+3]; a < cutEdge || a == 255 {
			continue
		}
		if c.soft == nil {
			c.soft = make(map[uint32]uint64)
		}
		c.soft[binary.LittleEndian.Uint32(pix[i:])&0xf0f0f0f0] += uint64(step)
	}
}

func (c *Census) reset() {
	c.hist.Reset()
	clear(c.soft)
}

// palette returns at most n colours for the clip, edges blended on edge unless
// that is nil, and their mean squared error.
func (c *Census) palette(n int, edge *color.NRGBA) ([]quant.RGB, float64) {
	if edge == nil {
		return c.hist.Palette(n)
	}
	h := c.hist.Clone()
	h.Add(quant.RGB{R: edge.R, G: edge.G, B: edge.B}, 1)
	for p, count := range c.soft {
		b := blend(p|0x08080808, *edge)
		h.Add(quant.RGB{R: uint8(b), G: uint8(b >> 8), B: uint8(b >> 16)}, count)
	}
	return h.Palette(n)
}

// blend puts the straight colour p, packed R | G<<8 | B<<16 | A<<24, on an
// opaque one.
func blend(p uint32, on color.NRGBA) uint32 {
	a := p >> 24
	mix := func(c uint32, o uint8) uint32 { return ((c&255)*a + uint32(o)*(255-a) + 127) / 255 }
	return mix(p, on.R) | mix(p>>8, on.G)<<8 | mix(p>>16, on.B)<<16 | opaque
}
