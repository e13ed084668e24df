package canvas

import (
	"image"
	"image/color"
	"math"
)

// Outline is a line around the subject, as wide as Width pixels of the output.
type Outline struct {
	Colour color.NRGBA
	Width  int
}

// Shadow is the subject's soft shadow, in pixels of the output: its offset, its
// blur's standard deviation, and how dark it is, in percent.
type Shadow struct{ X, Y, Blur, Opacity int }

// Rim is what is drawn around the subject, under it. The zero value is nothing.
type Rim struct {
	Outline *Outline
	Shadow  *Shadow
}

// None reports whether nothing is drawn.
func (r Rim) None() bool { return r == Rim{} }

// Margins are the pixels that the rim takes on each side of the subject: the
// room from the corners of the subject's rectangle to those of the whole.
func (r Rim) Margins() (before, after image.Point) {
	line := 0
	if r.Outline != nil {
		line = r.Outline.Width
		before, after = image.Pt(line, line), image.Pt(line, line)
	}
	if s := r.Shadow; s != nil {
		reach := line + 3*BoxReach(float64(s.Blur))
		before = image.Pt(max(before.X, reach-s.X), max(before.Y, reach-s.Y))
		after = image.Pt(max(after.X, reach+s.X), max(after.Y, reach+s.Y))
	}
	return before, after
}

// Draw draws the rim under the subject in place.
func (r Rim) Draw(img *image.NRGBA) {
	if r.None() {
		return
	}
	w, h := img.Rect.Dx(), img.Rect.Dy()
	line, shape := []uint8(nil), make([]uint8, w*h)
	for i := range shape {
		shape[i] = img.Pix[4*i+3]
	}
	if r.Outline != nil {
		line = outline(shape, w, h, r.Outline.Width)
		for i, a := range line {
			shape[i] += uint8((uint32(255-shape[i])*uint32(a) + 127) / 255)
		}
	}
	if r.Shadow != nil {
		shape = r.Shadow.cast(shape, w, h)
	}
	for i := range shape {
		p := img.Pix[4*i : 4*i+4 : 4*i+4]
		if p[3] == 255 {
			continue
		}
		if line != nil {
			put(p, r.Outline.Colour, line[i])
		}
		if r.Shadow != nil {
			put(p, color.NRGBA{}, shape[i])
		}
	}
}

// put composites a straight pixel over a colour with an alpha, in place.
func put(p []uint8, under color.NRGBA, alpha uint8) {
	if alpha == 0 || p[3] == 255 {
		return
	}
	a := uint32(p[3])
	rest := (255 - a) * uint32(alpha) // in 1/255
	all := 255*a + rest
	for i, c := range [3]uint8{under.R, under.G, under.B} {
		p[i] = uint8((255*a*uint32(p[i]) + rest*uint32(c) + all/2) / all)
	}
	p[3] = uint8((all + 127) / 255)
}

// faint is the alpha from which a pixel has a line and a shadow.
const faint = 8

// outline is the coverage of a line around a shape: the shape, grown by a disc of
// the line's width. Coverage at the shape's edge moves the line's edge by as much
// of a pixel, so the line is as smooth as the shape.
func outline(shape []uint8, w, h, width int) []uint8 {
	line := make([]uint8, w*h)
	stamp := disc(width)
	for y := range h {
		for x := range w {
			if a := shape[y*w+x]; a >= faint && leads(shape, w, h, x, y) {
				press(line, w, h, image.Pt(x, y), stamp, int(a))
			}
		}
	}
	return line
}

// leads reports whether a pixel is next to one that is covered less. Around others
// the neighbours' discs reach farther.
func leads(shape []uint8, w, h, x, y int) bool {
	a := shape[y*w+x]
	for v := max(0, y-1); v <= min(h-1, y+1); v++ {
		for u := max(0, x-1); u <= min(w-1, x+1); u++ {
			if shape[v*w+u] < a {
				return true
			}
		}
	}
	return false
}

// disc is, for each pixel of a square around the middle, 255 times how much farther
// than its distance the line reaches from a pixel without coverage.
func disc(width int) (stamp [][]int) {
	for y := -width - 1; y <= width+1; y++ {
		row := make([]int, 0, 2*width+3)
		for x := -width - 1; x <= width+1; x++ {
			row = append(row, int(math.Round(255*(float64(width)-math.Hypot(float64(x), float64(y))))))
		}
		stamp = append(stamp, row)
	}
	return stamp
}

// press raises the line to the disc around a pixel of the shape.
func press(line []uint8, w, h int, at image.Point, stamp [][]int, alpha int) {
	middle := len(stamp) / 2
	for v, row := range stamp {
		y := at.Y + v - middle
		if y < 0 || y >= h {
			continue
		}
		for u := max(0, middle-at.X); u < min(len(row), w-at.X+middle); u++ {
			p := &line[y*w+at.X+u-middle]
			*p = max(*p, uint8(min(max(row[u]+alpha, 0), 255)))
		}
	}
}

// cast is the coverage of a shape's shadow.
func (s *Shadow) cast(shape []uint8, w, h int) []uint8 {
	out := make([]uint8, w*h)
	for y := max(0, s.Y); y < min(h, h+s.Y); y++ {
		for x := max(0, s.X); x < min(w, w+s.X); x++ {
			if a := shape[(y-s.Y)*w+x-s.X]; a >= faint {
				out[y*w+x] = uint8((int(a)*s.Opacity + 50) / 100)
			}
		}
	}
	Soften(out, w, h, BoxReach(float64(s.Blur)))
	return out
}

// Soften blurs a plane by three boxes in each direction; beyond its edges is nothing.
func Soften(plane []uint8, w, h, reach int) {
	if reach == 0 {
		return
	}
	next := make([]uint8, len(plane))
	for range 3 {
		for y := range h {
			softenRow(next[y*w:][:w], plane[y*w:][:w], reach)
		}
		softenColumns(plane, next, w, h, reach)
	}
}

// softenRow writes the mean around each of a row's pixels.
func softenRow(dst, src []uint8, reach int) {
	n, width, sum := len(src), 2*reach+1, 0
	for _, v := range src[:min(reach, n)] {
		sum += int(v)
	}
	for i := range dst {
		if i+reach < n {
			sum += int(src[i+reach])
		}
		dst[i] = uint8((sum + width/2) / width)
		if i >= reach {
			sum -= int(src[i-reach])
		}
	}
}

// softenColumns writes the mean around each pixel, along its column.
func softenColumns(dst, src []uint8, w, h, reach int) {
	width := uint32(2*reach + 1)
	sums := make([]uint32, w)
	for y := -reach; y < h; y++ {
		if y+reach < h {
			for x, v := range src[(y+reach)*w:][:w] {
				sums[x] += uint32(v)
			}
		}
		if y < 0 {
			continue
		}
		out := dst[y*w:][:w]
		for x, sum := range sums {
			out[x] = uint8((sum + width/2) / width)
		}
		if y >= reach {
			for x, v := range src[(y-reach)*w:][:w] {
				sums[x] -= uint32(v)
			}
		}
	}
}

// BoxReach is how far each of three boxes, 2·reach+1 wide, reaches from its middle:
// their variances, ((2·reach+1)² − 1)/12 each, add up to that of a Gaussian.
func BoxReach(deviation float64) int {
	return int(math.Round((math.Sqrt(4*deviation*deviation+1) - 1) / 2))
}
