package segment

import (
	"context"
	"image"
	"slices"

	"github.com/bgremove/bgremove/internal/matte/refine"
	"github.com/bgremove/bgremove/internal/matte/view"
)

const (
	// block is the side of the squares of a view that are revised or not. The reviser
	// halves pictures so often that a part of whole blocks is seen as in the whole picture.
	block = 16
	// reach is how many blocks on each side of one in doubt are revised with it, and
	// doubtful how many pixels in doubt such a block has.
	reach, doubtful = 1, 6
	// unsure and sure are the coverages between which a matte is in doubt by itself.
	unsure, sure = 26, 229
	// usual is the view.Unusual up to which a pixel seems to be backdrop, and unusual that
	// from which on it seems to be something else.
	usual, unusual = 24, 56
)

// revised is the matte of a draft with its parts in doubt revised.
func (e *Estimator) revised(ctx context.Context, d draft) (*image.Alpha, error) {
	m := copied(d.matte)
	for _, r := range doubts(d.view) {
		part, err := e.network.Revise(ctx, d.view.Part(r))
		if err != nil {
			return nil, err
		}
		refine.Place(m, r, part)
	}
	return m, nil
}

// keepSure gives m, a revised matte, the old values that were sure where the plate is not known.
func keepSure(v *view.View, m, old *image.Alpha) {
	for i, frames := range v.Plane(view.Frames) {
		if a := old.Pix[i]; frames == 0 && (a < unsure || a > sure) {
			m.Pix[i] = a
		}
	}
}

// doubts are the parts of a view in which the reviser has something to decide: the matte
// is unsure, or the plate speaks against it. They do not overlap.
func doubts(v *view.View) (parts []image.Rectangle) {
	counts := make([]int, (v.W+block-1)/block)
	for top := 0; top < v.H; top += block {
		clear(counts)
		countDoubts(counts, v, top)
		for i, n := range counts {
			if n >= doubtful {
				b := image.Rect(i*block, top, (i+1)*block, top+block).Inset(-reach * block)
				parts = joined(parts, b.Intersect(image.Rect(0, 0, v.W, v.H)))
			}
		}
	}
	return parts
}

// countDoubts adds the pixels in doubt of a row of blocks.
func countDoubts(counts []int, v *view.View, top int) {
	i, end := top*v.W, min(top+block, v.H)*v.W
	coverage, strange, frames := v.Plane(view.Coverage)[i:end], v.Plane(view.Unusual)[i:end], v.Plane(view.Frames)[i:end]
	for i, a := range coverage {
		known := frames[i] > 0
		switch {
		case a < unsure && (!known || strange[i] < unusual):
		case a > sure && (!known || strange[i] > usual):
		default:
			counts[i%v.W/block]++
		}
	}
}

// joined is parts with r, which is one with those that it overlaps.
func joined(parts []image.Rectangle, r image.Rectangle) []image.Rectangle {
	for i := 0; i < len(parts); {
		if !parts[i].Overlaps(r) {
			i++
			continue
		}
		r = r.Union(parts[i])
		parts, i = slices.Delete(parts, i, i+1), 0
	}
	return append(parts, r)
}
