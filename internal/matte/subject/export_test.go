package subject

import "image"

// NewChoice is newChoice.
func NewChoice(before, chosen []uint8, grid image.Point, drop float32, w, h int) Choice {
	return newChoice(before, chosen, grid, drop, w, h)
}

// Clicked and Boxed are marks, and Finger is the size of a click's.
const Clicked, Boxed, Finger = clicked, boxed, finger

// Logarithm is logarithm.
var Logarithm = logarithm

// Agree is agree.
var Agree = agree
