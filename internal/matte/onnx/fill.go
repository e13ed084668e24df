package onnx

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

// fill writes p into t, in the contract's layout and element type.
func (k *contract) fill(t *tensor, p *picture, l *[3]lut) {
	shape := []int64{1, 3, int64(p.h), int64(p.w)}
	if k.nhwc {
		shape = []int64{1, int64(p.h), int64(p.w), 3}
	}
	t.resize(k.image.elem, shape...)
	switch {
	case k.image.elem == uint8Elem && k.nhwc:
		copy(t.u8, p.pix)
	case k.image.elem == uint8Elem:
		split(t.u8, p.pix, &identity, &identity, &identity)
	case k.image.elem == float16Elem && k.nhwc:
		interleave(t.f16, p.pix, &l[0].f16, &l[1].f16, &l[2].f16)
	case k.image.elem == float16Elem:
		split(t.f16, p.pix, &l[0].f16, &l[1].f16, &l[2].f16)
	case k.nhwc:
		interleave(t.f32, p.pix, &l[0].f32, &l[1].f32, &l[2].f32)
	default:
		split(t.f32, p.pix, &l[0].f32, &l[1].f32, &l[2].f32)
	}
}

var identity = func() (t [256]uint8) {
	for i := range t {
		t[i] = uint8(i)
	}
	return t
}()

// split writes RGB pixels as three planes.
func split[T any](dst []T, pix []uint8, r, g, b *[256]T) {
	n := len(pix) / 3
	red, green, blue := dst[:n], dst[n:2*n], dst[2*n:3*n]
	green, blue = green[:len(red)], blue[:len(red)]
	for i := range red {
		p := pix[3*i : 3*i+3 : 3*i+3]
		red[i], green[i], blue[i] = r[p[0]], g[p[1]], b[p[2]]
	}
}

func interleave[T any](dst []T, pix []uint8, r, g, b *[256]T) {
	for i := range len(pix) / 3 {
		p := pix[3*i : 3*i+3 : 3*i+3]
		d := dst[3*i : 3*i+3 : 3*i+3]
		d[0], d[1], d[2] = r[p[0]], g[p[1]], b[p[2]]
	}
}
