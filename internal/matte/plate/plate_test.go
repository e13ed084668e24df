package plate_test

import (
	"image"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/bgremove/bgremove/internal/matte/plate"
	"github.com/bgremove/bgremove/internal/matte/view"
)

const w, h = 128, 96

// world is a textured backdrop larger than any frame.
type world [4 * w * 4 * h]float64

func newWorld(seed uint64) *world { return textured(seed, 600, 4, 24) }

// textured is a world of n soft spots from least to most pixels large.
func textured(seed uint64, n int, least, most float64) *world {
	r := rand.New(rand.NewPCG(seed, 1))
	var o world
	for range n {
		x, y, s, v := r.Float64()*4*w, r.Float64()*4*h, least+r.Float64()*(most-least), r.Float64()*120-60
		for j := max(0, int(y-3*s)); j < min(4*h, int(y+3*s)); j++ {
			for i := max(0, int(x-3*s)); i < min(4*w, int(x+3*s)); i++ {
				o[j*4*w+i] += v * math.Exp(-(math.Pow(float64(i)-x, 2)+math.Pow(float64(j)-y, 2))/(2*s*s))
			}
		}
	}
	return &o
}

// at is the backdrop's lightness at a place between pixels.
func (o *world) at(x, y float64) float64 {
	i, j := int(x), int(y)
	u, v := x-float64(i), y-float64(j)
	k := j*4*w + i
	return 120 + (1-v)*((1-u)*o[k]+u*o[k+1]) + v*((1-u)*o[k+4*w]+u*o[k+4*w+1])
}

// shot is a frame: the world seen from (x, y), in some light, with a bright disc of
// radius 16 at (sx, sy).
func (o *world) shot(x, y, light, sx, sy float64) (*image.NRGBA, *image.Alpha) {
	img, m := image.NewNRGBA(image.Rect(0, 0, w, h)), image.NewAlpha(image.Rect(0, 0, w, h))
	for j := range h {
		for i := range w {
			v := o.at(x+float64(i), y+float64(j)) * light
			p := img.Pix[4*(j*w+i):]
			g := uint8(min(max(v, 0), 255) + 0.5)
			p[0], p[1], p[2], p[3] = g, g, uint8(float64(g)*0.8), 255
			if math.Hypot(float64(i)-sx, float64(j)-sy) < 16 {
				p[0], p[1], p[2] = 250, 10, 250
				m.Pix[j*w+i] = 255
			}
		}
	}
	return img, m
}

// look is what views say in the mean of the backdrop, and of the subject where the
// plate is known there.
type look struct {
	known   float64 // share of the backdrop's pixels
	off     float64 // mean difference of the backdrop from the plate, in 1/255
	frames  float64 // mean number of frames where known
	behind  float64 // share of the subject's pixels
	unusual float64 // mean unusualness of those
}

// pixel is what v says of pixel i.
func pixel(v view.View, i int) (q [view.Count]uint8) {
	for c := range q {
		q[c] = v.Plane(view.Plane(c))[i]
	}
	return q
}

func read(v view.View, m *image.Alpha) (l look) {
	var n, known, subject float64
	for i, a := range m.Pix {
		q := pixel(v, i)
		if a > 0 {
			subject++
			if q[view.Frames] > 0 {
				l.behind++
				l.unusual += float64(q[view.Unusual])
			}
			continue
		}
		n++
		if q[view.Frames] == 0 {
			continue
		}
		known++
		l.frames += float64(q[view.Frames]) / 16
		for c := view.RedOff; c <= view.BlueOff; c++ {
			l.off += 2 * math.Abs(float64(q[c])-128) / 3
		}
	}
	l.off, l.frames, l.unusual = l.off/max(known, 1), l.frames/max(known, 1), l.unusual/max(l.behind, 1)
	l.known, l.behind = known/n, l.behind/max(subject, 1)
	return l
}

// camera is where frame n of a clip is seen from, in which light.
type camera func(n int) (x, y, light float64)

func TestPlate(t *testing.T) {
	smooth, fine := newWorld(1), textured(1, 12000, 1.5, 4)
	for _, c := range []struct {
		name   string
		o      *world
		camera camera
	}{
		{"stands", smooth, func(int) (float64, float64, float64) { return 100, 100, 1 }},
		{"shakes", smooth, func(n int) (float64, float64, float64) {
			return 100 + 3*math.Sin(float64(5*n)), 100 + 2*math.Cos(float64(7*n)), 1
		}},
		{"pans", smooth, func(n int) (float64, float64, float64) { return 40 + 3.3*float64(n), 100 - 1.7*float64(n), 1 }},
		{"leaps", fine, func(n int) (float64, float64, float64) {
			return 100 + 18*float64(n%2), 100 - 12*float64(n/2%2), 1
		}},
		{"flickers", smooth, func(n int) (float64, float64, float64) { return 100, 100, 1 + 0.1*math.Sin(float64(3*n)) }},
		{"grows darker", smooth, func(n int) (float64, float64, float64) { return 100, 100, 1.6 - 0.01*float64(n) }},
	} {
		t.Run(c.name, func(t *testing.T) {
			var p plate.Plate
			show := func(n int) (*image.NRGBA, *image.Alpha) {
				x, y, light := c.camera(n)
				return c.o.shot(x, y, light, 30+4*float64(n), 48)
			}
			for n := range 16 {
				p.Sample(show(n))
			}
			for n := range 16 {
				img, m := show(n)
				l := read(p.Next(img, m), m)
				if l.known < 0.85 || l.off > 4 || l.behind < 0.8 || l.unusual < 128 {
					t.Errorf("frame %d: %+v", n, l)
				}
			}
		})
	}
}

// TestWithoutSamples sees that what was uncovered stays known, also far from where
// the clip began.
func TestWithoutSamples(t *testing.T) {
	o := newWorld(2)
	var p plate.Plate
	var l look
	for n := range 90 {
		img, m := o.shot(10+2.5*float64(n), 60, 1, 64, 48)
		l = read(p.Next(img, m), m)
	}
	// The disc goes with the camera: only what it has just left is not known.
	if l.known < 0.85 || l.off > 2.5 || l.frames < 4 || l.behind < 0.6 {
		t.Errorf("after 90 frames: %+v", l)
	}
}

// TestAnew sees that nothing is said of another scene, size, or a picture that
// cannot be found.
func TestAnew(t *testing.T) {
	a, b := newWorld(3), newWorld(4)
	for _, c := range []struct {
		name string
		next func() (*image.NRGBA, *image.Alpha)
	}{
		{"another place", func() (*image.NRGBA, *image.Alpha) { return b.shot(50, 50, 1, 64, 48) }},
		{"another light and place", func() (*image.NRGBA, *image.Alpha) { return b.shot(50, 50, 0.4, 64, 48) }},
		{"another size", func() (*image.NRGBA, *image.Alpha) {
			return image.NewNRGBA(image.Rect(0, 0, 40, 30)), image.NewAlpha(image.Rect(0, 0, 40, 30))
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			var p plate.Plate
			for n := range 8 {
				p.Next(a.shot(100, 100, 1, 20+6*float64(n), 48))
			}
			img, m := c.next()
			if l := read(p.Next(img, m), m); l.frames > 1 || l.off > 0 || l.behind > 0 {
				t.Errorf("%+v", l)
			}
		})
	}
}

// TestCutBack sees that samples of a scene are used when it comes back after a cut.
func TestCutBack(t *testing.T) {
	a, b := newWorld(3), newWorld(4)
	var p plate.Plate
	for n := range 6 {
		p.Sample(b.shot(50, 50, 0.3, 20+10*float64(n), 48))
	}
	for range 4 {
		p.Next(a.shot(100, 100, 1.4, 64, 48))
	}
	img, m := b.shot(50, 50, 0.3, 70, 48)
	if l := read(p.Next(img, m), m); l.behind < 0.9 || l.frames < 3 {
		t.Errorf("%+v", l)
	}
}

// TestFadeIn sees that samples count although the clip's first frames are black, and
// that black does not become a part of the plate.
func TestFadeIn(t *testing.T) {
	o := newWorld(5)
	show := func(n int) (*image.NRGBA, *image.Alpha) {
		return o.shot(100, 100, min(max(float64(n-4)/10, 0), 1), 20+3*float64(n), 48)
	}
	var p plate.Plate
	for n := 0; n < 32; n += 2 {
		p.Sample(show(n))
	}
	var l look
	for n := range 32 {
		img, m := show(n)
		l = read(p.Next(img, m), m)
	}
	if l.known < 0.9 || l.off > 4 || l.behind < 0.9 || l.unusual < 128 {
		t.Errorf("%+v", l)
	}
}

// TestLost sees that the samples are tried again after a frame that shows something
// else, and that a clip's only picture is not compared with itself.
func TestLost(t *testing.T) {
	a, b := newWorld(7), newWorld(8)
	show := func(n int) (*image.NRGBA, *image.Alpha) { return a.shot(100, 100, 1, 20+3*float64(n), 48) }
	var p, alone plate.Plate
	for n := range 24 {
		p.Sample(show(n))
	}
	p.Next(show(0))
	p.Next(b.shot(100, 100, 1, 20, 48))
	var l look
	for range 24 {
		img, m := show(1)
		l = read(p.Next(img, m), m)
	}
	if l.behind < 0.8 {
		t.Errorf("behind the subject: %+v", l)
	}
	img, m := show(0)
	alone.Sample(img, m)
	if v := alone.Next(img, m); v.Known > 0 {
		t.Errorf("%.2f of a clip's only picture known", v.Known)
	}
}

// TestOwed sees that trying the samples again costs nothing of what is known where
// they show another place.
func TestOwed(t *testing.T) {
	a, b := newWorld(7), newWorld(8)
	var p plate.Plate
	for n := range 6 {
		p.Sample(b.shot(50, 50, 1, 20+10*float64(n), 48))
	}
	p.Next(a.shot(100, 100, 1, 20, 48))
	p.Next(b.shot(100, 100, 1, 20, 48))
	for n := range 40 {
		img, m := a.shot(100, 100, 1, 20+float64(n), 48)
		if l := read(p.Next(img, m), m); n > 6 && l.known < 0.6 {
			t.Errorf("frame %d: %+v", n, l)
		}
	}
}

// TestLightFalls sees that a backdrop is itself when the light that had cut it off at
// white is back to what it was.
func TestLightFalls(t *testing.T) {
	o := newWorld(9)
	var p plate.Plate
	var l look
	for n, light := range []float64{1.2, 1.2, 1.2, 1.2, 1.4, 1.6, 1.8, 1.6} {
		img, m := o.shot(100, 100, light, 20+3*float64(n), 48)
		l = read(p.Next(img, m), m)
	}
	if l.known < 0.85 || l.off > 1.5 {
		t.Errorf("%+v", l)
	}
}

// TestClaimed sees that a still subject that is missed now and then is told from
// what it hides.
func TestClaimed(t *testing.T) {
	o := newWorld(6)
	var p plate.Plate
	var v view.View
	for n := range 12 {
		img, m := o.shot(100, 100, 1, 64, 48)
		if n%4 == 3 {
			clear(m.Pix)
		}
		v = p.Next(img, m)
	}
	at := func(x, y int) [view.Count]uint8 { return pixel(v, y*w+x) }
	if q := at(64, 48); q[view.Frames] == 0 || q[view.Claim] < 128 {
		t.Errorf("the still subject: %v", q)
	}
	if q := at(20, 20); q[view.Frames] == 0 || q[view.Claim] != 0 {
		t.Errorf("the backdrop: %v", q)
	}
}

func TestTiny(t *testing.T) {
	for _, size := range []image.Point{{1, 1}, {8, 8}, {3, 64}, {200, 2}} {
		var p plate.Plate
		r := image.Rectangle{Max: size}
		for range 3 {
			img, m := image.NewNRGBA(r), image.NewAlpha(r)
			p.Sample(img, m)
			if v := p.Next(img, m); len(v.Pix) != int(view.Count)*size.X*size.Y {
				t.Errorf("%v: %d bytes", size, len(v.Pix))
			}
		}
	}
}

func BenchmarkNext(b *testing.B) {
	o := newWorld(1)
	var p plate.Plate
	type frame struct {
		img *image.NRGBA
		m   *image.Alpha
	}
	var frames []frame
	for n := range 16 {
		img, m := o.shot(100+3*math.Sin(float64(5*n)), 100, 1, 30+4*float64(n), 48)
		frames = append(frames, frame{img, m})
	}
	n := 0
	for b.Loop() {
		p.Next(frames[n%16].img, frames[n%16].m)
		n++
	}
}
