package motion

import "math"

// Carry brings values of the picture that f points to back to where f starts: dst[i]
// is src at pixel i plus its displacement, between pixels by bilinear interpolation, and
// outside where that is beyond the picture. Both have the size of f and are
// different memory.
func (f *Field) Carry(dst, src []float32, outside float32) {
	g := f.grid()
	for y := range f.H {
		i, j := y*f.W, (y+1)*f.W
		g.carry(dst[i:j], f.X[i:j], f.Y[i:j], src[:f.W*f.H], float32(y), outside)
	}
}

// Consistency computes how far two fields agree: dst[i] is near 1 if following
// forward from pixel i and then back returns to it, and 0 if forward leaves the
// picture. An error of one pixel plus a twentieth of the way gives one half.
//
// It is the forward-backward check against occlusion (N. Sundaram, T. Brox, K.
// Keutzer, "Dense Point Trajectories by GPU-accelerated Large Displacement
// Optical Flow", ECCV 2010), made gradual. All three have the same size.
func Consistency(dst []float32, forward, back *Field) {
	g := forward.grid()
	n := forward.W * forward.H
	for y := range forward.H {
		i, j := y*forward.W, (y+1)*forward.W
		g.consistency(dst[i:j], forward.X[i:j], forward.Y[i:j], back.X[:n], back.Y[:n], float32(y))
	}
}

const (
	// borderTolerance is by how many pixels a place may be beyond the border, for rounding.
	borderTolerance = 1e-3
	// halfError and halfErrorShare are the miss that makes Consistency a half: in pixels, and of
	// the way.
	halfError, halfErrorShare = 1, 0.05
)

// grid is where the pixels of a picture are.
type grid struct {
	w            int
	right, below int     // to the next pixel, unless there is only one
	lastX, lastY int32   // the last that have such a next one
	endX, endY   float32 // the last places inside
}

func (f *Field) grid() grid {
	return grid{
		f.W, min(1, f.W-1), min(1, f.H-1) * f.W, int32(max(f.W-2, 0)), int32(max(f.H-2, 0)),
		float32(f.W-1) + borderTolerance, float32(f.H-1) + borderTolerance,
	}
}

// at is the pixel to the left of and above a place inside, and how far that is on the way to the
// next ones.
func (g *grid) at(x, y float32) (at int, kx, ky float32) {
	ix, iy := min(int32(x), g.lastX), min(int32(y), g.lastY)
	return int(iy)*g.w + int(ix), x - float32(ix), y - float32(iy)
}

// of is the bilinear value of s there.
func (g *grid) of(s []float32, at int, kx, ky float32) float32 {
	a, b, c, d := s[at], s[at+g.right], s[at+g.below], s[at+g.below+g.right]
	top, bottom := a+float32(kx*(b-a)), c+float32(kx*(d-c))
	return top + float32(ky*(bottom-top))
}

// carry is Carry for row y.
func (g *grid) carry(dst, fx, fy, src []float32, y, outside float32) {
	fx, fy = fx[:len(dst)], fy[:len(dst)]
	for x := range dst {
		px, py := float32(x)+fx[x], y+fy[x]
		if px >= -borderTolerance && py >= -borderTolerance && px <= g.endX && py <= g.endY {
			at, kx, ky := g.at(px, py)
			dst[x] = g.of(src, at, kx, ky)
		} else {
			dst[x] = outside
		}
	}
}

func length(x, y float32) float32 { return root(float32(x*x) + float32(y*y)) }

func root(x float32) float32 { return float32(math.Sqrt(float64(x))) }
