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
	alphaThreshold = 128
	edgeThreshold  = 32
)

// Survey examines the pictures of a clip before they are written. One palette
// can then suit all of them, and noise can be distinguished from change. The
// zero value is ready to use. It is for one goroutine.
type Survey struct {
	hist quant.Histogram
	soft map[uint32]uint64 // partly transparent colours, 4 bits a channel

	row    int // first one to count in the next large picture
	sample []uint32
	size   image.Point
	change [maxChange + 1]uint64 // squared changes of pixels from picture to picture
	// drawn counts the samples that must be redrawn, solid all opaque ones.
	drawn, solid uint64
}

const (
	largePicture = 1 << 18 // bytes of a picture that need not be counted in full
	rowStep      = 3       // rows from one that is counted there to the next
	sampleGap    = 13      // pixels between two that are watched for change
	maxChange    = 64      // a change of this size or more is not noise
)

// Add looks at a picture that is to be written. Its rows must be contiguous.
// It does not keep the picture.
func (c *Survey) Add(img *image.NRGBA) {
	if len(img.Pix) < largePicture {
		c.hist.AddPix(img.Pix)
	} else {
		c.hist.Notice(img.Pix)
		for y := c.row; y < img.Rect.Dy(); y += rowStep {
			c.hist.Count(img.Pix[y*img.Stride:][:4*img.Rect.Dx()])
		}
		c.row = (c.row + 1) % rowStep
	}
	c.addSoft(img.Pix)
	c.countChanges(img)
}

// countChanges records how much some of the pixels change, and how many must be
// redrawn: those that change, and about all of them if something vanishes.
func (c *Survey) countChanges(img *image.NRGBA) {
	if n := len(img.Pix)/(4*sampleGap) + 1; len(c.sample) != n || c.size != img.Rect.Size() {
		c.sample, c.size = make([]uint32, n), img.Rect.Size()
	}
	solid, changed, vanished := uint64(0), uint64(0), false
	for i := range c.sample {
		at := 4 * sampleGap * i
		if at >= len(img.Pix) {
			break
		}
		p, before := binary.LittleEndian.Uint32(img.Pix[at:]), c.sample[i]
		c.sample[i] = p
		switch {
		case p >= opaque && before >= opaque:
			d := min(squaredPacked(p, before), maxChange)
			c.change[d]++
			changed += uint64(d / maxChange)
		case before >= opaque:
			vanished = true
		}
		if p >= opaque {
			solid++
		}
	}
	if vanished {
		changed = solid
	}
	c.solid += solid
	c.drawn += changed
}

// redrawn is the average share of opaque pixels, 0 to 1, that a picture
// redraws.
func (c *Survey) redrawn() float64 { return float64(c.drawn) / float64(max(c.solid, 1)) }

// noise returns the squared change that the stiller part of the pixels, two
// fifths, do not exceed from picture to picture; maxChange if nothing is
// known.
func (c *Survey) noise() int {
	total := uint64(0)
	for _, n := range c.change {
		total += n
	}
	if total == 0 {
		return maxChange
	}
	sum := uint64(0)
	for d, n := range c.change {
		if sum += n; 5*sum >= 2*total {
			return d
		}
	}
	return maxChange
}

// addSoft counts the partly transparent pixels. They lie along edges; in large
// pictures a sample of them is enough.
func (c *Survey) addSoft(pix []uint8) {
	step := 1
	if len(pix) > largePicture {
		step = 5
	}
	for i := 0; i+4 <= len(pix); i += 4 * step {
		if a := pix[i+3]; a < edgeThreshold || a == 255 {
			continue
		}
		if c.soft == nil {
			c.soft = make(map[uint32]uint64)
		}
		c.soft[binary.LittleEndian.Uint32(pix[i:])&0xf0f0f0f0] += uint64(step)
	}
}

func (c *Survey) reset() {
	c.hist.Reset()
	clear(c.soft)
}

// palette returns at most n colours for the clip, edges blended on edge unless
// that is nil, and their mean squared error. See quant.Histogram.Palette for
// lambda.
func (c *Survey) palette(n int, lambda float64, edge *color.NRGBA) ([]quant.RGB, float64) {
	if edge == nil {
		return c.hist.Palette(n, lambda)
	}
	h := c.hist.Clone()
	h.Add(quant.RGB{R: edge.R, G: edge.G, B: edge.B}, 1)
	for p, count := range c.soft {
		b := blend(p|0x08080808, *edge)
		h.Add(quant.RGB{R: uint8(b), G: uint8(b >> 8), B: uint8(b >> 16)}, count)
	}
	return h.Palette(n, lambda)
}

// blend puts the straight colour p, packed R | G<<8 | B<<16 | A<<24, on an
// opaque one.
func blend(p uint32, on color.NRGBA) uint32 {
	a := p >> 24
	mix := func(c uint32, o uint8) uint32 { return ((c&255)*a + uint32(o)*(255-a) + 127) / 255 }
	return mix(p, on.R) | mix(p>>8, on.G)<<8 | mix(p>>16, on.B)<<16 | opaque
}
