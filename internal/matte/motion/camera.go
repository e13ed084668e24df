package motion

import (
	"math"
	"math/rand/v2"
	"slices"
)

// Camera is the motion of the backdrop as a whole between two pictures: a plane
// homography, row by row, from pixels of one to pixels of the other (R. Hartley,
// A. Zisserman, "Multiple View Geometry in Computer Vision", 2nd ed., section 2.3). It
// is exact for a camera that turns or zooms, and for any motion before a flat backdrop.
type Camera [9]float64

// Identity is the camera that stands still.
func Identity() Camera { return Camera{0: 1, 4: 1, 8: 1} }

// At is where the backdrop at (x, y) goes.
func (c *Camera) At(x, y float64) (float64, float64) {
	d := 1 / (c[6]*x + c[7]*y + c[8])
	return (c[0]*x + c[1]*y + c[2]) * d, (c[3]*x + c[4]*y + c[5]) * d
}

// Residual computes how far each pixel departs from the camera's motion: dst[i]
// is the length of the difference between f's motion and c's at pixel i, in
// pixels.
func (c *Camera) Residual(dst []float32, f *Field) {
	for y := range f.H {
		i := y * f.W
		fx, fy, to := f.X[i:i+f.W], f.Y[i:i+f.W], dst[i:i+f.W]
		line, fy2 := float64(y), float32(y)
		x0, y0 := float32(c[1]*line+c[2]), float32(c[4]*line+c[5])
		d0, dx, dy, dd := float32(c[7]*line+c[8]), float32(c[0]), float32(c[3]), float32(c[6])
		for x := range to {
			at := float32(x)
			k := 1 / (d0 + dd*at)
			to[x] = length(at+fx[x]-(x0+dx*at)*k, fy2+fy[x]-(y0+dy*at)*k)
		}
	}
}

const (
	// drawnPoints and fittedPoints are about how many points of a field are asked for drawing
	// hypotheses and for the fit.
	drawnPoints, fittedPoints = 300, 1500
	// hypotheses is how many hypotheses there are, each of four points; inlierDistance is by how many
	// pixels a point may miss one to count as much as it agrees.
	hypotheses, inlierDistance = 150, 1.5
	// refits is how often the fit is repeated with new robust weights. biweight is where a
	// point no longer counts, in standard deviations (J. W. Tukey's biweight), and leastSigma
	// the least of those, in pixels.
	refits, biweight, leastSigma = 8, 4.685, 0.02
	// inlierShare is the least part of all trust that must agree, and leastInliers the least points.
	inlierShare, leastInliers = 0.25, 12
	// leastSpread is the least deviation of those points in any direction, of half the
	// picture's longer side.
	leastSpread = 0.08
)

// FitCamera fits a camera to a field. Each pixel's weight, from 0 on, is the
// trust that it shows the backdrop; there are as many as pixels. Sigma is the
// robust standard deviation (1.4826 times the median) of a component of the
// agreeing points' error, in pixels. If too few agree, or there is no sound
// motion, ok is false and the camera stands still.
//
// Four points at a time are drawn, always the same for the same field. The
// camera with the most agreement (M. A. Fischler, R. C. Bolles, "Random Sample
// Consensus", CACM 1981; P. H. S. Torr, A. Zisserman, "MLESAC", CVIU 2000, for
// its cost) is refined by iteratively reweighted least squares.
func FitCamera(f *Field, weight []float32) (c Camera, sigma float64, ok bool) {
	n := unitsOf(f)
	points := n.points(f, weight, drawnPoints)
	h, ok := drawBest(points, inlierDistance/n.scale)
	if !ok {
		return Identity(), 0, false
	}
	points = n.points(f, weight, fittedPoints)
	h, sigma, ok = fitRobustly(points, h, n.scale)
	if !ok || !h.plausible(f.W, f.H, &n) {
		return Identity(), 0, false
	}
	return n.pixels(&h), sigma * n.scale, true
}

// point is a place x, y, where the field takes it, and how far that is trusted, in
// units of a picture.
type point struct{ x, y, u, v, w float64 }

// units are coordinates with the picture's middle at 0 and its longer side from -1 to 1, for
// numerical stability (Hartley and Zisserman, section 4.4).
type units struct{ x, y, scale float64 }

func unitsOf(f *Field) units {
	x, y := float64(f.W-1)/2, float64(f.H-1)/2
	return units{x, y, max(x, y, 1)}
}

// points are about count of the field, on a grid.
func (n *units) points(f *Field, weight []float32, count int) []point {
	step := max(int(math.Sqrt(float64(f.W*f.H)/float64(count))), 1)
	points := make([]point, 0, (f.W/step+1)*(f.H/step+1))
	for y := step / 2; y < f.H; y += step {
		for x := step / 2; x < f.W; x += step {
			i := y*f.W + x
			u, v, w := float64(f.X[i]), float64(f.Y[i]), float64(weight[i])
			if !(w > 0) || math.IsNaN(u+v) || math.IsInf(u, 0) || math.IsInf(v, 0) || math.IsInf(w, 0) {
				continue
			}
			p, q := (float64(x)-n.x)/n.scale, (float64(y)-n.y)/n.scale
			points = append(points, point{p, q, p + u/n.scale, q + v/n.scale, w})
		}
	}
	return points
}

// pixels is h for pixels.
func (n *units) pixels(h *Camera) Camera {
	var c Camera
	for i := range 3 { // h times the transform to units of pixels
		a, b := h[3*i]/n.scale, h[3*i+1]/n.scale
		c[3*i], c[3*i+1], c[3*i+2] = a, b, h[3*i+2]-a*n.x-b*n.y
	}
	for j := range 3 { // and back
		c[j] = c[j]*n.scale + n.x*c[6+j]
		c[3+j] = c[3+j]*n.scale + n.y*c[6+j]
	}
	for j := range c {
		c[j] /= c[8]
	}
	return c
}

// drawBest is the best of many cameras through four points each, and the one that stands still.
func drawBest(points []point, near float64) (Camera, bool) {
	if len(points) < leastInliers {
		return Camera{}, false
	}
	total := make([]float64, len(points))
	sum := 0.0
	for i := range points {
		sum += points[i].w
		total[i] = sum
	}
	r := rand.New(rand.NewPCG(1, 2))
	best := Identity()
	least := cost(points, &best, near, math.Inf(1))
	for range hypotheses {
		var four [4]point
		for i := range four {
			at, _ := slices.BinarySearch(total, r.Float64()*sum)
			four[i] = points[min(at, len(points)-1)]
			four[i].w = 1
		}
		if !nonCollinear(&four) {
			continue
		}
		h := Identity()
		if !h.fit(four[:]) {
			continue
		}
		if v := cost(points, &h, near, least); v < least {
			best, least = h, v
		}
	}
	return best, least < (1-inlierShare)*near*near*sum
}

// nonCollinear reports whether no three of four points lie near a line.
func nonCollinear(p *[4]point) bool {
	const area = 0.04
	for i := range p {
		a, b, c := &p[i], &p[(i+1)%4], &p[(i+2)%4]
		if math.Abs((b.x-a.x)*(c.y-a.y)-(c.x-a.x)*(b.y-a.y)) < area {
			return false
		}
	}
	return true
}

// cost is the sum of the points' squared errors from h, each limited to near.
// It may stop once the sum exceeds most.
func cost(points []point, h *Camera, near, most float64) float64 {
	sum := 0.0
	for i := range points {
		p := &points[i]
		x, y := h.At(p.x, p.y)
		x, y = x-p.u, y-p.v
		if d := x*x + y*y; d < near*near {
			sum += p.w * d
		} else {
			sum += p.w * near * near
		}
		if sum > most {
			break
		}
	}
	return sum
}
