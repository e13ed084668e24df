package floodfill

import "image"

// haloNear is the largest channel difference to the backdrop of a pixel that has its
// colour, as people see it.
const haloNear = 32

// Halo counts the pixels at the left and right edges of a cut-out, before its matte
// is applied, and those of them that have the backdrop's colour.
func (e *Estimator) Halo(img *image.NRGBA, m *image.Alpha) (edge, left int) {
	if e.backdrop.Transparent {
		return 0, 0
	}
	w := m.Rect.Dx()
	for y := range m.Rect.Dy() {
		row := m.Pix[y*m.Stride:][:w]
		for x := 1; x < w; x++ {
			if (row[x-1] >= 128) == (row[x] >= 128) {
				continue
			}
			at := y*w + x
			if row[x-1] >= 128 {
				at--
			}
			edge++
			if e.band.distance(img.Pix, at) < haloNear {
				left++
			}
		}
	}
	return edge, left
}
