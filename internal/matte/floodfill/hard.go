package floodfill

import (
	"image"
	"slices"
)

const (
	// hardColours is the largest number of colours that make up hardMost of a
	// hard edge.
	hardColours, hardMost = 24, 0.98
	// hardMixes is the share of an edge that may look like a mix by chance.
	hardMixes = 0.08
	// hardNoise is the most noise of a backdrop before which edges are hard.
	hardNoise = 1
	// tooManyColours is where counting ends: no hard edge has as many.
	tooManyColours = 1 << 12
	// mixFrom and mixTo bound the coverage of a mix, mixTolerance is how far it may lie
	// beside the line between the two colours.
	mixFrom, mixTo, mixTolerance = 0.1, 0.9, 20
)

// rims counts the kinds of pixels that touch the backdrop, to distinguish pixel
// art with hard edges from drawings with smooth ones.
type rims struct {
	colours      map[[3]uint8]int
	count, mixes int
}

// add looks at the left and right ends of the backdrop's runs.
func (r *rims) add(img *image.NRGBA, b *metric, l *labels) {
	if r.colours == nil {
		r.colours = make(map[[3]uint8]int)
	}
	for i := range l.runs {
		run := &l.runs[i]
		if !l.parts[l.find(run.label)].selected || len(r.colours) > tooManyColours {
			continue
		}
		row := int(run.y) * l.w
		if left := int(run.x0); left > 0 {
			r.record(img.Pix, b, row+left-1, -1, min(left-1, inward))
		}
		if right := int(run.x1); right < l.w {
			r.record(img.Pix, b, row+right, 1, min(l.w-right-1, inward))
		}
	}
}

// record counts a pixel, and the next colour behind it within some steps.
func (r *rims) record(pix []byte, b *metric, at, step, steps int) {
	own := [3]uint8(pix[4*at:])
	r.colours[own]++
	r.count++
	behind := at
	for k := 1; k <= steps && own == [3]uint8(pix[4*behind:]); k++ {
		behind += step
	}
	c, f := b.offset(pix, at), b.offset(pix, behind)
	f2, p := dot(f, f), dot(c, f)
	if f2 == 0 {
		return
	}
	share := p / f2
	if share > mixFrom && share < mixTo && dot(c, c)-p*share <= mixTolerance*mixTolerance {
		r.mixes++
	}
}

// hard reports whether the edges are those of pixel art.
func (r *rims) hard() bool {
	if r.count == 0 || len(r.colours) > tooManyColours || float64(r.mixes) > hardMixes*float64(r.count) {
		return false
	}
	var counts []int
	for _, n := range r.colours {
		counts = append(counts, n)
	}
	slices.Sort(counts)
	slices.Reverse(counts)
	most := 0
	for _, n := range counts[:min(hardColours, len(counts))] {
		most += n
	}
	return float64(most) >= hardMost*float64(r.count)
}
