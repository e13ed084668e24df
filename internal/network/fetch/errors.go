package fetch

import (
	"errors"
	"fmt"
	"syscall"
)

// Errors that callers only compare.
var (
	// ErrStalled means that the server sent nothing for Client.Idle.
	ErrStalled = errors.New("the server has stopped sending")
	// ErrBusy means that another process is fetching the file.
	ErrBusy = errors.New("another process is fetching it")
	// ErrRedirect means that a redirect is not followed.
	ErrRedirect = errors.New("redirect refused")
	// ErrNoDigest means that a file could not be checked.
	ErrNoDigest = errors.New("its sha256 is not known, so it cannot be checked")
)

// UnreachableError means that a request to a server failed.
type UnreachableError struct {
	From string
	Err  error
}

func (e *UnreachableError) Error() string { return fmt.Sprintf("%s: %v", e.From, e.Err) }

func (e *UnreachableError) Unwrap() error { return e.Err }

// StatusError is an answer that is not a file.
type StatusError struct {
	From string
	Code int
}

func (e *StatusError) Error() string {
	return fmt.Sprintf("%s: the server answered %d", e.From, e.Code)
}

// PageError is a web page instead of the file, usually from a sign-in or
// captive portal.
type PageError struct{ From string }

func (e *PageError) Error() string { return e.From + ": the server sent a web page, not the file" }

// SizeError means that a file has another size than expected.
type SizeError struct {
	From      string
	Got, Want int64
}

func (e *SizeError) Error() string {
	return fmt.Sprintf("%s: the file has %d bytes or more, not %d", e.From, e.Got, e.Want)
}

// TruncatedError is a transfer that ended early. The received bytes are kept.
type TruncatedError struct {
	From      string
	Got, Want int64 // Want is 0 if it is unknown
	Err       error // may be nil
}

func (e *TruncatedError) Error() string {
	if e.Want == 0 {
		return fmt.Sprintf("%s: the transfer broke off after %d bytes", e.From, e.Got)
	}
	return fmt.Sprintf("%s: the transfer broke off after %d of %d bytes", e.From, e.Got, e.Want)
}

func (e *TruncatedError) Unwrap() error { return e.Err }

// DigestError means that content is not the expected one.
type DigestError struct{ Name, Got, Want string }

func (e *DigestError) Error() string {
	return fmt.Sprintf("%s: the sha256 is %s, not %s", e.Name, e.Got, e.Want)
}

// SpaceError means that the disk has no room for the file; it is an ENOSPC.
type SpaceError struct {
	Dir        string
	Need, Free int64 // bytes
}

func (e *SpaceError) Error() string {
	return fmt.Sprintf("%s: %d bytes are needed, %d are free", e.Dir, e.Need, e.Free)
}

// Unwrap makes it a syscall.ENOSPC.
func (e *SpaceError) Unwrap() error { return syscall.ENOSPC }

// isInterruption reports whether another try can continue after an error.
func isInterruption(err error) bool {
	var short *TruncatedError
	return errors.As(err, &short) || errors.Is(err, ErrStalled)
}

// contentIsWrong reports whether a fresh start may repair an error.
func contentIsWrong(err error) bool {
	var digest *DigestError
	var size *SizeError
	return errors.As(err, &digest) || errors.As(err, &size)
}
