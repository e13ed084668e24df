package subject

import (
	"image"
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
	// least is the weight of any pixel in the fit of the camera.
	least = 1e-4
)

// sample is the motion of one frame, by cells.
type sample struct {
	matte []float32 // coverage, 0 to 1
	// moving is the motion against the camera, 0 to 1, times seen, which is the trust in
	// it.
	moving, seen []float32
	// back is the motion to the frame before, and trust how surely it is right. forward and
	// ahead are the same for the motion from the frame before to this one, in its cells.
	back, forward motion.Field
	trust, ahead  []float32
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
	weight   []float32
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
	t.pool(s.matte, func(i int) float32 { return float32(m.Pix[i]) / 255 })
	if cut {
		for _, p := range [][]float32{s.moving, s.seen, s.trust, s.ahead} {
			clear(p)
		}
		return
	}
	back, forward := &t.fields[0], &t.fields[1]
	t.flow.Between(back, &t.pyramids[0], &t.pyramids[1])
	t.flow.Between(forward, &t.pyramids[1], &t.pyramids[0])
	motion.Consistency(t.trust[0], back, forward)
	motion.Consistency(t.trust[1], forward, back)
	t.pool(s.trust, func(i int) float32 { return t.trust[0][i] })
	t.pool(s.ahead, func(i int) float32 { return t.trust[1][i] })
	t.shrink(&s.back, back)
	t.shrink(&s.forward, forward)
	t.judge(m)
}

// judge measures the motion against the camera's.
func (t *meter) judge(m *image.Alpha) {
	s, c := &t.sample, t.trust[0]
	for i, a := range m.Pix {
		free := 1 - float32(a)/255
		t.weight[i] = free*free*c[i]*t.edge[i] + least
	}
	camera, sigma, ok := motion.FitCamera(&t.fields[0], t.weight)
	if !ok {
		clear(s.moving)
		clear(s.seen)
		return
	}
	camera.Residual(t.residual, &t.fields[0])
	scale := float32(unit*sigma + floor)
	for i, r := range t.residual {
		z := r / scale
		t.residual[i] = z * z / (1 + z*z) * c[i]
	}
	t.pool(s.moving, func(i int) float32 { return t.residual[i] })
	copy(s.seen, s.trust)
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
	for _, p := range []*[]float32{&s.matte, &s.moving, &s.seen, &s.trust, &s.ahead} {
		*p = make([]float32, n)
	}
	s.back.Set(t.grid.X, t.grid.Y)
	s.forward.Set(t.grid.X, t.grid.Y)
}

// pool sets dst to the means over cells of the values of pixels.
func (t *meter) pool(dst []float32, of func(int) float32) {
	for v := range t.grid.Y {
		y0, y1 := v*cell, min((v+1)*cell, t.h)
		for u := range t.grid.X {
			x0, x1 := u*cell, min((u+1)*cell, t.w)
			sum := float32(0)
			for y := y0; y < y1; y++ {
				for i := y*t.w + x0; i < y*t.w+x1; i++ {
					sum += of(i)
				}
			}
			dst[v*t.grid.X+u] = sum / float32((y1-y0)*(x1-x0))
		}
	}
}

// shrink makes a field of pixels one of cells.
func (t *meter) shrink(dst, f *motion.Field) {
	t.pool(dst.X, func(i int) float32 { return f.X[i] / cell })
	t.pool(dst.Y, func(i int) float32 { return f.Y[i] / cell })
}

func sized[T any](s []T, n int) []T { return slices.Grow(s[:0], n)[:n] }
