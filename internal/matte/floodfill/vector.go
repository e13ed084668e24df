package floodfill

import "math"

func maxAbs(c [3]float32) float32 { return max(abs(c[0]), abs(c[1]), abs(c[2])) }

func dot(a, b [3]float32) float32 { return a[0]*b[0] + a[1]*b[1] + a[2]*b[2] }

func sqrt(v float32) float32 { return float32(math.Sqrt(float64(v))) }

func abs(v float32) float32 {
	return math.Float32frombits(math.Float32bits(v) &^ (1 << 31))
}
