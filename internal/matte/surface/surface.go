// Package surface describes colours that change slowly over a picture, as the light on
// a backdrop does, by polynomials of second order.
package surface

// Surface is a colour over a picture: for red, green and blue the factors of 1, u, v,
// u², uv and v², where u and v run from −1 to 1 along the picture's sides.
type Surface [3][6]float64

// At is the colour at a place of the picture.
func (s *Surface) At(u, v float64) (c [3]float64) {
	t := terms(u, v)
	for k := range c {
		f := &s[k]
		c[k] = f[0]*t[0] + f[1]*t[1] + f[2]*t[2] + f[3]*t[3] + f[4]*t[4] + f[5]*t[5]
	}
	return c
}

func terms(u, v float64) [6]float64 { return [6]float64{1, u, v, u * u, u * v, v * v} }

// Span is the largest difference of a channel over the picture.
func (s *Surface) Span() float64 {
	var most float64
	lo, hi := s.At(0, 0), s.At(0, 0)
	for i := range 25 {
		c := s.At(float64(i%5)/2-1, float64(i/5)/2-1)
		for k := range c {
			lo[k], hi[k] = min(lo[k], c[k]), max(hi[k], c[k])
			most = max(most, hi[k]-lo[k])
		}
	}
	return most
}

// Fit finds a surface by least squares. The zero value has no points.
type Fit struct {
	a [6][6]float64
	b [3][6]float64
}

// Add adds the colour at a place, which counts by weight.
func (m *Fit) Add(u, v float64, colour [3]float64, weight float64) {
	x := terms(u, v)
	for i := range x {
		w := weight * x[i]
		for j := range x {
			m.a[i][j] += w * x[j]
		}
		for k := range m.b {
			m.b[k][i] += w * colour[k]
		}
	}
}

// Solve is Gauss's elimination. A little is added to the diagonal, so
// directions without information stay flat.
func (m *Fit) Solve() (s Surface) {
	for i := range m.a {
		m.a[i][i] += 1e-4*m.a[0][0] + 1e-9
	}
	for i := range m.a {
		for j := i + 1; j < len(m.a); j++ {
			f := m.a[j][i] / m.a[i][i]
			for l := i; l < len(m.a); l++ {
				m.a[j][l] -= f * m.a[i][l]
			}
			for k := range m.b {
				m.b[k][j] -= f * m.b[k][i]
			}
		}
	}
	for k := range s {
		for i := len(m.a) - 1; i >= 0; i-- {
			v := m.b[k][i]
			for j := i + 1; j < len(m.a); j++ {
				v -= m.a[i][j] * s[k][j]
			}
			s[k][i] = v / m.a[i][i]
		}
	}
	return s
}
