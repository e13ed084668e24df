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

// tap says which source samples make one target sample. Weights add up to 256.
type tap struct {
	start  int
	weight []uint16
}

// taps gives the samples for a side of n pixels brought to m: the area that a
// target pixel covers when reducing, bilinear when enlarging.
func taps(n, m int) []tap {
	list := make([]tap, m)
	scale := float64(n) / float64(m)
	for i := range list {
		var lo, hi float64
		if scale >= 1 {
			lo, hi = float64(i)*scale, float64(i+1)*scale
		} else {
			lo = min(max((float64(i)+0.5)*scale-0.5, 0), float64(n-1))
			hi = min(lo+1, float64(n)) // a box of one pixel is bilinear
		}
		first := min(int(lo), n-1)
		last := min(max(int(math.Ceil(hi-1e-9)), first+1), n)
		w := make([]uint16, last-first)
		// Rounding the running sum, not each weight, keeps the total exact.
		done := 0
		for j := range w {
			end := min(float64(first+j+1), hi)
			sum := int(math.Round((end - lo) / (hi - lo) * 256))
			if j == len(w)-1 {
				sum = 256
			}
			w[j] = uint16(sum - done)
			done = sum
		}
		list[i] = tap{first, w}
	}
	return list
}

// scaler brings pictures of one size to another. It may be shared; its method
// draw keeps what it writes in memory of the call's own.
type scaler struct {
	w, h  int // of the sources
	cols  []tap
	rows  []tap
	inner image.Rectangle
	iw    int
	ih    int
}

func newScaler(w, h, iw, ih int, inner image.Rectangle) *scaler {
	return &scaler{
		w: w, h: h, iw: iw, ih: ih, inner: inner,
		cols: taps(w, inner.Dx()),
		rows: taps(h, inner.Dy()),
	}
}

// draw gives img, brought to size within black.
func (s *scaler) draw(img *image.NRGBA) *picture {
	p := &picture{s.iw, s.ih, make([]uint8, 3*s.iw*s.ih)}
	if s.inner.Dx() == s.w && s.inner.Dy() == s.h {
		for y := range s.h {
			o := img.PixOffset(img.Rect.Min.X, img.Rect.Min.Y+y)
			copyRow(p.row(s.inner, y), img.Pix[o:o+4*s.w])
		}
		return p
	}
	// Two channels share a word, 16 bits each: red and blue, green and alpha.
	words := (s.w + 1) / 2
	rb, ga := make([]uint64, words), make([]uint64, words)
	last := make([]uint8, 8) // of a row of odd length
	for y, t := range s.rows {
		for j, weight := range t.weight {
			o := img.PixOffset(img.Rect.Min.X, img.Rect.Min.Y+t.start+j)
			addRow(rb, ga, img.Pix[o:o+4*s.w], last, uint64(weight), j == 0)
		}
		s.across(p.row(s.inner, y), rb, ga)
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

// addRow adds weight·row to the accumulators, or sets them to it.
func addRow(rb, ga []uint64, row, last []uint8, weight uint64, set bool) {
	const mask = 0x00ff00ff00ff00ff
	ga = ga[:len(rb)]
	whole := len(row) / 8
	if set {
		for i := range rb[:whole] {
			v := binary.LittleEndian.Uint64(row[8*i:])
			rb[i] = v & mask * weight
			ga[i] = v >> 8 & mask * weight
		}
	} else {
		for i := range rb[:whole] {
			v := binary.LittleEndian.Uint64(row[8*i:])
			rb[i] += v & mask * weight
			ga[i] += v >> 8 & mask * weight
		}
	}
	if whole == len(rb) {
		return
	}
	copy(last, row[8*whole:])
	v := binary.LittleEndian.Uint64(last)
	if set {
		rb[whole], ga[whole] = 0, 0
	}
	rb[whole] += v & mask * weight
	ga[whole] += v >> 8 & mask * weight
}

// across reduces one accumulated row to dst, RGB.
func (s *scaler) across(dst []uint8, rb, ga []uint64) {
	const half = 1 << 15
	for x := range s.cols {
		t := &s.cols[x]
		var sum, green uint64 // sum: red in the low half, blue in the high one
		for j, weight := range t.weight {
			i := t.start + j
			shift := uint(i&1) * 32
			w := uint64(weight)
			v := rb[i>>1] >> shift
			sum += (v&0xffff | v&0xffff0000<<16) * w
			green += ga[i>>1] >> shift & 0xffff * w
		}
		d := dst[3*x : 3*x+3 : 3*x+3]
		d[0] = uint8((sum&0xffffffff + half) >> 16)
		d[1] = uint8((green + half) >> 16)
		d[2] = uint8((sum>>32 + half) >> 16)
	}
}
