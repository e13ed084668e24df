package refine

import "image"

// Band returns a copy of foreground, the subject's colour from a network beside
// matte. It keeps only the pixels that Recolour may use, near partly covered
// ones. The rest is 0, which compresses well. Both have the same size.
func Band(foreground *image.NRGBA, matte *image.Alpha) *image.NRGBA {
	w, h := size(matte)
	match(foreground, w, h)
	unsure, near := make([]uint8, w*h), make([]uint8, w*h)
	for y := range h {
		for x := range w {
			i := y*w + x
			v := matte.Pix[i]
			if v-1 < 254 || x > 0 && matte.Pix[i-1] != v || y > 0 && matte.Pix[i-w] != v {
				unsure[i] = 1
			}
		}
	}
	grow(near, unsure, w, reach, reach)
	out := image.NewNRGBA(foreground.Rect)
	for i, v := range near {
		if v != 0 {
			copy(out.Pix[4*i:4*i+4], foreground.Pix[4*i:4*i+4])
		}
	}
	return out
}

// reach is how many samples from an uncertain one Recolour may look: windows
// and their means in Upsample, and one for interpolation.
const reach = radius + smooth + ring + 2

// Recolour replaces, in place, the colour of the partly covered pixels of img by
// foreground, the subject's own in any size. Places where foreground is not
// known, which have alpha 0, do not count. It is safe for concurrent use on
// different pictures.
func Recolour(img *image.NRGBA, m *image.Alpha, foreground *image.NRGBA) {
	w, h := size(m)
	match(img, w, h)
	fw, fh := foreground.Rect.Dx(), foreground.Rect.Dy()
	for y := range h {
		row := m.Pix[y*w : (y+1)*w]
		v := locate(y, h, fh)
		for x, a := range row {
			if a-1 >= 254 {
				continue
			}
			i := 4 * (y*w + x)
			mix(img.Pix[i:i+3:i+3], foreground, locate(x, w, fw), v)
		}
	}
}

// mix sets p to the colour of f at a place between samples.
func mix(p []uint8, f *image.NRGBA, u, v position) {
	fw, fh := f.Rect.Dx(), f.Rect.Dy()
	var sum [3]float32
	var weight float32
	for j := range 2 {
		y, ky := min(int(v.at)+j, fh-1), v.part
		if j == 0 {
			ky = 1 - v.part
		}
		for k := range 2 {
			x, kx := min(int(u.at)+k, fw-1), u.part
			if k == 0 {
				kx = 1 - u.part
			}
			q := f.Pix[y*f.Stride+4*x:][:4]
			share := kx * ky * float32(q[3])
			weight += share
			for c := range sum {
				sum[c] += share * float32(q[c])
			}
		}
	}
	if weight == 0 {
		return
	}
	for c, s := range sum {
		p[c] = uint8(s/weight + 0.5)
	}
}
