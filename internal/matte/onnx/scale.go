package onnx

import (
	"encoding/binary"
	"image"
	"math"
)

// picture is a small RGB picture, 3 bytes a pixel without padding: the values
// that a network sees before normalisation.
type picture struct {
	w, h int
	pix  []uint8
}

// taps says which source samples make each target sample: target i is the sum
// of the source from start[i] on, each times its weight. Every target has the
// same number of weights, some of them 0, and they add up to 256.
type taps struct {
	start  []int
	weight []uint64 // count for each target
	count  int
}

// newTaps gives the samples for a side of n pixels brought to m: the area that
// a target pixel covers when reducing, bilinear when enlarging.
func newTaps(n, m int) taps {
	scale := float64(n) / float64(m)
	t := taps{start: make([]int, m), count: min(int(math.Ceil(max(scale, 1)))+1, n)}
	if n%m == 0 {
		t.count = n / m
	}
	t.weight = make([]uint64, m*t.count)
	for i := range m {
		lo, hi := float64(i)*scale, float64(i+1)*scale
		if scale < 1 { // a box of one pixel around the target's centre
			lo = min(max((float64(i)+0.5)*scale-0.5, 0), float64(n-1))
			hi = lo + 1
		}
		first := min(int(lo+1e-9), n-t.count)
		t.start[i] = first
		// Rounding the running sum, not each weight, keeps the total exact.
		done := 0
		for j := range t.count {
			part := (float64(first+j+1) - lo) / (hi - lo)
			sum := int(math.Round(min(max(part, 0), 1) * 256))
			t.weight[i*t.count+j] = uint64(sum - done)
			done = sum
		}
	}
	return t
}

// scaler brings pictures of one size to another. It is safe for concurrent use.
type scaler struct {
	w, h       int // of the sources
	iw, ih     int // of what is drawn
	inner      image.Rectangle
	cols, rows taps
}

func newScaler(w, h, iw, ih int, inner image.Rectangle) *scaler {
	return &scaler{
		w: w, h: h, iw: iw, ih: ih, inner: inner,
		cols: newTaps(w, inner.Dx()),
		rows: newTaps(h, inner.Dy()),
	}
}

// draw gives img, brought to size within black.
func (s *scaler) draw(img *image.NRGBA) *picture {
	p := &picture{s.iw, s.ih, make([]uint8, 3*s.iw*s.ih)}
	source := func(y int) []uint8 {
		o := img.PixOffset(img.Rect.Min.X, img.Rect.Min.Y+y)
		return img.Pix[o : o+4*s.w]
	}
	if s.inner.Dx() == s.w && s.inner.Dy() == s.h {
		for y := range s.h {
			copyRow(p.row(s.inner, y), source(y))
		}
		return p
	}
	sum := sums{make([]uint64, (s.w+1)/2), make([]uint64, (s.w+1)/2)}
	line := make([]uint64, len(sum.rb)*2)
	for y, start := range s.rows.start {
		clear(sum.rb)
		clear(sum.ga)
		weight := s.rows.weight[y*s.rows.count:][:s.rows.count]
		for j := 0; j < len(weight); j += 2 {
			a, b, w := source(start+j), source(start+j), uint64(0)
			if j+1 < len(weight) {
				b, w = source(start+j+1), weight[j+1]
			}
			if weight[j]|w != 0 {
				sum.add(a, b, weight[j], w)
			}
		}
		sum.unpack(line)
		s.cols.across(p.row(s.inner, y), line)
	}
	return p
}

// row is the part of row y of the inner rectangle r.
func (p *picture) row(r image.Rectangle, y int) []uint8 {
	o := 3 * ((r.Min.Y+y)*p.w + r.Min.X)
	return p.pix[o : o+3*r.Dx()]
}

func copyRow(dst, src []uint8) {
	for len(src) >= 4 && len(dst) >= 3 {
		dst[0], dst[1], dst[2] = src[0], src[1], src[2]
		dst, src = dst[3:], src[4:]
	}
}

// sums are rows added up, two pixels a word and 16 bits a channel: red and
// blue in one, green and alpha in the other. Full scale is 255·256.
type sums struct{ rb, ga []uint64 }

// add adds two rows, each times its weight.
func (s sums) add(a, b []uint8, wa, wb uint64) {
	const mask = 0x00ff00ff00ff00ff
	rb := s.rb
	ga := s.ga[:len(rb)]
	i := 0
	for ; i < len(rb) && len(a) >= 8 && len(b) >= 8; i++ {
		va, vb := binary.LittleEndian.Uint64(a), binary.LittleEndian.Uint64(b)
		rb[i] += va&mask*wa + vb&mask*wb
		ga[i] += va>>8&mask*wa + vb>>8&mask*wb
		a, b = a[8:], b[8:]
	}
	if len(a) == 4 && i < len(rb) {
		va, vb := uint64(binary.LittleEndian.Uint32(a)), uint64(binary.LittleEndian.Uint32(b))
		rb[i] += va&mask*wa + vb&mask*wb
		ga[i] += va>>8&mask*wa + vb>>8&mask*wb
	}
}

// Channels in the words of a line are lane bits apart, red lowest. Values have
// 4 bits of fraction, so that 256 times one still fits.
const (
	lane     = 21
	laneMask = 1<<lane - 1
)

// unpack writes the sums as one word a pixel.
func (s sums) unpack(line []uint64) {
	const keep = 0xfff
	ga := s.ga[:len(s.rb)]
	line = line[:2*len(s.rb)]
	for i, rb := range s.rb {
		g := ga[i]
		line[2*i] = rb>>4&keep | g>>4&keep<<lane | rb>>20&keep<<(2*lane)
		line[2*i+1] = rb>>36&keep | g>>36&keep<<lane | rb>>52<<(2*lane)
	}
}

// across writes one line, brought to width, as RGB.
func (t taps) across(dst []uint8, line []uint64) {
	const half = 1 << 11 * (1 | 1<<lane | 1<<(2*lane))
	for x, start := range t.start {
		weight := t.weight[x*t.count:][:t.count]
		pixels := line[start:][:len(weight)]
		sum := uint64(half)
		switch len(weight) { // the common cases without a loop
		case 2:
			sum += pixels[0]*weight[0] + pixels[1]*weight[1]
		case 3:
			sum += pixels[0]*weight[0] + pixels[1]*weight[1] + pixels[2]*weight[2]
		default:
			for j, w := range weight {
				sum += pixels[j] * w
			}
		}
		d := dst[3*x : 3*x+3 : 3*x+3]
		d[0] = uint8(sum & laneMask >> 12)
		d[1] = uint8(sum >> lane & laneMask >> 12)
		d[2] = uint8(sum >> (2 * lane) >> 12)
	}
}
