package synth

import (
	"bytes"
	"fmt"
	"image"
	"image/jpeg"
	"math/rand/v2"
	"slices"
)

// Noise returns a copy of img with independent uniform noise of -amplitude to
// +amplitude on every colour channel. The same seed gives the same noise.
func Noise(img *image.NRGBA, amplitude int, seed uint64) *image.NRGBA {
	out := clone(img)
	rng := rand.New(rand.NewPCG(seed, 0x9e3779b97f4a7c15))
	for i := range out.Pix {
		if i&3 != 3 {
			out.Pix[i] = clamp(int(out.Pix[i]) + rng.IntN(2*amplitude+1) - amplitude)
		}
	}
	return out
}

// JPEG returns img after encoding and decoding as a JPEG of the given quality
// (1–100) with 4:2:0 chroma.
func JPEG(img *image.NRGBA, quality int) (*image.NRGBA, error) {
	var buf bytes.Buffer
	if err := jpeg.Encode(&buf, img, &jpeg.Options{Quality: quality}); err != nil {
		return nil, fmt.Errorf("encode jpeg: %w", err)
	}
	dec, err := jpeg.Decode(&buf)
	if err != nil {
		return nil, fmt.Errorf("decode jpeg: %w", err)
	}
	out := image.NewNRGBA(img.Rect)
	for y := range img.Rect.Dy() {
		for x := range img.Rect.Dx() {
			out.Set(x, y, dec.At(x, y))
		}
	}
	return out, nil
}

// bayer is the 8 × 8 ordered dither matrix of B. E. Bayer, "An optimum method
// for two-level rendition of continuous-tone pictures", ICC 1973.
var bayer = func() (m [8][8]int) {
	for y := range 8 {
		for x := range 8 {
			v := 0
			for bit := range 3 {
				v |= ((x>>bit&1)^(y>>bit&1))<<(5-2*bit) | (y>>bit&1)<<(4-2*bit)
			}
			m[y][x] = v
		}
	}
	return m
}()

// Palette returns a copy of img reduced to the given number of colours (at
// least 2) by median cut and an ordered dither of ±8, as GIF writers do.
func Palette(img *image.NRGBA, colours int) *image.NRGBA {
	pal := medianCut(img, colours)
	out, cache := clone(img), map[[3]uint8][3]uint8{}
	w := img.Rect.Dx()
	for i := 0; i < len(out.Pix); i += 4 {
		x, y := i/4%w, i/4/w
		d := (bayer[y&7][x&7] - 32) / 4
		p := out.Pix[i : i+3 : i+3]
		want := [3]uint8{clamp(int(p[0]) + d), clamp(int(p[1]) + d), clamp(int(p[2]) + d)}
		got, ok := cache[want]
		if !ok {
			got = nearest(pal, want)
			cache[want] = got
		}
		copy(p, got[:])
	}
	return out
}

// medianCut is P. Heckbert's algorithm, "Color image quantization for frame
// buffer display", SIGGRAPH 1982, section 4.2.
func medianCut(img *image.NRGBA, colours int) [][3]uint8 {
	all := make([][3]uint8, 0, len(img.Pix)/4)
	for i := 0; i < len(img.Pix); i += 4 {
		all = append(all, [3]uint8(img.Pix[i:i+3]))
	}
	boxes := [][][3]uint8{all}
	for len(boxes) < colours {
		best, axis, spread := -1, 0, 0
		for i, b := range boxes {
			if a, s := widest(b); s > spread {
				best, axis, spread = i, a, s
			}
		}
		if best < 0 {
			break
		}
		lo, hi := split(boxes[best], axis)
		boxes[best] = lo
		boxes = append(boxes, hi)
	}
	pal := make([][3]uint8, len(boxes))
	for i, b := range boxes {
		var sum [3]int
		for _, p := range b {
			for k, v := range p {
				sum[k] += int(v)
			}
		}
		for k, s := range sum {
			pal[i][k] = uint8((s + len(b)/2) / len(b))
		}
	}
	return pal
}

// split halves a box at the median along axis, but never between equal values.
func split(b [][3]uint8, axis int) (lo, hi [][3]uint8) {
	slices.SortFunc(b, func(p, q [3]uint8) int { return int(p[axis]) - int(q[axis]) })
	m := len(b) / 2
	up, down := m, m
	for up < len(b) && b[up][axis] == b[up-1][axis] {
		up++
	}
	for down > 0 && b[down][axis] == b[down-1][axis] {
		down--
	}
	if up < len(b) && (down == 0 || up-m < m-down) {
		return b[:up], b[up:]
	}
	return b[:down], b[down:]
}

// widest returns the axis along which a box spreads most.
func widest(b [][3]uint8) (axis, spread int) {
	lo, hi := b[0], b[0]
	for _, p := range b {
		for k, v := range p {
			lo[k], hi[k] = min(lo[k], v), max(hi[k], v)
		}
	}
	for k := range lo {
		if s := int(hi[k]) - int(lo[k]); s > spread {
			axis, spread = k, s
		}
	}
	return axis, spread
}

func nearest(pal [][3]uint8, want [3]uint8) [3]uint8 {
	best, dist := pal[0], 1<<30
	for _, p := range pal {
		d := 0
		for k := range p {
			e := int(p[k]) - int(want[k])
			d += e * e
		}
		if d < dist {
			best, dist = p, d
		}
	}
	return best
}

func clone(img *image.NRGBA) *image.NRGBA {
	return &image.NRGBA{Pix: slices.Clone(img.Pix), Stride: img.Stride, Rect: img.Rect}
}

func clamp(v int) uint8 { return uint8(min(max(v, 0), 255)) }
