package media

import (
	"context"
	"fmt"
	"time"
)

// Clip is a file that can be read any number of times; each pass over it is a
// Source of its own.
type Clip interface {
	// Info describes the whole clip.
	Info() Info
	// Open starts a pass. The source ends when ctx does.
	Open(ctx context.Context, o ReadOptions) (Source, error)
}

// ReadOptions selects the frames of a pass. The zero value selects the whole
// clip.
type ReadOptions struct {
	// Every delivers only each n-th frame, starting with the first; 0 and 1
	// deliver all. Times stay those of the clip, durations are not adjusted.
	Every int
	// From and To are hints: frames with a PTS before From, or at or after To,
	// may be left out. To = 0 is the end of the clip.
	From, To time.Duration
	// Pool lends every picture; the caller puts all of them back.
	Pool *Pool
	// Recording, if set, may keep what the first pass with it decodes, and give it to later ones, which
	// are of the same frames.
	Recording *Recording
}

// UnreadableError says that a file is not an animation or video bgremove can
// read. Nothing was written.
type UnreadableError struct {
	Reason    string // the fault, in words for people
	SoundOnly bool   // it is sound without pictures
	Err       error  // the cause; may be nil
}

func (e *UnreadableError) Error() string {
	if e.Err != nil {
		return fmt.Sprintf("%s: %v", e.Reason, e.Err)
	}
	return e.Reason
}

func (e *UnreadableError) Unwrap() error { return e.Err }
