package onnx

import "image"

// lut holds, for one channel, what each byte becomes in the input tensor.
type lut struct {
	f32 [256]float32
	f16 [256]uint16
}

func (k *contract) luts() (l [3]lut) {
	in := k.spec.Input
	for c := range l {
		for v := range 256 {
			f := (float32(v)/255 - in.Mean[c]) / in.Std[c]
			l[c].f32[v], l[c].f16[v] = f, toHalf(f)
		}
	}
	return l
}

// fill writes p into t as v shows it, in the contract's layout and element
// type.
func (k *contract) fill(t *tensor, p *image.NRGBA, v *letterbox, l *[3]lut) {
	shape := []int64{1, 3, int64(v.h), int64(v.w)}
	if k.nhwc {
		shape = []int64{1, int64(v.h), int64(v.w), 3}
	}
	t.resize(k.image.elem, shape...)
	switch k.image.elem {
	case uint8Elem:
		writePixels(t.u8, p, v, k.nhwc, &identity, &identity, &identity)
	case float16Elem:
		writePixels(t.f16, p, v, k.nhwc, &l[0].f16, &l[1].f16, &l[2].f16)
	default:
		writePixels(t.f32, p, v, k.nhwc, &l[0].f32, &l[1].f32, &l[2].f32)
	}
}

var identity = func() (t [256]uint8) {
	for i := range t {
		t[i] = uint8(i)
	}
	return t
}()

// writePixels writes p, with black around it, as three planes, or with the channels
// side by side.
func writePixels[T any](dst []T, p *image.NRGBA, v *letterbox, nhwc bool, r, g, b *[256]T) {
	in := v.inner
	if nhwc {
		v.eachPadding(func(from, to int) {
			for i := from; i < to; i++ {
				dst[3*i], dst[3*i+1], dst[3*i+2] = r[0], g[0], b[0]
			}
		})
		for y := range in.Dy() {
			o := 3 * ((in.Min.Y+y)*v.w + in.Min.X)
			interleave(dst[o:o+3*in.Dx()], p.Pix[y*p.Stride:], r, g, b)
		}
		return
	}
	n := v.w * v.h
	red, green, blue := dst[:n], dst[n:2*n], dst[2*n:3*n]
	v.eachPadding(func(from, to int) {
		set(red[from:to], r[0])
		set(green[from:to], g[0])
		set(blue[from:to], b[0])
	})
	for y := range in.Dy() {
		o := (in.Min.Y+y)*v.w + in.Min.X
		end := o + in.Dx()
		split(red[o:end], green[o:end], blue[o:end], p.Pix[y*p.Stride:], r, g, b)
	}
}

// eachPadding calls f for all ranges of places that lie outside of inner.
func (v *letterbox) eachPadding(f func(from, to int)) {
	in, at := v.inner, 0
	for y := in.Min.Y; y < in.Max.Y; y++ {
		f(at, y*v.w+in.Min.X)
		at = y*v.w + in.Max.X
	}
	f(at, v.w*v.h)
}

func set[T any](dst []T, v T) {
	for i := range dst {
		dst[i] = v
	}
}

// split writes a row of pixels into three planes.
func split[T any](red, green, blue []T, pix []uint8, r, g, b *[256]T) {
	green, blue = green[:len(red)], blue[:len(red)]
	pix = pix[:4*len(red)]
	for i := range red {
		p := pix[4*i : 4*i+4 : 4*i+4]
		red[i], green[i], blue[i] = r[p[0]], g[p[1]], b[p[2]]
	}
}

// interleave writes a row of pixels with the channels side by side.
func interleave[T any](dst []T, pix []uint8, r, g, b *[256]T) {
	for i := range len(dst) / 3 {
		p := pix[4*i : 4*i+4 : 4*i+4]
		d := dst[3*i : 3*i+3 : 3*i+3]
		d[0], d[1], d[2] = r[p[0]], g[p[1]], b[p[2]]
	}
}
