package chromakey

import "math"

// acceptance is the cotangent of half of the acceptance angle, 120°: how much a colour
// may lie beside the screen's hue and still have something of it.
const acceptance = 0.577

// hue is the direction of the screen's colour in the plane of the two colour
// differences, as weights of red, green and blue along it and across.
type hue struct{ along, across [3]float32 }

// newHue is the hue of a colour, by the weights of lightness.
func newHue(luma, colour [3]float64) hue {
	cb, cr := chroma(luma, colour)
	size := max(math.Hypot(cb, cr), 1e-6)
	cos, sin := cb/size, cr/size
	var h hue
	for k := range 3 {
		var unit [3]float64
		unit[k] = 1
		cb, cr := chroma(luma, unit)
		h.along[k] = float32(cos*cb + sin*cr)
		h.across[k] = float32(cos*cr - sin*cb)
	}
	return h
}

// chroma are the colour differences Cb and Cr of a colour, by the weights of lightness.
func chroma(luma, c [3]float64) (cb, cr float64) {
	y := luma[0]*c[0] + luma[1]*c[1] + luma[2]*c[2]
	return (c[2] - y) / (2 * (1 - luma[2])), (c[0] - y) / (2 * (1 - luma[0]))
}

// parts are how far a colour reaches along the hue, and across.
func (h *hue) parts(r, g, b float32) (x, z float32) {
	x = h.along[0]*r + h.along[1]*g + h.along[2]*b
	z = h.across[0]*r + h.across[1]*g + h.across[2]*b
	return x, max(z, -z)
}

// strength is how much of the screen's hue a colour has; skin, greys and all
// other hues have none, and a negative one.
func (h *hue) strength(r, g, b float32) float32 {
	x, z := h.parts(r, g, b)
	return x - acceptance*z
}
