package plate

import (
	"image"
	"math"

	"github.com/bgremove/bgremove/internal/buffer"
)

// canvas is the plate itself, larger than a frame by half its size on each side.
// Places are counted from where the first frame on it began.
type canvas struct {
	frame  image.Point // size of the frames
	w, h   int
	origin image.Point // the place of the first sum
	sums   sums
	pixels pixels // made from the sums
}

// sums collect the frames of places, in planes: of the backdrop's colours, the squares of
// all three, and the colours taken for the subject.
type sums [sumPlanes][]float32

// The planes of sums. Frames are how many frames the colours before are of.
const (
	backdropColour, backdropFrames = 0, 3
	squaresPlane                   = 4
	subjectColour, subjectFrames   = 5, 8
	sumPlanes                      = 9
)

// sum is one place of sums.
type sum struct {
	backdrop, subject colourSum
	squares           float32
}

// colourSum is a sum of colours, and how many frames they are of.
type colourSum struct{ r, g, b, n float32 }

// pixels describe places in planes, in the units of a View. The backdrop's colour is in
// 1/64 of those, because it may be maxGain times as bright as any of a
// frame's. All is 0 if the place is unknown.
type pixels struct {
	colour                         [3][]uint16
	known, spread, frames, claimed []uint8 // known is backdrop or 0
}

// pixel is one place of pixels.
type pixel struct {
	colour                         [3]uint16
	known, spread, frames, claimed uint8
}

func (c *canvas) clear(w, h int) {
	c.frame = image.Pt(w, h)
	c.w, c.h = w+2*(w/2)+1, h+2*(h/2)+1
	c.origin = image.Pt(-(w / 2), -(h / 2))
	n := c.w * c.h
	for i := range c.sums {
		c.sums[i] = cleared(c.sums[i], n)
	}
	for i := range c.pixels.colour {
		c.pixels.colour[i] = cleared(c.pixels.colour[i], n)
	}
	for _, plane := range c.pixels.bytes() {
		*plane = cleared(*plane, n)
	}
}

// bytes are the planes of bytes.
func (p *pixels) bytes() [4]*[]uint8 {
	return [...]*[]uint8{&p.known, &p.spread, &p.frames, &p.claimed}
}

// cleared is n zeros, in the memory of s if that is enough.
func cleared[T any](s []T, n int) []T {
	s = buffer.Sized(s, n)
	clear(s)
	return s
}

// contains reports whether a frame at p lies on the canvas, with a pixel to spare.
func (c *canvas) contains(p point) bool {
	x, y := int(math.Floor(p.x))-c.origin.X, int(math.Floor(p.y))-c.origin.Y
	return x >= 0 && y >= 0 && x+1+c.frame.X <= c.w && y+1+c.frame.Y <= c.h
}

// centre moves the canvas so that a frame at p lies in its middle. Places that
// leave it are lost.
func (c *canvas) centre(p point) {
	to := image.Pt(int(math.Floor(p.x))-c.frame.X/2, int(math.Floor(p.y))-c.frame.Y/2)
	d := c.origin.Sub(to)
	for i := range c.sums {
		c.sums[i] = shifted(c, c.sums[i], d)
	}
	for i := range c.pixels.colour {
		c.pixels.colour[i] = shifted(c, c.pixels.colour[i], d)
	}
	for _, plane := range c.pixels.bytes() {
		*plane = shifted(c, *plane, d)
	}
	c.origin = to
}

// shifted is the whole canvas with its places shifted by d.
func shifted[T any](c *canvas, from []T, d image.Point) []T {
	to := make([]T, len(from))
	left, right := max(0, d.X), min(c.w, c.w+d.X)
	for y := max(0, d.Y); y < min(c.h, c.h+d.Y) && left < right; y++ {
		copy(to[y*c.w+left:y*c.w+right], from[(y-d.Y)*c.w+left-d.X:])
	}
	return to
}

// weights are the shares of the four pixels around a place between them, and the
// upper left one of them.
func weights(p point) (x, y int, k [4]float32) {
	fx, fy := math.Floor(p.x), math.Floor(p.y)
	u, v := float32(p.x-fx), float32(p.y-fy)
	return int(fx), int(fy), [4]float32{(1 - u) * (1 - v), u * (1 - v), (1 - u) * v, u * v}
}

// shares are weights in 1/256. They sum up to that.
func shares(weights *[4]float32) (k [4]uint32) {
	k[0] = 256
	for i, v := range weights[1:] {
		k[i+1] = min(uint32(256*v+0.5), k[0])
		k[0] -= k[i+1]
	}
	return k
}

// predict draws the canvas's knowledge of a frame at p in the light of gain.
func (c *canvas) predict(p point, gain [3]float64, to *prediction) {
	w, h := c.frame.X, c.frame.Y
	to.resize(w * h)
	d := drawing{canvas: c, to: to, light: newLight(gain), right: 1, below: c.w}
	x0, y0, weight := weights(p)
	d.weight, d.shares = weight, shares(&weight)
	if d.shares[0] == 256 {
		d.right, d.below = 0, 0
	}
	for y := range h {
		d.row((y0-c.origin.Y+y)*c.w+x0-c.origin.X, y*w, w)
	}
}

// light is the gains of red, green, blue and of spreads, in 1/2¹⁴.
type light [4]uint32

func newLight(gain [3]float64) (l light) {
	for c, g := range [4]float64{gain[0], gain[1], gain[2], gain[1]} {
		l[c] = uint32(g*(1<<14) + 0.5)
	}
	return l
}

// scale is a value in that light.
func (l *light) scale(c int, v uint8) uint8 { return uint8(min((uint32(v)*l[c]+1<<13)>>14, 255)) }

// relight draws a prediction in another light.
func (s *prediction) relight(from, to *[3]float64) {
	l := newLight([3]float64{to[0] / from[0], to[1] / from[1], to[2] / from[2]})
	for i := range s.spread {
		q := s.pix[4*i : 4*i+3 : 4*i+3]
		q[0], q[1], q[2] = l.scale(0, q[0]), l.scale(1, q[1]), l.scale(2, q[2])
		s.spread[i] = l.scale(3, s.spread[i])
	}
}

func (s *prediction) resize(n int) {
	s.pix = buffer.Sized(s.pix, 4*n)
	for _, plane := range []*[]uint8{&s.known, &s.spread, &s.frames, &s.claimed} {
		*plane = buffer.Sized(*plane, n)
	}
}

// add lays a frame at p, with the gain of its light, onto the canvas. A place
// has a kind only if all pixels of the frame around it have it.
func (c *canvas) add(s *frame, p point, gain [3]float64) {
	// Place (x0+x, y0+y) lies at (x, y) of the frame and a part of a pixel on.
	x0, y0 := int(math.Ceil(p.x)), int(math.Ceil(p.y))
	_, _, part := weights(point{float64(x0) - p.x, float64(y0) - p.y})
	l := laying{canvas: c, frame: s, shares: shares(&part), right: 1, below: s.w}
	for i, g := range gain {
		l.inverse[i] = float32(1 / (256 * g))
	}
	if l.shares[0] == 256 {
		l.right, l.below = 0, 0
	}
	for y := range s.h - min(l.below, 1) {
		l.row(y*s.w, (y0-c.origin.Y+y)*c.w+x0-c.origin.X, s.w-l.right)
	}
}
