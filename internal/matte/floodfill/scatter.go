package floodfill

import "image"

const (
	// scatterShare is the least share of the surveyed borders that a colour of dither has.
	scatterShare = 0.002
	// aloneShare is the least share of its pixels there that have only backdrop beside them: those of a
	// subject at the border have not.
	aloneShare = 0.95
)

// scatter counts the colours that lie at the border and are far off the backdrop's: a subject, or single
// pixels that a palette's dither has scattered over the backdrop.
type scatter struct {
	pixels  int // of the borders
	colours map[[3]uint8]scattered
}

// scattered is how many pixels have a colour, and how many of them have only backdrop beside them.
type scattered struct{ all, alone int }

// add counts in the border of img, whose backdrop has a colour. Small pictures tell nothing.
func (s *scatter) add(img *image.NRGBA, backdrop [3]float64) {
	w, h := img.Rect.Dx(), img.Rect.Dy()
	if min(w, h) < minSurfaceSide {
		return
	}
	if s.colours == nil {
		s.colours = make(map[[3]uint8]scattered)
	}
	eachAtBorder(w, h, func(x, y int) {
		s.pixels++
		p := pixel(img, x, y)
		if p[3] < transparentBelow || difference(p, backdrop) <= flatTolerance {
			return
		}
		n := s.colours[[3]uint8(p[:3])]
		n.all++
		if alone(img, x, y, backdrop) {
			n.alone++
		}
		s.colours[[3]uint8(p[:3])] = n
	})
}

// alone reports whether what is above, below, left and right of a pixel is backdrop.
func alone(img *image.NRGBA, x, y int, backdrop [3]float64) bool {
	for _, at := range [...]image.Point{{x - 1, y}, {x + 1, y}, {x, y - 1}, {x, y + 1}} {
		if at.In(img.Rect) && difference(pixel(img, at.X, at.Y), backdrop) > flatTolerance {
			return false
		}
	}
	return true
}

// dither are the colours that are scattered over the backdrop.
func (s *scatter) dither() map[[3]uint8]bool {
	all := make(map[[3]uint8]bool)
	for c, n := range s.colours {
		if float64(n.all) >= scatterShare*float64(s.pixels) && float64(n.alone) >= aloneShare*float64(n.all) {
			all[c] = true
		}
	}
	return all
}
