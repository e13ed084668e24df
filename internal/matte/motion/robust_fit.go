package motion

import (
	"math"
	"slices"
)

// fitRobustly refines h by the points that agree with it. sigma is how far these stray, and ok whether they
// are enough.
func fitRobustly(points []point, h Camera, scale float64) (_ Camera, sigma float64, ok bool) {
	weighted := slices.Clone(points)
	residuals := make([]float64, 0, 2*len(points))
	cut := 2 * inlierDistance / scale
	for range refits {
		residuals, sigma = h.residuals(points, residuals[:0], cut)
		if len(residuals) < 2*leastInliers {
			return h, 0, false
		}
		cut = min(cut, biweight*max(sigma, leastSigma/scale))
		h.reweigh(weighted, points, cut)
		if !h.fit(weighted) {
			return h, 0, false
		}
	}
	_, sigma = h.residuals(points, residuals[:0], cut)
	h.reweigh(weighted, points, cut)
	return h, sigma, enoughInliers(points, weighted)
}

// residuals are by how much points miss h in x and in y where that is less than cut, and
// their robust deviation.
func (h *Camera) residuals(points []point, to []float64, cut float64) (_ []float64, sigma float64) {
	for i := range points {
		p := &points[i]
		x, y := h.At(p.x, p.y)
		if x, y = math.Abs(x-p.u), math.Abs(y-p.v); x*x+y*y < cut*cut {
			to = append(to, x, y)
		}
	}
	return to, 1.4826 * median(to)
}

// median is the middle value of s, which it reorders (C. A. R. Hoare's quickselect).
func median(s []float64) float64 {
	lo, hi, k := 0, len(s)-1, len(s)/2
	if hi < 0 {
		return 0
	}
	for lo < hi {
		pivot, i, j := s[(lo+hi)/2], lo, hi
		for i <= j {
			for s[i] < pivot {
				i++
			}
			for s[j] > pivot {
				j--
			}
			if i <= j {
				s[i], s[j] = s[j], s[i]
				i, j = i+1, j-1
			}
		}
		switch {
		case k <= j:
			hi = j
		case k >= i:
			lo = i
		default:
			return s[k]
		}
	}
	return s[k]
}

// reweigh sets the weights for the next fit: those of points, times how well they agree,
// and by the denominator, which the equations leave out.
func (h *Camera) reweigh(dst, points []point, cut float64) {
	for i := range points {
		p := &points[i]
		d := 1 / (h[6]*p.x + h[7]*p.y + h[8])
		x, y := (h[0]*p.x+h[1]*p.y+h[2])*d-p.u, (h[3]*p.x+h[4]*p.y+h[5])*d-p.v
		k := max(1-(x*x+y*y)/(cut*cut), 0)
		dst[i].w = p.w * k * k * d * d
	}
}

// enoughInliers reports whether enough of the trust agrees, from places that are not all on
// a line.
func enoughInliers(all, weighted []point) bool {
	var count int
	var sum, trust, x, y, xx, xy, yy float64
	for i := range all {
		p := &weighted[i]
		trust += all[i].w
		if p.w > 0 {
			count++
		}
		sum, x, y = sum+p.w, x+p.w*p.x, y+p.w*p.y
		xx, xy, yy = xx+p.w*p.x*p.x, xy+p.w*p.x*p.y, yy+p.w*p.y*p.y
	}
	if count < leastInliers || !(sum > inlierShare*trust) {
		return false
	}
	x, y = x/sum, y/sum
	xx, xy, yy = xx/sum-x*x, xy/sum-x*y, yy/sum-y*y
	least := (xx+yy)/2 - math.Hypot((xx-yy)/2, xy) // of the eigenvalues
	return least > leastSpread*leastSpread
}

// plausible reports whether h keeps the picture's corners in order and of a likely size.
func (h *Camera) plausible(w, hh int, n *units) bool {
	const most = 4
	for _, x := range [2]float64{-n.x / n.scale, (float64(w-1) - n.x) / n.scale} {
		for _, y := range [2]float64{-n.y / n.scale, (float64(hh-1) - n.y) / n.scale} {
			d := h[6]*x + h[7]*y + h[8]
			if !(d > 1.0/most && d < most) {
				return false
			}
			area := h.det() / (d * d * d) // by how much areas grow there
			if !(area > 1.0/most && area < most) {
				return false
			}
		}
	}
	return true
}

func (h *Camera) det() float64 {
	return h[0]*(h[4]*h[8]-h[5]*h[7]) - h[1]*(h[3]*h[8]-h[5]*h[6]) + h[2]*(h[3]*h[7]-h[4]*h[6])
}

// fit sets h to the camera of least squares (Hartley and Zisserman, section 4.1, with
// the last element 1). It reports false where the points do not tell.
func (h *Camera) fit(points []point) bool {
	const perspectiveDamping = 1e-6 // how far perspective is held back, of a point's weight
	var m [8][9]float64
	var sum float64
	for i := range points {
		p := &points[i]
		if p.w == 0 {
			continue
		}
		sum += p.w
		at := [3]float64{p.x, p.y, 1}
		uv := p.u*p.u + p.v*p.v
		for r, a := range at {
			wa := p.w * a
			wu, wv := wa*p.u, wa*p.v
			for c := r; c < 3; c++ {
				m[r][c] += wa * at[c]
			}
			m[r][6], m[r][7], m[r][8] = m[r][6]-wu*p.x, m[r][7]-wu*p.y, m[r][8]+wu
			m[3+r][6], m[3+r][7], m[3+r][8] = m[3+r][6]-wv*p.x, m[3+r][7]-wv*p.y, m[3+r][8]+wv
		}
		wx, wy := p.w*uv*p.x, p.w*uv*p.y
		m[6][6], m[6][7], m[7][7] = m[6][6]+wx*p.x, m[6][7]+wx*p.y, m[7][7]+wy*p.y
		m[6][8], m[7][8] = m[6][8]-wx, m[7][8]-wy
	}
	m[6][6], m[7][7] = m[6][6]+perspectiveDamping*sum, m[7][7]+perspectiveDamping*sum
	for r := range 3 {
		copy(m[3+r][3+r:6], m[r][r:3])
	}
	s, ok := solve(&m)
	if ok {
		copy(h[:8], s[:])
		h[8] = 1
	}
	return ok
}

// solve solves a positive definite system, given by its upper half and the right side, by
// Cholesky's decomposition without roots.
func solve(m *[8][9]float64) (s [8]float64, ok bool) {
	for k := range m {
		if !(m[k][k] > 1e-12) {
			return s, false
		}
		for r := k + 1; r < len(m); r++ {
			f := m[k][r] / m[k][k]
			for c := r; c < len(m)+1; c++ {
				m[r][c] -= f * m[k][c]
			}
		}
	}
	for k := len(m) - 1; k >= 0; k-- {
		v := m[k][8]
		for c := k + 1; c < len(m); c++ {
			v -= m[k][c] * s[c]
		}
		s[k] = v / m[k][k]
	}
	return s, true
}
