package floodfill

import "math"

// vector is a colour minus the backdrop's, or another difference of colours. It is a
// struct because the compiler keeps structs in registers, and arrays in memory.
type vector struct{ r, g, b float32 }

func (v vector) plus(o vector) vector { return vector{v.r + o.r, v.g + o.g, v.b + o.b} }

func (v vector) minus(o vector) vector { return vector{v.r - o.r, v.g - o.g, v.b - o.b} }

func (v vector) times(f float32) vector { return vector{f * v.r, f * v.g, f * v.b} }

func (v vector) over(f float32) vector { return vector{v.r / f, v.g / f, v.b / f} }

// less is the vector with f taken from each channel.
func (v vector) less(f float32) vector { return vector{v.r - f, v.g - f, v.b - f} }

func maxAbs(v vector) float32 { return max(abs(v.r), abs(v.g), abs(v.b)) }

func dot(a, b vector) float32 { return a.r*b.r + a.g*b.g + a.b*b.b }

func sqrt(v float32) float32 { return float32(math.Sqrt(float64(v))) }

func abs(v float32) float32 {
	return math.Float32frombits(math.Float32bits(v) &^ (1 << 31))
}
