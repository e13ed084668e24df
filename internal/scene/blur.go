package scene

import (
	"context"
	"image"
	"sync"
	"time"

	"github.com/bgremove/bgremove/internal/canvas"
)

// Blur is the frame itself, blurred. It lies where the frame lies. Outside the
// frame its edge is repeated. Transparent parts of the frame are black.
type Blur struct {
	// Radius is the blur's standard deviation in pixels of the frame, as in CSS;
	// 0 is a fortieth of the shorter side.
	Radius int
}

// coarse is the deviation, in pixels of the reduced picture, down to which a frame
// is reduced before it is blurred: three boxes hide the blocks of a reduction.
const coarse = 2

// Open starts a pass.
func (b Blur) Open(_ context.Context, l canvas.Layout) (Pass, error) {
	return &blurPass{radius: b.Radius, layout: l}, nil
}

type blurPass struct {
	radius int
	layout canvas.Layout
	pool   sync.Pool // *light, of the size of the reduced frame
}

func (p *blurPass) At(context.Context, time.Duration) (Shot, error) { return &blurred{pass: p}, nil }

func (p *blurPass) Close() error { return nil }

// blurred is one frame, reduced by a whole factor and blurred.
type blurred struct {
	pass   *blurPass
	factor int
	light  *light
}

// light is a picture of three channels without alpha.
type light struct {
	size      image.Point
	pix, next []uint8
}

func (s *blurred) See(frame *image.NRGBA) {
	size := frame.Rect.Size()
	radius := float64(s.pass.radius)
	if radius == 0 {
		radius = max(1, float64(min(size.X, size.Y))/40)
	}
	s.factor = max(1, int(radius/coarse))
	small := image.Pt((size.X+s.factor-1)/s.factor, (size.Y+s.factor-1)/s.factor)
	s.light, _ = s.pass.pool.Get().(*light)
	if s.light == nil || s.light.size != small {
		s.light = &light{size: small, pix: make([]uint8, 3*small.X*small.Y), next: make([]uint8, 3*small.X*small.Y)}
	}
	s.light.reduce(frame, s.factor)
	s.light.blur(radius / float64(s.factor))
}

// reduce makes the picture of the means of the frame's blocks.
func (l *light) reduce(frame *image.NRGBA, factor int) {
	w, h := frame.Rect.Dx(), frame.Rect.Dy()
	sums := make([]uint32, 4*l.size.X)
	for by := range l.size.Y {
		clear(sums)
		for y := by * factor; y < min((by+1)*factor, h); y++ {
			addRow(sums, frame.Pix[y*frame.Stride:][:4*w], factor)
		}
		out := l.pix[3*by*l.size.X:][:3*l.size.X]
		for bx := range l.size.X {
			n := sums[4*bx+3]
			for c := range 3 {
				out[3*bx+c] = uint8((sums[4*bx+c] + n/2) / n)
			}
		}
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

// blur is three box blurs in each direction, which are close to a Gaussian (W3C,
// Filter Effects, feGaussianBlur). The edge is repeated.
func (l *light) blur(deviation float64) {
	reach := canvas.BoxReach(deviation)
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
func (l *light) boxRows(reach int) {
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
func (l *light) boxColumns(reach int) {
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

func (s *blurred) Under(img *image.NRGBA) {
	l := s.pass.layout
	columns := s.taps(img.Rect.Dx(), l.Target.Min.X, l.Target.Dx(), l.Window.Min.X, l.Window.Dx(), s.light.size.X)
	rows := s.taps(img.Rect.Dy(), l.Target.Min.Y, l.Target.Dy(), l.Window.Min.Y, l.Window.Dy(), s.light.size.Y)
	for y, row := range rows {
		s.underRow(img.Pix[y*img.Stride:][:4*len(columns)], columns, row)
	}
	s.pass.pool.Put(s.light)
	s.light = nil
}

// tap is two neighbouring pixels of the reduced frame, the second with a weight in
// 1/256.
type tap struct {
	a, b   int
	weight uint32
}

// taps are where each of n pixels of the canvas lies on the reduced frame, which is
// side pixels long.
func (s *blurred) taps(n, target, targetSide, window, windowSide, side int) []tap {
	all := make([]tap, n)
	for i := range all {
		at := (float64(i-target)+0.5)*float64(windowSide)/float64(targetSide) + float64(window)
		at = min(max(at/float64(s.factor)-0.5, 0), float64(side-1))
		a := int(at)
		all[i] = tap{a: a, b: min(a+1, side-1), weight: uint32((at - float64(a)) * 256)}
	}
	return all
}

func (s *blurred) underRow(row []uint8, columns []tap, y tap) {
	above := s.light.pix[3*y.a*s.light.size.X:][:3*s.light.size.X]
	below := s.light.pix[3*y.b*s.light.size.X:][:3*s.light.size.X]
	for i, x := range columns {
		p := row[4*i : 4*i+4 : 4*i+4]
		a := uint32(p[3])
		if a == 255 {
			continue
		}
		for c := range 3 {
			up := uint32(above[3*x.a+c])*(256-x.weight) + uint32(above[3*x.b+c])*x.weight
			down := uint32(below[3*x.a+c])*(256-x.weight) + uint32(below[3*x.b+c])*x.weight
			p[c] = mix(p[c], uint8((up*(256-y.weight)+down*y.weight+1<<15)>>16), a)
		}
		p[3] = 255
	}
}
