package refine

import (
	"encoding/binary"
	"image"
	"sync"
)

// lane selects every second byte of two pixels, so that each has 16 bits.
const lane = 0x00ff00ff00ff00ff

// half rounds every lane when its upper byte is taken.
const half = 0x0080008000800080

// taps says which source samples make up each output sample, and by how much:
// output i is the sum of source first[i]… by the weights of its own, which
// add up to 256, divided by 256.
type taps struct {
	from, to int
	first    []int32 // len to
	start    []int32 // len to+1: where the weights of i begin
	weight   []uint64
}

// set fills t with the shares that the samples of a row of n take of each of
// m equal parts of it.
func (t *taps) set(n, m int) {
	if t.from == n && t.to == m {
		return
	}
	t.from, t.to = n, m
	t.first, t.start, t.weight = t.first[:0], t.start[:0], t.weight[:0]
	for i := range m {
		lo, hi := i*n, (i+1)*n // in units of 1/m source samples
		t.first = append(t.first, int32(lo/m))
		t.start = append(t.start, int32(len(t.weight)))
		done := 0
		for s := lo / m; s*m < hi; s++ {
			upTo := (256*(min((s+1)*m, hi)-lo) + n/2) / n
			t.weight = append(t.weight, uint64(upTo-done))
			done = upTo
		}
	}
	t.start = append(t.start, int32(len(t.weight)))
}

// reducer is the working memory of Reduce.
type reducer struct {
	x, y taps
	row  []byte
}

var reducers = sync.Pool{New: func() any { return new(reducer) }}

// Reduce fills dst with img at dst's size: every pixel is the mean of the area
// that it stands for, each channel for itself within 2/255. Colour counts in
// full whatever the alpha beside it. dst may have any size, larger ones repeat
// pixels. It is safe for concurrent use.
//
// Rows are summed before columns, four channels in the lanes of one word.
func Reduce(dst, img *image.NRGBA) {
	w, h := img.Rect.Dx(), img.Rect.Dy()
	dw, dh := dst.Rect.Dx(), dst.Rect.Dy()
	if w == 0 || h == 0 || dw == 0 || dh == 0 {
		return
	}
	match(img, w, h)
	match(dst, dw, dh)
	r := reducers.Get().(*reducer)
	defer reducers.Put(r)
	r.x.set(w, dw)
	r.y.set(h, dh)
	r.row = resize(r.row, 4*w+4)
	for y := range dh {
		first := int(r.y.first[y])
		r.rows(img.Pix[first*4*w:], 4*w, r.y.weight[r.y.start[y]:r.y.start[y+1]])
		r.columns(dst.Pix[y*4*dw : (y+1)*4*dw])
	}
}

// rows puts the weighted mean of rows of n bytes at the start of pix into
// r.row.
func (r *reducer) rows(pix []byte, n int, weight []uint64) {
	out := r.row[:n+4]
	i := 0
	for ; i+16 <= n; i += 16 {
		var e0, o0, e1, o1 uint64 = half, half, half, half
		at := i
		for _, k := range weight {
			s := pix[at : at+16 : at+16]
			p, q := binary.LittleEndian.Uint64(s), binary.LittleEndian.Uint64(s[8:])
			e0 += (p & lane) * k
			o0 += (p >> 8 & lane) * k
			e1 += (q & lane) * k
			o1 += (q >> 8 & lane) * k
			at += n
		}
		binary.LittleEndian.PutUint64(out[i:], e0>>8&lane|o0&^lane)
		binary.LittleEndian.PutUint64(out[i+8:], e1>>8&lane|o1&^lane)
	}
	for ; i < n; i += 4 {
		e, o := uint64(half), uint64(half)
		for j, k := range weight {
			p := uint64(binary.LittleEndian.Uint32(pix[i+j*n:]))
			e += (p & lane) * k
			o += (p >> 8 & lane) * k
		}
		binary.LittleEndian.PutUint32(out[i:], uint32(e>>8&lane|o&^lane))
	}
}

// columns puts the weighted means of the pixels in r.row into out.
func (r *reducer) columns(out []byte) {
	for x := range r.x.to {
		at := 4 * int(r.x.first[x])
		sum := uint64(half)
		for _, k := range r.x.weight[r.x.start[x]:r.x.start[x+1]] {
			p := uint64(binary.LittleEndian.Uint32(r.row[at:]))
			sum += ((p | p<<24) & lane) * k
			at += 4
		}
		sum = sum >> 8 & lane
		binary.LittleEndian.PutUint32(out[4*x:], uint32(sum|sum>>24))
	}
}
