// Package gif reads and writes animated GIF as a stream: neither side holds
// more than a few pictures of a clip.
//
// Reading follows browsers where they and the specification (GIF89a, 1990)
// differ. Every image of the file is one frame. The background colour is
// ignored. Pixels without a picture are transparent, and so are colours outside
// the palette. The canvas grows to a larger first picture; later pictures are
// clipped. Short delays are stretched, see media.Shown. Extensions other
// than the graphic control and the loop count are skipped. A file that is
// truncated or damaged after some whole frames yields those frames.
package gif

import "errors"

var (
	// ErrMalformed is wrapped by every error about bytes that are not a
	// readable GIF. The message names the fault and its position.
	ErrMalformed = errors.New("malformed gif")
	// ErrNoFrames is returned for a GIF that ends properly without a picture.
	ErrNoFrames = errors.New("gif without a picture")
)
