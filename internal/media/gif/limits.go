package gif

import "fmt"

// Limits bounds what a GIF may ask of its reader. A file of a few bytes can
// declare a canvas of 17 GB, and nothing in it says how many frames follow.
type Limits struct {
	// MaxSide is the longest canvas side in pixels; 0 means 65535, which the
	// format itself cannot exceed.
	MaxSide int
	// MaxArea is the canvas area in pixels; 0 means no limit.
	MaxArea int64
	// MaxFrames is the number of frames; 0 means no limit.
	MaxFrames int
	// MaxPixels is the sum of the canvas area over all frames; 0 means no
	// limit. A picture larger than the canvas counts with its own area, for it
	// must be decoded to be clipped.
	MaxPixels int64
}

// LimitError reports a GIF beyond Limits. The file may be well-formed.
type LimitError struct {
	What string // "canvas side", "canvas area", "frames" or "pixels"
	Got  int64  // what the file had asked for when it was refused
	Max  int64
}

// Error implements error.
func (e *LimitError) Error() string {
	return fmt.Sprintf("gif: %s: %d is over the limit of %d", e.What, e.Got, e.Max)
}

func (l Limits) checkSides(w, h int) error {
	if side := max(w, h); l.MaxSide > 0 && side > l.MaxSide {
		return &LimitError{What: "canvas side", Got: int64(side), Max: int64(l.MaxSide)}
	}
	if area := int64(w) * int64(h); l.MaxArea > 0 && area > l.MaxArea {
		return &LimitError{What: "canvas area", Got: area, Max: l.MaxArea}
	}
	return nil
}

func (l Limits) checkTotals(frames int, pixels int64) error {
	if l.MaxFrames > 0 && frames > l.MaxFrames {
		return &LimitError{What: "frames", Got: int64(frames), Max: int64(l.MaxFrames)}
	}
	if l.MaxPixels > 0 && pixels > l.MaxPixels {
		return &LimitError{What: "pixels", Got: pixels, Max: l.MaxPixels}
	}
	return nil
}
