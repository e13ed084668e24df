package scene

import (
	"image"
	"slices"

	"github.com/bgremove/bgremove/internal/pullpush"
)

// reduced is a picture of three channels without alpha, for blurs.
type reduced struct {
	size      image.Point
	pix, next []uint8
	filling   pullpush.Grid
}

func newReduced(size image.Point) *reduced {
	return &reduced{size: size, pix: make([]uint8, 3*size.X*size.Y), next: make([]uint8, 3*size.X*size.Y)}
}

// row is a row of the picture.
func (l *reduced) row(y int) []uint8 { return l.pix[3*y*l.size.X:][:3*l.size.X] }

// reduce makes the picture of the means of the frame's blocks.
func (l *reduced) reduce(frame *image.NRGBA, factor int) {
	l.eachRow(frame, factor, func(sums []uint32, _ int, row []uint8) { addRow(sums, row, factor) }, func(by int, sums []uint32) {
		out := l.row(by)
		for bx := range l.size.X {
			n := sums[4*bx+3]
			for c := range 3 {
				out[3*bx+c] = uint8((sums[4*bx+c] + n/2) / n)
			}
		}
	})
}

// eachRow has add sum up the frame's rows by blocks, and gives the sums of each row of
// blocks to use: three colours and a count.
func (l *reduced) eachRow(frame *image.NRGBA, factor int, add func(sums []uint32, y int, row []uint8), use func(by int, sums []uint32)) {
	w, h := frame.Rect.Dx(), frame.Rect.Dy()
	sums := make([]uint32, 4*l.size.X)
	for by := range l.size.Y {
		clear(sums)
		for y := by * factor; y < min((by+1)*factor, h); y++ {
			add(sums, y, frame.Pix[y*frame.Stride:][:4*w])
		}
		use(by, sums)
	}
}

// addRow adds a row's pixels, on black, to the sums of its blocks, and counts them.
func addRow(sums []uint32, row []uint8, factor int) {
	for len(row) > 0 {
		block := row[:min(4*factor, len(row))]
		row = row[len(block):]
		var r, g, b uint32
		for i := 0; i+4 <= len(block); i += 4 {
			a := uint32(block[i+3])
			if a == 255 {
				r, g, b = r+uint32(block[i]), g+uint32(block[i+1]), b+uint32(block[i+2])
				continue
			}
			r, g, b = r+uint32(block[i])*a/255, g+uint32(block[i+1])*a/255, b+uint32(block[i+2])*a/255
		}
		sums[0], sums[1], sums[2], sums[3] = sums[0]+r, sums[1]+g, sums[2]+b, sums[3]+uint32(len(block)/4)
		sums = sums[4:]
	}
}

// hidden is the least share, of 255, that a subject covers of a pixel for it to count as part of
// the subject.
const hidden = 8

// reduceWithout is reduce without the frame's subject, by its matte. In its place it puts the
// colours around it. Where the subject is everywhere, it stays.
func (l *reduced) reduceWithout(frame *image.NRGBA, matte *image.Alpha, factor int) {
	w, h := frame.Rect.Dx(), frame.Rect.Dy()
	samples, known := l.filling.Begin(l.size.X, l.size.Y), false
	l.eachRow(frame, factor, func(sums []uint32, y int, row []uint8) {
		addVisible(sums, row, matte.Pix[y*matte.Stride:][:w], factor)
	}, func(by int, sums []uint32) {
		line, tall := samples[by*l.size.X:][:l.size.X], min(factor, h-by*factor)
		for bx := range line {
			if sums[4*bx+3] == 0 {
				continue
			}
			known = true
			part := 1 / float32(tall*min(factor, w-bx*factor))
			for c := range line[bx] {
				line[bx][c] = float32(sums[4*bx+c]) * part
			}
		}
	})
	if !known {
		l.reduce(frame, factor)
		return
	}
	l.filling.Fill()
	for i, s := range samples {
		for c, v := range s[:3] {
			l.pix[3*i+c] = uint8(min(v, 255) + 0.5)
		}
	}
}

// addVisible is addRow without the pixels that the subject covers.
func addVisible(sums []uint32, row, cover []uint8, factor int) {
	if slices.Max(cover) < hidden {
		addRow(sums, row, factor)
		return
	}
	for len(cover) > 0 {
		n := min(factor, len(cover))
		if block := cover[:n]; slices.Max(block) < hidden {
			addRow(sums[:4], row[:4*n], factor)
		} else {
			for i, a := range block {
				if a < hidden {
					addRow(sums[:4], row[4*i:4*i+4], 1)
				}
			}
		}
		sums, row, cover = sums[4:], row[4*n:], cover[n:]
	}
}

// box is three box blurs in each direction, which are close to a Gaussian (W3C,
// Filter Effects, feGaussianBlur). The edge is repeated.
func (l *reduced) box(reach int) {
	if reach == 0 {
		return
	}
	for range 3 {
		l.boxRows(reach)
		l.boxColumns(reach)
	}
}

// reciprocal of a box's width, in 1/2²⁴, rounded up: sum·reciprocal >> 24 is exactly
// sum / width for sums of up to width bytes, while width is below 256.
func reciprocal(width int) uint32 { return uint32(1<<24/width + 1) }

// boxRows writes the mean around each pixel of pix, along its row, to next.
func (l *reduced) boxRows(reach int) {
	n, width := 3*l.size.X, 2*reach+1
	part, half := reciprocal(width), uint32(width/2)
	wide := make([]uint8, n+3*(width+1)) // the row with its edges repeated
	for y := range l.size.Y {
		row, out := l.pix[y*n:][:n], l.next[y*n:][:n]
		for i := range reach + 1 {
			copy(wide[3*i:], row[:3])
			copy(wide[n+3*(reach+i):], row[n-3:])
		}
		copy(wide[3*reach:], row)
		var sum [3]uint32
		for i := range width {
			sum[0], sum[1], sum[2] = sum[0]+uint32(wide[3*i]), sum[1]+uint32(wide[3*i+1]), sum[2]+uint32(wide[3*i+2])
		}
		leaves, enters := wide[:n], wide[3*width:][:n]
		for i := 0; i+3 <= n; i += 3 {
			for c := range 3 {
				out[i+c] = uint8((sum[c] + half) * part >> 24)
				sum[c] += uint32(enters[i+c]) - uint32(leaves[i+c])
			}
		}
	}
}

// boxColumns writes the mean around each pixel of next, along its column, to pix.
func (l *reduced) boxColumns(reach int) {
	n, width := 3*l.size.X, 2*reach+1
	part, half := reciprocal(width), uint32(width/2)
	row := func(y int) []uint8 { return l.next[min(max(y, 0), l.size.Y-1)*n:][:n] }
	sums := make([]uint32, n)
	for y := -reach; y <= reach; y++ {
		for i, v := range row(y) {
			sums[i] += uint32(v)
		}
	}
	for y := range l.size.Y {
		out, leaves, enters := l.pix[y*n:][:n], row(y-reach), row(y+reach+1)
		for i, sum := range sums {
			out[i] = uint8((sum + half) * part >> 24)
			sums[i] = sum + uint32(enters[i]) - uint32(leaves[i])
		}
	}
}

// tap is two neighbouring pixels of the reduced frame, the second with a weight in
// 1/256.
type tap struct {
	a, b   int
	weight uint32
}

// tapAt is a place on a line of so many pixels, counted from the middle of the first.
func tapAt(at float64, side int) tap {
	at = min(max(at, 0), float64(side-1))
	a := int(at)
	return tap{a: a, b: min(a+1, side-1), weight: uint32((at - float64(a)) * 256)}
}

// spread is where each of n pixels lies on a picture that is smaller by a factor and
// side pixels long.
func spread(n, factor, side int) []tap {
	all := make([]tap, n)
	for i := range all {
		all[i] = tapAt((float64(i)+0.5)/float64(factor)-0.5, side)
	}
	return all
}

// between is the value at a column and a row between four pixels.
func between(aboveA, aboveB, belowA, belowB uint8, x, y tap) uint8 {
	up := uint32(aboveA)*(256-x.weight) + uint32(aboveB)*x.weight
	down := uint32(belowA)*(256-x.weight) + uint32(belowB)*x.weight
	return uint8((up*(256-y.weight) + down*y.weight + 1<<15) >> 16)
}
