package refine

import "image"

const (
	// cutDiff is the mean difference of colour from which on another distribution
	// of lightness, by the share of cutShift, means another scene.
	cutDiff, cutShift = 20, 0.4
	// certainDiff is the difference that means one whatever the distribution.
	certainDiff = 70
	// gridColumns is about how many places along a row are compared.
	gridColumns = 40
)

// CutDetector finds where a clip shows another scene from one frame to the
// next. The zero value is ready. It is for one goroutine.
type CutDetector struct {
	size          image.Point
	last, current []uint8 // colours of places on a grid, RGB
}

// Next reports whether img shows another scene than the picture before, or has
// another size. The first picture is not a cut. img is not kept.
func (d *CutDetector) Next(img *image.NRGBA) bool {
	size := img.Rect.Size()
	d.current = sample(d.current[:0], img)
	found := d.size != image.Point{} && (size != d.size || isCut(d.current, d.last))
	d.size, d.last, d.current = size, d.current, d.last
	return found
}

// sample appends the colours of places on a grid.
func sample(to []uint8, img *image.NRGBA) []uint8 {
	w, h := img.Rect.Dx(), img.Rect.Dy()
	step := max(w/gridColumns, 1)
	for y := min(step/2, h-1); y < h; y += step {
		for x := min(step/2, w-1); x < w; x += step {
			i := y*img.Stride + 4*x
			to = append(to, img.Pix[i:i+3]...)
		}
	}
	return to
}

// isCut compares two samples of equal length.
func isCut(a, b []uint8) bool {
	var counts [16]int
	sum, n := 0, len(a)/3
	for i := range n {
		p, q := a[3*i:3*i+3:3*i+3], b[3*i:3*i+3:3*i+3]
		sum += int(absDiff(p[0], q[0]) + absDiff(p[1], q[1]) + absDiff(p[2], q[2]))
		counts[(int(p[0])+2*int(p[1])+int(p[2]))/64]++
		counts[(int(q[0])+2*int(q[1])+int(q[2]))/64]--
	}
	other := 0
	for _, c := range counts {
		other += max(c, 0)
	}
	mean := float64(sum) / float64(3*max(n, 1))
	return mean >= certainDiff || mean >= cutDiff && float64(other) >= cutShift*float64(n)
}
