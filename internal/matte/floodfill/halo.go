package floodfill

import (
	"encoding/binary"
	"image"
)

const (
	// haloNear is the largest channel difference to the backdrop of a pixel that has its
	// colour, as people see it.
	haloNear = 32
	// haloDepth is how many pixels further in the subject must be of another colour.
	haloDepth = 3
	// halves has the bit of one half of each of eight pixels' coverage.
	halves = 0x8080808080808080
)

// Halo counts the pixels at the left and right edges of a cut-out, before its matte
// is applied, and those of them that have the backdrop's colour where the subject
// itself does not.
func (e *Estimator) Halo(img *image.NRGBA, m *image.Alpha) (edge, left int) {
	if e.backdrop.Transparent {
		return 0, 0
	}
	w := m.Rect.Dx()
	for y := range m.Rect.Dy() {
		row := m.Pix[y*m.Stride:][:w]
		for x := 1; x < w; x++ {
			if x+8 <= w && (binary.LittleEndian.Uint64(row[x-1:])^binary.LittleEndian.Uint64(row[x:]))&halves == 0 {
				x += 7 // none of eight pixels is on the other side of one half than that before it
				continue
			}
			at, inward := x, 1
			if row[x-1] >= 128 {
				at, inward = x-1, -1
			}
			if (row[x-1] >= 128) == (row[x] >= 128) {
				continue
			}
			edge++
			if e.metric.distance(img.Pix, y*w+at) < haloNear && !e.alike(img, row, y*w, at+haloDepth*inward) {
				left++
			}
		}
	}
	return edge, left
}

// alike reports whether the place x of a row, which begins at first, is of the subject
// and not far from the backdrop's colour.
func (e *Estimator) alike(img *image.NRGBA, row []uint8, first, x int) bool {
	return x >= 0 && x < len(row) && row[x] >= 128 && e.metric.distance(img.Pix, first+x) < 2*haloNear
}
