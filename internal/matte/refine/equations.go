package refine

import "github.com/bgremove/bgremove/internal/buffer"

const (
	// mostRounds is how often solve comes nearer at most, and closeEnough the share of the first
	// error at which it ends.
	mostRounds, closeEnough = 200, 1e-5
)

// equations are those for values that lie as near as they can to what they are pulled to, and to
// the values that they are coupled with. The sum of the weighted squares of the distances is least.
type equations struct {
	weights  []float32 // of all that pulls at each value
	pulls    []float32 // what it is pulled to, times the weight
	couples  []couple
	residual []float32 // and the other vectors of solve
	nearer   []float32
	way      []float32
	product  []float32
}

// couple is two values that are drawn to each other.
type couple struct {
	i, j   int32
	weight float32
}

// reset begins equations of n values without any pull.
func (s *equations) reset(n int) {
	s.weights, s.pulls, s.couples = buffer.Sized(s.weights, n), buffer.Sized(s.pulls, n), s.couples[:0]
	clear(s.weights)
	clear(s.pulls)
}

// pull draws value i to v.
func (s *equations) pull(i int, v, weight float32) {
	s.weights[i] += weight
	s.pulls[i] += weight * v
}

// couple draws two values to each other.
func (s *equations) couple(i, j int, weight float32) {
	s.couples = append(s.couples, couple{int32(i), int32(j), weight})
	s.weights[i] += weight
	s.weights[j] += weight
}

// solve finds the values x, from those that it has on. Each must be pulled at.
//
// These are conjugate gradients (M. Hestenes and E. Stiefel, "Methods of Conjugate Gradients for
// Solving Linear Systems", 1952), with the weights as preconditioner.
func (s *equations) solve(x []float32) {
	n := len(x)
	s.residual, s.nearer, s.way, s.product = buffer.Sized(s.residual, n), buffer.Sized(s.nearer, n), buffer.Sized(s.way, n), buffer.Sized(s.product, n)
	s.multiply(s.product, x)
	for i, p := range s.product {
		s.residual[i] = s.pulls[i] - p
		s.nearer[i] = s.residual[i] / s.weights[i]
	}
	copy(s.way, s.nearer)
	far := dot(s.residual, s.nearer)
	enough := closeEnough * far
	for round := 0; round < mostRounds && far > enough; round++ {
		s.multiply(s.product, s.way)
		length := far / dot(s.way, s.product)
		for i, d := range s.way {
			x[i] += length * d
			s.residual[i] -= length * s.product[i]
			s.nearer[i] = s.residual[i] / s.weights[i]
		}
		before := far
		far = dot(s.residual, s.nearer)
		for i, d := range s.nearer {
			s.way[i] = d + far/before*s.way[i]
		}
	}
}

// multiply sets y to their matrix times x.
func (s *equations) multiply(y, x []float32) {
	for i, v := range x {
		y[i] = s.weights[i] * v
	}
	for _, c := range s.couples {
		y[c.i] -= c.weight * x[c.j]
		y[c.j] -= c.weight * x[c.i]
	}
}

func dot(a, b []float32) (sum float32) {
	for i, v := range a {
		sum += v * b[i]
	}
	return sum
}
