package media

import "fmt"

// Limits bound the work that a file may demand of its reader. A file of a few
// bytes can declare a picture of 17 GB, a million frames, or both. Zero fields
// mean no limit.
type Limits struct {
	MaxSide   int   // pixels of a picture's longest side
	MaxArea   int64 // pixels of a picture
	MaxFrames int
	// MaxPixels is the sum of the pictures' areas over all frames. A picture of
	// a GIF that is larger than the canvas counts with its own area, for it must
	// be decoded to be clipped.
	MaxPixels int64
}

// LimitError reports a file beyond Limits. The file may be well-formed.
type LimitError struct {
	What string // "picture side", "picture area", "frames" or "pixels of all frames"
	Got  int64  // the file's value when it was refused, 0 if unknown
	Max  int64
}

// Error implements error.
func (e *LimitError) Error() string {
	if e.Got == 0 {
		return fmt.Sprintf("%s: over the limit of %d", e.What, e.Max)
	}
	return fmt.Sprintf("%s: %d is over the limit of %d", e.What, e.Got, e.Max)
}

// CheckPicture refuses a picture that is too large, by a *LimitError.
func (l Limits) CheckPicture(w, h int) error {
	if side := max(w, h); l.MaxSide > 0 && side > l.MaxSide {
		return &LimitError{What: "picture side", Got: int64(side), Max: int64(l.MaxSide)}
	}
	if area := int64(w) * int64(h); l.MaxArea > 0 && area > l.MaxArea {
		return &LimitError{What: "picture area", Got: area, Max: l.MaxArea}
	}
	return nil
}

// CheckTotals refuses too many frames, or pixels in all of them, by a
// *LimitError.
func (l Limits) CheckTotals(frames int, pixels int64) error {
	if l.MaxFrames > 0 && frames > l.MaxFrames {
		return &LimitError{What: "frames", Got: int64(frames), Max: int64(l.MaxFrames)}
	}
	if l.MaxPixels > 0 && pixels > l.MaxPixels {
		return &LimitError{What: "pixels of all frames", Got: pixels, Max: l.MaxPixels}
	}
	return nil
}
