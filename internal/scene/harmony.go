package scene

import (
	"image"
	"math"
)

// The bounds of a Harmony: shares of the difference from the backdrop, and limits
// to them. They were tuned by eye on natural clips.
const (
	lightShare, lightLimit       = 0.4, 0.14 // of lightness
	contrastShare, contrastLimit = 0.3, 1.12 // of contrast, a factor
	tintShare, tintLimit         = 0.5, 0.03 // of colour
	tintOfBackdrop               = 0.6       // no tint is a larger share of the backdrop's own colour
	// plainContrast is the contrast from which a backdrop counts fully: a plain
	// colour says nothing of contrast.
	plainContrast = 0.1
)

// Harmony makes a subject a little more like its backdrop in light, contrast and
// colour. As in Reinhard et al., Color Transfer between Images (2001), means and
// deviations decide; here it is a share of their differences, within limits, in Oklab.
// It is the same for all frames that it is applied to, so nothing flickers. It is
// safe for concurrent use.
type Harmony struct {
	change change
	table  [nodes * nodes * nodes][3]int32 // colours in 1/256, not clipped
}

// change is what a Harmony does to colours.
type change struct {
	gain         float64 // of lightness and colour, minus 1, where there is room for it
	contrast     float64 // around middle
	middle       float64
	tintA, tintB float64 // of white
}

// Harmonise returns the harmony of a subject with its backdrop, or nil where one of
// them has no pixel. A last one that hardly differs is returned instead of a new one;
// it may be nil.
func Harmonise(subject, backdrop Tone, last *Harmony) *Harmony {
	if subject.Empty() || backdrop.Empty() {
		return nil
	}
	c := changeOf(subject, backdrop)
	if last != nil && c.near(last.change) {
		return last
	}
	h := &Harmony{change: c}
	h.tabulate()
	return h
}

func changeOf(subject, backdrop Tone) change {
	own, other := subject.mean(), backdrop.mean()
	c := change{middle: own[0], contrast: 1}
	c.gain = clamp(lightShare*(other[0]-own[0]), lightLimit)
	has, wants := subject.contrast(), backdrop.contrast()
	if has > 0 && wants > 0 {
		share := contrastShare * min(1, wants/plainContrast)
		c.contrast = math.Exp(clamp(share*math.Log(wants/has), math.Log(contrastLimit)))
	}
	c.tintA, c.tintB = tintShare*(other[1]-own[1]), tintShare*(other[2]-own[2])
	most := min(tintLimit, tintOfBackdrop*math.Hypot(other[1], other[2]))
	if size := math.Hypot(c.tintA, c.tintB); size > most {
		c.tintA, c.tintB = c.tintA*most/size, c.tintB*most/size
	}
	return c
}

func clamp(v, limit float64) float64 { return min(max(v, -limit), limit) }

// near reports whether two changes differ by less than a step of 8 bits.
func (c change) near(d change) bool {
	const least = 1.0 / 512
	for _, v := range []float64{c.gain - d.gain, c.contrast - d.contrast, c.middle - d.middle, c.tintA - d.tintA, c.tintB - d.tintB} {
		if math.Abs(v) > least {
			return false
		}
	}
	return true
}

// of is a colour, changed. Darkening is less of all light, as exposure is. Brightening
// and contrast leave black and white where they are, so nothing looks hazy or burnt.
func (c change) of(v lab) lab {
	room := 4 * v[0] * max(0, 1-v[0])
	light := v[0] + (v[0]-c.middle)*(c.contrast-1)*room
	if c.gain < 0 {
		room = 1
	}
	light *= 1 + c.gain*room
	factor := 1.0 // of colour, whose saturation stays
	if v[0] > 0 {
		factor = light / v[0]
	}
	return lab{light, v[1]*factor + c.tintA*light, v[2]*factor + c.tintB*light}
}

// Colours of the table lie step apart, from 0 on.
const (
	step  = 16
	nodes = 256/step + 1
)

func (h *Harmony) tabulate() {
	var levels [nodes]float64
	for i := range levels {
		levels[i] = decode(float64(i*step) / 255)
	}
	for i := range h.table {
		r, g, b := h.change.of(oklab(levels[i/nodes/nodes], levels[i/nodes%nodes], levels[i%nodes])).rgb()
		for c, v := range [3]float64{r, g, b} {
			h.table[i][c] = int32(math.Round(encode(v) * 255 * 256))
		}
	}
}

// at changes a pixel's colour, by interpolation in the tetrahedron of the table that it
// lies in (Kasson et al., 1995).
func (h *Harmony) at(p []uint8) {
	r, g, b := int32(p[0]), int32(p[1]), int32(p[2])
	i := (int(r/step)*nodes+int(g/step))*nodes + int(b/step)
	r, g, b = r%step, g%step, b%step
	const toR, toG, toB = nodes * nodes, nodes, 1
	// The three axes from the one that the colour lies farthest along.
	first, second, third, x, y, z := toR, toG, toB, r, g, b
	if x < y {
		first, second, x, y = second, first, y, x
	}
	if y < z {
		second, third, y, z = third, second, z, y
	}
	if x < y {
		first, second, x, y = second, first, y, x
	}
	from, one, two, all := &h.table[i], &h.table[i+first], &h.table[i+first+second], &h.table[i+first+second+third]
	for c := range 3 {
		v := from[c]*(step-x) + one[c]*(x-y) + two[c]*(y-z) + all[c]*z
		p[c] = uint8(min(max((v+step*128)/(step*256), 0), 255))
	}
}

// Apply changes the subject's colour in place; alpha stays. With a light it lets the
// backdrop's light come around the subject's edge. A nil Harmony changes nothing.
func (h *Harmony) Apply(img *image.NRGBA, l *Light) {
	if h == nil {
		return
	}
	var last, changed [3]uint8
	h.at(changed[:])
	for y := range img.Rect.Dy() {
		row := img.Pix[y*img.Stride:][:4*img.Rect.Dx()]
		for i := 0; i+4 <= len(row); i += 4 {
			p := row[i : i+4 : i+4]
			if p[3] == 0 {
				continue
			}
			if c := [3]uint8(p); c != last {
				last, changed = c, c
				h.at(changed[:])
			}
			copy(p, changed[:])
		}
	}
	if l != nil {
		l.wrap(img)
	}
}
