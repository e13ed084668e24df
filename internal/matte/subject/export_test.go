package subject

import "image"

// NewChoice is newChoice where all goes that is not chosen.
func NewChoice(before, chosen []uint8, grid image.Point, w, h int) Choice {
	return newChoice(before, chosen, before, grid, drop{all: true}, w, h)
}

// Clicked and Boxed are marks, and Finger is the size of a click's.
const Clicked, Boxed, Finger = clicked, boxed, finger

// Logarithm is logarithm.
var Logarithm = logarithm

// Agree is agree.
var Agree = agree

// StatesMost is statesMost.
const StatesMost = statesMost

// States is how many states are kept of previews.
func (c *Clip) States() int { return c.states.Len() }

// BreakStates closes their file, so that none can be read.
func (c *Clip) BreakStates() error { return c.states.Close() }
