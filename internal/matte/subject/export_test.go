package subject

import "image"

// NewChoice is newChoice where nothing is gone.
func NewChoice(before, chosen []uint8, grid image.Point, drop float32, w, h int) Choice {
	return newChoice(&found{before, chosen, make([]uint8, len(chosen))}, grid, drop, w, h)
}

// Clicked, Near and Boxed are marks, and Most bounds the samples of a frame.
const Clicked, Near, Boxed, Most = clicked, near, boxed, most

// Logarithm is logarithm.
var Logarithm = logarithm
