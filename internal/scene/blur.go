package scene

import (
	"context"
	"image"
	"sync"
	"time"

	"github.com/bgremove/bgremove/internal/canvas"
)

// Blur is the frame itself without its subject, blurred: where that was, the colours around
// it go on, so that it has no glow of its own. It lies where the frame lies. Outside the
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
	pool   sync.Pool // *reduced, of the frame's size over the factor
}

func (p *blurPass) At(context.Context, time.Duration) (Shot, error) { return &blurred{pass: p}, nil }

func (p *blurPass) Close() error { return nil }

// blurred is one frame, reduced by a whole factor and blurred.
type blurred struct {
	pass    *blurPass
	factor  int
	picture *reduced
	lit     *Light
}

func (s *blurred) See(frame *image.NRGBA, matte *image.Alpha) {
	size := frame.Rect.Size()
	radius := float64(s.pass.radius)
	if radius == 0 {
		radius = max(1, float64(min(size.X, size.Y))/40)
	}
	s.factor = max(1, int(radius/coarse))
	small := image.Pt((size.X+s.factor-1)/s.factor, (size.Y+s.factor-1)/s.factor)
	s.picture, _ = s.pass.pool.Get().(*reduced)
	if s.picture == nil || s.picture.size != small {
		s.picture = newReduced(small)
	}
	s.picture.reduceWithout(frame, matte, s.factor)
	s.picture.box(canvas.BoxReach(radius / float64(s.factor)))
}

func (s *blurred) Under(img *image.NRGBA) {
	s.draw(img, 1)
	s.pass.pool.Put(s.picture)
	s.picture = nil
}

// Light is made from the blur as it lies on the canvas.
func (s *blurred) Light() *Light {
	if s.lit == nil {
		s.lit = newLight(s.pass.layout.Size)
		img := image.NewNRGBA(image.Rectangle{Max: s.lit.size})
		s.draw(img, s.lit.factor)
		s.lit.reduce(img, 1)
		s.lit.finish()
	}
	return s.lit
}

// draw draws the blur under a picture of the canvas that is smaller by a factor.
func (s *blurred) draw(img *image.NRGBA, factor int) {
	l := s.pass.layout
	columns := s.taps(img.Rect.Dx(), factor, l.Target.Min.X, l.Target.Dx(), l.Window.Min.X, l.Window.Dx(), s.picture.size.X)
	rows := s.taps(img.Rect.Dy(), factor, l.Target.Min.Y, l.Target.Dy(), l.Window.Min.Y, l.Window.Dy(), s.picture.size.Y)
	for y, row := range rows {
		s.underRow(img.Pix[y*img.Stride:][:4*len(columns)], columns, row)
	}
}

// taps are where each of n pixels, each of a factor of the canvas's, lies on the
// reduced frame, which is side pixels long.
func (s *blurred) taps(n, factor, target, targetSide, window, windowSide, side int) []tap {
	all := make([]tap, n)
	for i := range all {
		at := (float64(i*factor-target)+0.5*float64(factor))*float64(windowSide)/float64(targetSide) + float64(window)
		all[i] = tapAt(at/float64(s.factor)-0.5, side)
	}
	return all
}

func (s *blurred) underRow(row []uint8, columns []tap, y tap) {
	above, below := s.picture.row(y.a), s.picture.row(y.b)
	for i, x := range columns {
		p := row[4*i : 4*i+4 : 4*i+4]
		a := uint32(p[3])
		if a == 255 {
			continue
		}
		for c := range 3 {
			p[c] = canvas.Mix(p[c], between(above[3*x.a+c], above[3*x.b+c], below[3*x.a+c], below[3*x.b+c], x, y), a)
		}
		p[3] = 255
	}
}
