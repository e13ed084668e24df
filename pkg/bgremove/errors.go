package bgremove

import (
	"context"
	"errors"
	"io/fs"
	"strconv"
	"syscall"

	"github.com/bgremove/bgremove/internal/media"
	"github.com/bgremove/bgremove/internal/media/gif"
	"github.com/bgremove/bgremove/internal/media/heif"
	"github.com/bgremove/bgremove/internal/pipeline"
	"github.com/bgremove/bgremove/internal/system/sandbox"
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
// for people, and names no remedy: that depends on where it is read.
type Error struct {
	Kind  Kind
	Cause Cause  // empty where Kind and the fields say all
	Path  string // the file it is about; may be empty
	Field string // the option it is about, by its JSON name; may be empty
	Name  string // the network, codec, format, device or limit that Cause is about; may be empty
	Limit string // the limit that was passed, such as "16384" or "512 MiB"; may be empty
	// Without is the method that works without what is Missing; may be empty.
	Without Method
	Reason  string
	Err     error // may be nil
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

// Is reports whether target is the error's Cause.
func (e *Error) Is(target error) bool { return e.Cause != "" && target == e.Cause }

// ended is the cause of a context that has ended, in place of an error that it made.
func ended(ctx context.Context, err error) error {
	if err != nil && ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return err
}

// explain turns the failure of work on a file into an Error. Errors of a
// context that ended are returned as they are.
func explain(path string, err error) error {
	var (
		known      *Error
		unreadable *media.UnreadableError
		limit      *media.LimitError
		confined   *sandbox.LimitError
		notRead    *heif.NotReadError
	)
	switch {
	case err == nil, errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded), errors.As(err, &known):
		return err
	case errors.As(err, &unreadable):
		cause := InputDamaged
		if unreadable.SoundOnly {
			cause = SoundOnly
		}
		return &Error{Kind: Unreadable, Cause: cause, Path: path, Reason: unreadable.Error(), Err: err}
	case errors.As(err, &notRead):
		return &Error{Kind: Unreadable, Cause: HEIFPicture, Path: path, Reason: notRead.Error(), Err: err}
	case errors.As(err, &limit):
		return &Error{Kind: TooLarge, Cause: OverLimits, Path: path, Name: limit.What, Limit: strconv.FormatInt(limit.Max, 10),
			Reason: limit.Error(), Err: err}
	case errors.As(err, &confined):
		return limitError(path, confined, err)
	case errors.Is(err, gif.ErrMalformed), errors.Is(err, gif.ErrNoFrames):
		return &Error{Kind: Unreadable, Cause: InputDamaged, Path: path, Reason: err.Error(), Err: err}
	case errors.Is(err, syscall.ENOSPC):
		return &Error{Kind: Failed, Cause: NoSpace, Path: path, Reason: "no space left on the device of the output or of temporary files", Err: err}
	case errors.Is(err, pipeline.ErrNoFrames):
		return &Error{Kind: Invalid, Path: path, Field: "start", Reason: "leaves no frame: none starts between it and the end", Err: err}
	}
	if e := openError(path, err); e != nil {
		return e
	}
	if e := sheetError(path, err); e != nil {
		return e
	}
	return networkError(path, err)
}

// openError is the error of a file that is not there or must not be read, or nil for
// other errors.
func openError(path string, err error) *Error {
	at := (*fs.PathError)(nil)
	switch {
	case !errors.As(err, &at) || at.Path != path:
		return nil
	case errors.Is(err, fs.ErrNotExist):
		return &Error{Kind: NotFound, Path: path, Reason: "no such file", Err: err}
	case errors.Is(err, fs.ErrPermission):
		return &Error{Kind: Failed, Cause: InputForbidden, Path: path, Reason: "cannot be read: " + at.Err.Error(), Err: err}
	}
	return nil
}

// limitError returns the error of a child that the sandbox ended: because the
// clip needs too much, or because the child made a forbidden call.
func limitError(path string, limit *sandbox.LimitError, err error) error {
	e := &Error{Kind: Failed, Path: path, Name: string(limit.Resource), Limit: limit.Limit, Reason: err.Error(), Err: err}
	if limit.Limit != "" {
		e.Kind, e.Cause = TooLarge, OverChildLimits
	}
	return e
}
