package bgremove

import (
	"context"
	"errors"
	"syscall"

	"github.com/bgremove/bgremove/internal/media"
	"github.com/bgremove/bgremove/internal/media/gif"
	"github.com/bgremove/bgremove/internal/pipeline"
	"github.com/bgremove/bgremove/internal/sandbox"
)

// Kind groups errors by their remedy.
type Kind int

// The kinds of errors.
const (
	Failed     Kind = iota // processing failed
	Invalid                // an option is wrong
	Unreadable             // the input is not a readable animation or video
	TooLarge               // the input is beyond Limits, or the work beyond ChildLimits
	NotFound               // the input does not exist
	Exists                 // the output already exists
	Missing                // a program, runtime or model is not installed
)

// Error is what Probe and Remove return, for errors.As: several wrong options are
// joined, and when a context ends its cause is returned. Its message is one line
// for people.
type Error struct {
	Kind   Kind
	Path   string // the file it is about; may be empty
	Field  string // the option it is about, by its JSON name; may be empty
	Reason string
	Hint   string // a remedy; may be empty
	Err    error  // the cause; may be nil
}

func (e *Error) Error() string {
	reason := e.Reason
	if e.Field != "" {
		reason = e.Field + " " + reason
	}
	if e.Path != "" {
		reason = e.Path + ": " + reason
	}
	return reason
}

func (e *Error) Unwrap() error { return e.Err }

const damagedHint = "the file is damaged or incomplete: get it again"

// explain turns the failure of work on a file into an Error. Errors of a
// context that ended are returned as they are.
func explain(path string, err error) error {
	var (
		known      *Error
		unreadable *media.UnreadableError
		limit      *media.LimitError
		confined   *sandbox.LimitError
	)
	switch {
	case err == nil, errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded), errors.As(err, &known):
		return err
	case errors.As(err, &unreadable):
		hint := unreadable.Hint
		if hint == "" {
			hint = damagedHint
		}
		return &Error{Kind: Unreadable, Path: path, Reason: unreadable.Error(), Hint: hint, Err: err}
	case errors.As(err, &limit):
		return &Error{Kind: TooLarge, Path: path, Reason: limit.Error(), Err: err,
			Hint: "make it smaller or shorter first: ffmpeg -i INPUT -vf scale=1920:-2 OUTPUT"}
	case errors.As(err, &confined):
		return outOfBounds(path, confined, err)
	case errors.Is(err, gif.ErrMalformed), errors.Is(err, gif.ErrNoFrames):
		return &Error{Kind: Unreadable, Path: path, Reason: err.Error(), Hint: damagedHint, Err: err}
	case errors.Is(err, syscall.ENOSPC):
		return &Error{Kind: Failed, Path: path, Reason: "no space left on the device of the output or of temporary files", Err: err,
			Hint: "free some space, or name other places for both: TMPDIR is that of temporary files"}
	case errors.Is(err, pipeline.ErrNoFrames):
		return &Error{Kind: Invalid, Path: path, Field: "start", Reason: "leaves no frame: none starts between it and the end", Err: err}
	}
	return advised(path, err)
}

// outOfBounds returns the error of a child that the sandbox ended: because the
// clip needs too much, or because the child made a forbidden call.
func outOfBounds(path string, limit *sandbox.LimitError, err error) error {
	e := &Error{Kind: Failed, Path: path, Reason: err.Error(), Err: err}
	if limit.Limit != "" {
		e.Kind, e.Hint = TooLarge, "--sandbox auto sets no limits; in a service ask its operator"
	}
	return e
}
