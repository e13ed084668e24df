package subject

import (
	"image"
	"math"
	"slices"

	"github.com/bgremove/bgremove/internal/matte/motion"
)

const (
	// floor and unit make a residual motion a number from 0 to 1: z²/(1+z²) where z is
	// the residual by unit times the backdrop's deviation plus floor, in pixels.
	unit, floor = 4, 0.15
	// border is how far from the picture's edge, as a share of its height, the trust that
	// a place is backdrop is halved, and middle what is left of it in the middle.
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

// meter measures the motion between neighbouring frames.
type meter struct {
	w, h     int
	grid     image.Point
	luma     motion.Luma
	pyramids [2]motion.Pyramid // of this frame and the one before
	flow     motion.Flow
	fields   [2]motion.Field // back and forward
	trust    [2][]float32
	weight   []float32 // first of the matte, then in the fit of the camera
	residual []float32
	edge     []float32 // the trust in a pixel for its distance from the picture's edge
	sample   sample
}

// measure sets the sample to that of a frame. After a cut nothing is known of its
// motion.
func (t *meter) measure(img *image.NRGBA, m *image.Alpha, cut bool) {
	t.pyramids[0], t.pyramids[1] = t.pyramids[1], t.pyramids[0]
	t.luma.Set(img)
	t.pyramids[0].Set(&t.luma)
	if cut {
		t.resize(t.luma.W, t.luma.H)
	}
	s := &t.sample
	for i, a := range m.Pix {
		t.weight[i] = float32(a) / 255
	}
	t.pool(s.matte, t.weight, 1)
	t.colours(img)
	if cut {
		for _, p := range [][]float32{s.moving, s.along, s.seen, s.Trust, s.Ahead} {
			clear(p)
		}
		return
	}
	back, forward := &t.fields[0], &t.fields[1]
	t.flow.Between(back, &t.pyramids[0], &t.pyramids[1])
	t.flow.Between(forward, &t.pyramids[1], &t.pyramids[0])
	motion.Consistency(t.trust[0], back, forward)
	motion.Consistency(t.trust[1], forward, back)
	t.pool(s.Trust, t.trust[0], 1)
	t.pool(s.Ahead, t.trust[1], 1)
	for i, f := range []*motion.Field{&s.Back, &s.Forward} {
		t.pool(f.X, t.fields[i].X, 1.0/cell)
		t.pool(f.Y, t.fields[i].Y, 1.0/cell)
	}
	t.judge()
}

// judge measures the motion against the camera's.
func (t *meter) judge() {
	s, c := &t.sample, t.trust[0]
	for i, covered := range t.weight {
		free := 1 - covered
		t.weight[i] = free*free*c[i]*t.edge[i] + minWeight
	}
	camera, sigma, ok := motion.FitCamera(&t.fields[0], t.weight)
	if !ok {
		clear(s.moving)
		clear(s.along)
		clear(s.seen)
		return
	}
	camera.Residual(t.residual, &t.fields[0])
	scale := float32(unit*sigma + floor)
	for i, r := range t.residual {
		z := r / scale
		t.residual[i] = z * z / (1 + z*z) * c[i]
	}
	t.pool(s.moving, t.residual, 1)
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
		t.pool(s.colour[c], t.residual, 1.0/255)
	}
}

// resize makes room for pictures of a size.
func (t *meter) resize(w, h int) {
	if t.w == w && t.h == h {
		return
	}
	t.w, t.h, t.grid = w, h, image.Pt((w+cell-1)/cell, (h+cell-1)/cell)
	for _, p := range []*[]float32{&t.trust[0], &t.trust[1], &t.weight, &t.residual, &t.edge} {
		*p = make([]float32, w*h)
	}
	for i := range t.edge {
		x, y := i%w, i/w
		d := float32(min(x, y, w-1-x, h-1-y)) / (border * float32(h))
		t.edge[i] = middle + (1-middle)/(1+d)
	}
	n := t.grid.X * t.grid.Y
	s := &t.sample
	for _, p := range []*[]float32{&s.matte, &s.moving, &s.along, &s.seen, &s.Trust, &s.Ahead, &s.colour[0], &s.colour[1], &s.colour[2], &s.ones} {
		*p = make([]float32, n)
	}
	for i := range s.ones {
		s.ones[i] = 1
	}
	s.Back.Set(t.grid.X, t.grid.Y)
	s.Forward.Set(t.grid.X, t.grid.Y)
}

// pool sets dst to the means over cells of the values of pixels, times scale.
func (t *meter) pool(dst, values []float32, scale float32) {
	for v := range t.grid.Y {
		to := dst[v*t.grid.X:][:t.grid.X]
		clear(to)
		rows := min((v+1)*cell, t.h) - v*cell
		for y := v * cell; y < v*cell+rows; y++ {
			row := values[y*t.w:][:t.w]
			for u := range to[:t.w/cell] {
				p := row[u*cell : u*cell+cell : u*cell+cell]
				to[u] += p[0] + p[1] + p[2] + p[3]
			}
			for x := t.w / cell * cell; x < t.w; x++ {
				to[len(to)-1] += row[x]
			}
		}
		for u := range to {
			columns := min((u+1)*cell, t.w) - u*cell
			to[u] *= scale / float32(rows*columns)
		}
	}
}

func sized[T any](s []T, n int) []T { return slices.Grow(s[:0], n)[:n] }
