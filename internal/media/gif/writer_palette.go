package gif

import (
	"encoding/binary"
	"image"
	"math"
)

// A frame gets its own palette only if two things hold. The palette in use has
// at least lossFloor mean squared error on it, lossFactor times the error on
// its own pictures. The new palette would have less than ownFactor of that. It
// then stays in use until it fails the same test or the global one is as good
// again.
const (
	lossFloor  = 24.0
	lossFactor = 2.0
	ownFactor  = 0.6
	sampleStep = 7  // pixels between two that are measured
	retryAfter = 12 // frames after a palette of its own was not worth it
)

// paletteChoice keeps track of the palette in use.
type paletteChoice struct {
	screen *screen
	global *palette
	most   int    // colours of a palette
	survey Survey // of one frame
	wait   int
}

// choose returns the palette for img.
func (c *paletteChoice) choose(img *image.NRGBA) *palette {
	active := c.screen.palette
	loss := c.loss(img, active)
	if active != c.global {
		if g := c.loss(img, c.global); g <= max(loss, lossFloor) {
			return c.global
		}
	}
	if loss < lossFloor || loss < lossFactor*active.loss {
		c.wait = 0
		return active
	}
	if c.wait--; c.wait > 0 {
		return active
	}
	c.survey.reset()
	c.survey.Add(img)
	colours, least := c.survey.palette(c.most, c.screen.lambda, c.screen.edge)
	own := newPalette(colours, least, c.screen.settings)
	if own.loss < ownFactor*loss {
		return own
	}
	c.wait = retryAfter
	return active
}

// loss is the mean squared error of showing img with p, estimated on some of
// its pixels; 0 for a picture without opaque ones. A palette without colours
// cannot show any.
func (c *paletteChoice) loss(img *image.NRGBA, p *palette) float64 {
	sum, n, step := 0, 0, 4*sampleStep
	if len(p.colours) == 0 {
		step = 4
	}
	for i := 0; i+4 <= len(img.Pix); i += step {
		v := c.screen.solid(binary.LittleEndian.Uint32(img.Pix[i:]))
		if v == 0 {
			continue
		}
		if len(p.colours) == 0 {
			return math.Inf(1)
		}
		n++
		sum += squaredPacked(v, p.packed[p.mapper.Nearest(v)])
	}
	return float64(sum) / float64(max(n, 1))
}
