// Package gif reads and writes animated GIF, streaming: neither side holds more
// than a few pictures of a clip.
//
// Reading follows browsers where they and the specification (GIF89a, 1990)
// differ. Every image of the file is one frame. The background colour is
// ignored; what no picture covers is transparent, and so are colours outside
// the palette. The canvas grows to the first picture where that is larger,
// later pictures are clipped. A delay of 0 or 1 centiseconds is shown for
// 100 ms. Extensions other than the graphic control and the loop count are
// skipped. A file that is cut off or damaged after some whole frames is those
// frames.
package gif

import "errors"

var (
	// ErrMalformed is wrapped by every error that says that the bytes are no
	// readable GIF; the message says what is wrong and where.
	ErrMalformed = errors.New("malformed gif")
	// ErrNoFrames is returned for a GIF that ends properly without a picture,
	// and by a Writer that is closed before it has one.
	ErrNoFrames = errors.New("gif without a picture")
)
