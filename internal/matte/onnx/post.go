package onnx

import (
	"errors"
	"fmt"
	"image"
	"math"
)

var errNotFinite = errors.New("returned NaN or infinity")

// span is the range of values that maps to 0 to 1. It only ever grows.
type span struct{ lo, hi float32 }

// unitSpan is the range of calibrated networks.
var unitSpan = span{0, 1}

// newSpan is the initial range of Stretch. A network whose values never leave
// the middle half is stretched that much and no more, so empty frames at a
// clip's start do not show ghosts.
func newSpan() span { return span{0.25, 0.75} }

// matte turns an output into a matte: the part within inner, a rectangle of the
// iw×ih input. If the contract stretches, the output's values widen s.
func (k *contract) matte(t *tensor, iw, ih int, inner image.Rectangle, s *span) (*image.Alpha, error) {
	p, err := k.plane(t.shape)
	if err != nil {
		return nil, err
	}
	if n := max(len(t.f32), len(t.u8)); n < p.w*p.h { // no picture at all
		return nil, fmt.Errorf("%d values for %dx%d", n, p.w, p.h)
	}
	r := rescale(inner, iw, ih, p.w, p.h)
	dst := image.NewAlpha(image.Rect(0, 0, r.Dx(), r.Dy()))
	if t.elem == uint8Elem {
		for y := range r.Dy() {
			o := p.offset + ((r.Min.Y+y)*p.w+r.Min.X)*p.step
			d := dst.Pix[y*dst.Stride:][:r.Dx()]
			for x := range d {
				d[x] = t.u8[o]
				o += p.step
			}
		}
		return dst, nil
	}
	if k.spec.Output.Stretch {
		if err := s.widen(t.f32, p, r, k.spec.Output.Sigmoid); err != nil {
			return nil, err
		}
	}
	for y := range r.Dy() {
		o := p.offset + ((r.Min.Y+y)*p.w+r.Min.X)*p.step
		if err := k.toBytes(dst.Pix[y*dst.Stride:][:r.Dx()], t.f32[o:], p.step, *s); err != nil {
			return nil, err
		}
	}
	return dst, nil
}

// toByte rounds v to a byte. It branches, since mattes are mostly 0 or 255 and
// the built-in min and max of floats are slower.
func toByte(v float32) uint8 {
	switch {
	case v >= 254.5:
		return 255
	case v > 0:
		return uint8(v + 0.5)
	}
	return 0
}

// toBytes writes one row of values, step apart, as bytes.
func (k *contract) toBytes(d []uint8, v []float32, step int, s span) error {
	var bad float32 // v−v is 0 for all but NaN and infinity
	if k.spec.Output.Sigmoid && !k.spec.Output.Stretch {
		for x := range d {
			f := v[x*step]
			bad += f - f
			d[x] = sigmoids[sigmoidIndex(f)]
		}
	} else {
		scale := 255 / (s.hi - s.lo)
		for x := range d {
			f := v[x*step]
			bad += f - f
			if k.spec.Output.Sigmoid {
				f = fractions[sigmoidIndex(f)]
			}
			d[x] = toByte((f - s.lo) * scale)
		}
	}
	if bad != 0 {
		return errNotFinite
	}
	return nil
}

// widen takes the values within r into s.
func (s *span) widen(v []float32, p plane, r image.Rectangle, logits bool) error {
	lo, hi := float32(math.Inf(1)), float32(math.Inf(-1))
	var bad float32
	for y := r.Min.Y; y < r.Max.Y; y++ {
		o := p.offset + (y*p.w+r.Min.X)*p.step
		for range r.Dx() {
			f := v[o]
			bad += f - f
			if f < lo {
				lo = f
			}
			if f > hi {
				hi = f
			}
			o += p.step
		}
	}
	if bad != 0 {
		return errNotFinite
	}
	if logits {
		lo, hi = sigmoid(lo), sigmoid(hi)
	}
	s.lo, s.hi = min(s.lo, lo), max(s.hi, hi)
	return nil
}

// fractions holds the logistic function from −8 to 8, 256 steps to 1: between
// two steps it moves by a quarter of a level at most. sigmoids is the same as
// bytes.
var fractions, sigmoids = func() (f [4096]float32, b [4096]uint8) {
	for i := range f {
		f[i] = sigmoid((float32(i)+0.5)/256 - 8)
		b[i] = uint8(255*f[i] + 0.5)
	}
	return f, b
}()

// sigmoidIndex is where f is in fractions and sigmoids; NaN is somewhere.
func sigmoidIndex(f float32) int {
	switch {
	case f >= 7.998:
		return 4095
	case f > -8:
		return int((f+8)*256) & 4095
	}
	return 0
}

func sigmoid(f float32) float32 { return float32(1 / (1 + math.Exp(-float64(f)))) }

// rescale is r, a rectangle of w×h, in a picture of pw×ph.
func rescale(r image.Rectangle, w, h, pw, ph int) image.Rectangle {
	q := image.Rect((r.Min.X*pw+w/2)/w, (r.Min.Y*ph+h/2)/h, (r.Max.X*pw+w/2)/w, (r.Max.Y*ph+h/2)/h)
	q.Max.X, q.Max.Y = max(q.Max.X, q.Min.X+1), max(q.Max.Y, q.Min.Y+1)
	return q.Intersect(image.Rect(0, 0, pw, ph))
}

// toPicture turns an output of three planes of 0 to 1, within inner, into an
// opaque picture.
func toPicture(t *tensor, inner image.Rectangle) (*image.NRGBA, error) {
	if len(t.shape) != 4 || t.shape[1] != 3 || t.elem != float32Elem {
		return nil, fmt.Errorf("foreground of shape %v", t.shape)
	}
	h, w := int(t.shape[2]), int(t.shape[3])
	n := w * h
	dst := image.NewNRGBA(image.Rect(0, 0, inner.Dx(), inner.Dy()))
	var bad float32
	for y := range inner.Dy() {
		o := (inner.Min.Y+y)*w + inner.Min.X
		r, g, b := t.f32[o:n], t.f32[n+o:2*n], t.f32[2*n+o:3*n]
		d := dst.Pix[y*dst.Stride:][:4*inner.Dx()]
		for x := range inner.Dx() {
			bad += r[x] - r[x] + g[x] - g[x] + b[x] - b[x]
			q := d[4*x : 4*x+4 : 4*x+4]
			q[0] = toByte(r[x] * 255)
			q[1] = toByte(g[x] * 255)
			q[2] = toByte(b[x] * 255)
			q[3] = 255
		}
	}
	if bad != 0 {
		return nil, errNotFinite
	}
	return dst, nil
}

// union is the smallest span that holds both.
func (s span) union(o span) span { return span{min(s.lo, o.lo), max(s.hi, o.hi)} }
