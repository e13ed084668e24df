// Package synth draws short clips with exactly known alpha and foreground
// colour, for tests and benchmarks. It can also degrade them as GIF palettes,
// JPEG and sensors do. It is deterministic: the same Clip gives the same bytes
// on every machine of one architecture.
package synth

import (
	"image"
	"image/color"
)

// Backdrops in contrast to the subjects' colours.
var (
	Green = color.NRGBA{0, 255, 0, 255}
	White = color.NRGBA{255, 255, 255, 255}
	Black = color.NRGBA{0, 0, 0, 255}
	Blue  = color.NRGBA{40, 90, 200, 255}
)

// Clip is a clip in front of one flat backdrop. The zero value is not useful:
// Width, Height and Frames must be positive. A Clip is a value; its methods
// may be called concurrently.
type Clip struct {
	Width, Height int // pixels
	Frames        int // length of one period of the motion
	Backdrop      color.NRGBA
	Subject       Subject
	// Still stops all motion: every frame is frame 0.
	Still bool
}

// Picture is one drawn frame. All images start at the origin and have
// contiguous rows; the caller owns them.
type Picture struct {
	// Image is the subject over the backdrop, opaque.
	Image *image.NRGBA
	// Alpha is the true coverage of the subject, the nearest of 256 steps.
	Alpha *image.Alpha
	// Foreground is the subject's own colour, opaque where Alpha is above 0 and
	// zero elsewhere. Image is the mix of Foreground and backdrop by Alpha,
	// rounded to the nearest.
	Foreground *image.NRGBA
}

// Frame draws frame i. Any i is allowed; frames repeat after c.Frames.
func (c Clip) Frame(i int) Picture {
	var turn float64
	if !c.Still && c.Frames > 0 {
		turn = float64(i%c.Frames) / float64(c.Frames)
	}
	cv := newCanvas(c.Width, c.Height)
	for _, s := range c.Subject.shapes(c, turn) {
		cv.draw(s)
	}
	return cv.picture(c.Backdrop)
}
