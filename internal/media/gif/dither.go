package gif

import (
	"slices"

	"github.com/bgremove/bgremove/internal/quant"
)

// opaque is the alpha of a packed colour R | G<<8 | B<<16 | A<<24.
const opaque = 0xff << 24

// thresholds is the 8×8 Bayer matrix (B. E. Bayer, "An optimum method for
// two-level rendition of continuous-tone pictures", 1973). A pattern that is
// fixed to the canvas does not shimmer from frame to frame.
var thresholds = bayer()

func bayer() (m [64]uint8) {
	for y := range 8 {
		for x := range 8 {
			v := 0
			for bit := range 3 {
				v = v<<2 | (x>>bit^y>>bit)&1<<1 | y>>bit&1
			}
			m[y*8+x] = uint8(v)
		}
	}
	return m
}

// palette is a colour table in use.
type palette struct {
	colours     []quant.RGB
	mapper      *quant.Mapper
	packed      [256]uint32 // opaque colours by index
	transparent uint8       // the index after the last colour
	loss        float64     // mean squared error on the pictures it was made for
	near        *nearTable  // for lossy compression
}

// nearTable lists for each index those of the most similar colours, the index
// itself first.
type nearTable [256][nearCount]uint8

const nearCount = 12

func newNearTable(colours []quant.RGB) *nearTable {
	t := new(nearTable)
	order := make([]int, len(colours)) // distance and index in one word
	for i, c := range colours {
		for j, o := range colours {
			order[j] = quant.Distance(c, o)<<8 | j
		}
		slices.Sort(order)
		for k := range t[i] {
			t[i][k] = uint8(order[min(k, len(order)-1)])
		}
	}
	return t
}

func newPalette(colours []quant.RGB, loss float64, s settings) *palette {
	p := &palette{colours: colours, transparent: uint8(len(colours)), loss: loss}
	for i, c := range colours {
		p.packed[i] = uint32(c.R) | uint32(c.G)<<8 | uint32(c.B)<<16 | opaque
	}
	if len(colours) > 0 {
		p.mapper = quant.NewMapper(colours, s.noiseWeight)
		p.near = newNearTable(colours)
	}
	return p
}

// pick returns the index to show the colour c with at a place of that
// threshold, and whether it is part of a pattern. Only where the picture is
// smooth it dithers: elsewhere nobody sees the steps that dithering hides.
func (p *palette) pick(c uint32, smooth bool, threshold uint8) (index uint8, dithered bool) {
	e := p.mapper.Entry(c)
	if e.Crowded() {
		return p.mapper.Nearest(c), false
	}
	near, share := e.Near(), e.Share()
	if share == 0 || !smooth {
		return near, false
	}
	if other := e.Partner(); (uint32(threshold) < share) == (other > near) {
		return other, true
	}
	return near, true
}

// squared is the squared distance of a packed colour from a palette entry.
func squared(p uint32, c quant.RGB) int {
	return quant.Distance(quant.RGB{R: uint8(p), G: uint8(p >> 8), B: uint8(p >> 16)}, c)
}

// squaredPacked is the squared distance of two packed colours.
func squaredPacked(a, b uint32) int {
	r, g, bl := int(a&255)-int(b&255), int(a>>8&255)-int(b>>8&255), int(a>>16&255)-int(b>>16&255)
	return r*r + g*g + bl*bl
}

// contrast is the sum of the channels' absolute differences.
func contrast(a, b uint32) int {
	return gap(a, b) + gap(a>>8, b>>8) + gap(a>>16, b>>16)
}

func gap(a, b uint32) int {
	d := int(a&255) - int(b&255)
	return max(d, -d)
}
