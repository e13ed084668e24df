package subject

import "image"

// NewChoice is newChoice where nothing is gone.
func NewChoice(before, chosen []uint8, grid image.Point, drop float32, w, h int) Choice {
	return newChoice(&found{before, chosen, make([]uint8, len(chosen))}, grid, drop, w, h)
}

// Logarithm is logarithm.
var Logarithm = logarithm
