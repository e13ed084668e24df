package subject

import (
	"image"
	"math"

	"github.com/bgremove/bgremove/internal/matte/motion"
)

const (
	// floor and unit make a residual motion a number from 0 to 1: z²/(1+z²) where z is
	// the residual by unit times the backdrop's deviation plus floor, in pixels.
	unit, floor = 4, 0.15
	// The trust that a place is backdrop falls from the picture's edge to the middle, where middle of
	// it would be left. border from the edge, as a share of the height, half of the way is done.
	border, middle = 0.1, 0.3
	// minWeight is the weight of any pixel in the fit of the camera.
	minWeight = 1e-4
	// slow and slowCamera are the motions, in pixels, of which a direction hardly counts.
	slow, slowCamera = 0.1, 0.5
)

// sample is the motion of one frame, by cells.
type sample struct {
	matte []float32 // coverage, 0 to 1
	// moving is the motion against the camera, 0 to 1, times seen, which is the trust in
	// it.
	moving, seen []float32
	// along is moving in the direction of the camera's own motion of the place, -1 to 1: as
	// of things that stand nearer than the backdrop. Things that the camera follows are below 0.
	along []float32
	// colour is the mean of each channel, 0 to 1.
	colour [3][]float32
	ones   []float32
	Links
}

// Links are how the cells of a frame and of the one before belong together. Back is the
// motion to the frame before, in cells, and Trust, 0 to 1, how surely it is right. Forward
// and Ahead are the same for the motion from the frame before to this one, in its cells.
// After a cut nothing is trusted.
type Links struct {
	Back, Forward motion.Field
	Trust, Ahead  []float32
}

// quantities are what the sample adds along tracks.
func (s *sample) quantities() *[quantities][]float32 {
	return &[quantities][]float32{moved: s.moving, along: s.along, seen: s.seen, covered: s.matte, followed: s.ones}
}

// meter measures frames: their mattes, colours, and motion against the camera.
type meter struct {
	w, h     int
	grid     image.Point
	weight   []float32 // first of the matte, then in the fit of the camera
	residual []float32
	edge     []float32 // the trust in a pixel for its distance from the picture's edge
	sample   sample
}

// measure sets the sample to that of a frame with matte m. After a cut nothing is known of its
// motion.
func (t *meter) measure(step *Step, m *image.Alpha) {
	t.resize(step.picture.Rect.Dx(), step.picture.Rect.Dy())
	s := &t.sample
	s.Links = step.links
	t.cover(m)
	t.colours(step.picture)
	if step.cut {
		for _, p := range [][]float32{s.moving, s.along, s.seen} {
			clear(p)
		}
		return
	}
	t.judge(step.pixels)
}

// cover sets the weight and the sample's matte to those of m.
func (t *meter) cover(m *image.Alpha) {
	for i, a := range m.Pix {
		t.weight[i] = float32(a) / 255
	}
	pool(t.sample.matte, t.weight, t.w, t.h, 1)
}

// judge measures the motion against the camera's.
func (t *meter) judge(p *pixelLinks) {
	s, c := &t.sample, p.trust
	for i, covered := range t.weight {
		free := 1 - covered
		t.weight[i] = free*free*c[i]*t.edge[i] + minWeight
	}
	camera, sigma, ok := motion.FitCamera(&p.back, t.weight)
	if !ok {
		clear(s.moving)
		clear(s.along)
		clear(s.seen)
		return
	}
	camera.Residual(t.residual, &p.back)
	scale := float32(unit*sigma + floor)
	for i, r := range t.residual {
		z := r / scale
		t.residual[i] = z * z / (1 + z*z) * c[i]
	}
	pool(s.moving, t.residual, t.w, t.h, 1)
	copy(s.seen, s.Trust)
	t.split(&camera)
}

// split finds which part of the motion against the camera goes the camera's way.
func (t *meter) split(camera *motion.Camera) {
	s := &t.sample
	for k, m := range s.moving {
		x, y := float64(k%t.grid.X*cell)+(cell-1)/2.0, float64(k/t.grid.X*cell)+(cell-1)/2.0
		toX, toY := camera.At(x, y)
		cx, cy := toX-x, toY-y
		rx, ry := cell*float64(s.Back.X[k])-cx, cell*float64(s.Back.Y[k])-cy
		s.along[k] = m * float32((rx*cx+ry*cy)/((math.Hypot(rx, ry)+slow)*(math.Hypot(cx, cy)+slowCamera)))
	}
}

// colours sets the sample's colours to the picture's means over cells.
func (t *meter) colours(img *image.NRGBA) {
	s := &t.sample
	for c := range s.colour {
		for y := range t.h {
			row := img.Pix[y*img.Stride:]
			for x := range t.w {
				t.residual[y*t.w+x] = float32(row[4*x+c])
			}
		}
		pool(s.colour[c], t.residual, t.w, t.h, 1.0/255)
	}
}

// resize makes room for pictures of a size.
func (t *meter) resize(w, h int) {
	if t.w == w && t.h == h {
		return
	}
	t.w, t.h, t.grid = w, h, cells(w, h)
	for _, p := range []*[]float32{&t.weight, &t.residual, &t.edge} {
		*p = make([]float32, w*h)
	}
	for i := range t.edge {
		x, y := i%w, i/w
		d := float32(min(x, y, w-1-x, h-1-y)) / (border * float32(h))
		t.edge[i] = middle + (1-middle)/(1+d)
	}
	n := t.grid.X * t.grid.Y
	s := &t.sample
	for _, p := range []*[]float32{&s.matte, &s.moving, &s.along, &s.seen, &s.colour[0], &s.colour[1], &s.colour[2], &s.ones} {
		*p = make([]float32, n)
	}
	for i := range s.ones {
		s.ones[i] = 1
	}
}
