package refine

import (
	"image"
	"math"
	"sync"

	"github.com/bgremove/bgremove/internal/buffer"
)

const (
	// bins is how many parts each channel of colour is divided into.
	bins        = 24
	colourCount = bins * bins * bins
	// sureCoverage is the coverage from which on a pixel counts as subject; with 255 −
	// sureCoverage or less it counts as backdrop.
	sureCoverage = 217
	// frameDecay is how much a frame counts one frame later: colours of seconds ago
	// fade, as light changes.
	frameDecay = 0.97
	// forgottenBelow is the number of pixels below which a colour is forgotten, long
	// before it is so small that counting becomes slow.
	forgottenBelow = 1e-3
	// minShare is added to the share of a colour in either model, so that colours
	// nobody has seen say nothing.
	minShare = 1e-5
	// maxOdds bounds the weight of a colour, in natural logarithms of odds. oddsLevels
	// is the number of steps in one unit of it.
	maxOdds, oddsLevels = 3, 16
)

// ColourModel decides uncertain pixels of a network by colour. It counts the
// colours of subject and backdrop in the clip so far, from pixels that the
// network was sure of. Uncertain pixels move towards the side with their
// colour. A colour learnt in one frame is used from the next frame on. A cut
// restarts the model. The zero value is ready except for Weight. It is for one
// goroutine, in the order of the frames.
//
// Colour models of both sides, fitted to certain pixels, come from GrabCut
// (Rother, Kolmogorov, Blake, SIGGRAPH 2004). Here they are histograms over
// time.
type ColourModel struct {
	// Weight is how much colours count: 0 not at all, 1 as much as they say.
	Weight float32

	cuts              CutDetector
	subject, backdrop histogram         // in pixels, older ones counting less
	share             [3]histogram      // the subject's and the backdrop's, and scratch
	index             []uint16          // of each pixel's colour
	odds              [colourCount]int8 // for the subject, in 1/oddsLevels
}

// Apply changes m, the matte of img, in place, after learning from it. img
// stays as it is.
func (c *ColourModel) Apply(img *image.NRGBA, m *image.Alpha) {
	w, h := size(m)
	match(img, w, h)
	if c.cuts.Next(img) {
		c.subject, c.backdrop = histogram{}, histogram{}
	}
	c.index = buffer.Sized(c.index, w*h)
	c.learn(img.Pix, m.Pix)
	c.computeOdds()
	table := posterior()
	for i, at := range c.index {
		m.Pix[i] = table[m.Pix[i]][int(c.odds[at])+maxOdds*oddsLevels]
	}
}

// learn counts the colours of the pixels that a matte is sure of.
func (c *ColourModel) learn(pix, matte []uint8) {
	c.subject.fade()
	c.backdrop.fade()
	for i := range c.index {
		p := pix[4*i : 4*i+3 : 4*i+3]
		at := (int(p[0])*bins>>8*bins+int(p[1])*bins>>8)*bins + int(p[2])*bins>>8
		c.index[i] = uint16(at)
		switch v := matte[i]; {
		case v >= sureCoverage:
			c.subject[at] += float32(v) / 255
		case v <= 255-sureCoverage:
			c.backdrop[at] += float32(255-v) / 255
		}
	}
}

// computeOdds works out the odds of each colour, as a logarithm.
func (c *ColourModel) computeOdds() {
	subject, backdrop, scratch := &c.share[0], &c.share[1], &c.share[2]
	subject.normalise(&c.subject, scratch)
	backdrop.normalise(&c.backdrop, scratch)
	for i := range c.odds {
		odds := math.Log(float64((subject[i] + minShare) / (backdrop[i] + minShare)))
		c.odds[i] = int8(math.Round(min(max(odds, -maxOdds), maxOdds) * oddsLevels * float64(c.Weight)))
	}
}

// histogram is how much of each colour there is.
type histogram [colourCount]float32

func (h *histogram) fade() {
	for i := range h {
		if h[i] *= frameDecay; h[i] < forgottenBelow {
			h[i] = 0
		}
	}
}

// normalise is what part of all counts is of each colour, spread over its
// neighbours. Of less than a whole pixel all parts together are less than 1.
func (h *histogram) normalise(counts, scratch *histogram) {
	sum := float32(0)
	for _, v := range counts {
		sum += v
	}
	h.blur(counts, 1)
	scratch.blur(h, bins)
	h.blur(scratch, bins*bins)
	for i := range h {
		h[i] /= max(sum, 1)
	}
}

// blur gives a quarter of each colour of from to either neighbour in a
// channel with values step apart; beyond the ends it is lost.
func (h *histogram) blur(from *histogram, step int) {
	for i := range h {
		v := 2 * from[i]
		if at := i / step % bins; at > 0 && at < bins-1 {
			v += from[i-step] + from[i+step]
		} else if at > 0 {
			v += from[i-step]
		} else {
			v += from[i+step]
		}
		h[i] = v / 4
	}
}

// posterior is a matte's new value, by its old one and the colour's odds, the least
// first. Odds count fully where the network is uncertain, and less the surer it
// is.
var posterior = sync.OnceValue(func() *[256][2*maxOdds*oddsLevels + 1]uint8 {
	t := new([256][2*maxOdds*oddsLevels + 1]uint8)
	for v := range t {
		p := float64(v) / 255
		odds := math.Log((p + 0.5/255) / (1 - p + 0.5/255))
		doubt := min(1, 32*p*(1-p))
		for i := range t[v] {
			x := odds + doubt*float64(i-maxOdds*oddsLevels)/oddsLevels
			t[v][i] = uint8(255/(1+math.Exp(-x)) + 0.5)
		}
	}
	for v := range t {
		t[v][maxOdds*oddsLevels] = uint8(v) // exactly
	}
	return t
})
