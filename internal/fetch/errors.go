package fetch

import (
	"errors"
	"fmt"
	"syscall"
)

// What callers only compare.
var (
	// ErrStalled is a server that sent nothing for Client.Idle.
	ErrStalled = errors.New("the server has stopped sending")
	// ErrBusy is a file that another process is fetching.
	ErrBusy = errors.New("another process is fetching it")
	// ErrRedirect is a redirect that is not followed.
	ErrRedirect = errors.New("redirect refused")
	// ErrNoDigest is a file that could not be checked.
	ErrNoDigest = errors.New("no sha256 is known to check it by")
)

// UnreachableError is a server that could not be asked.
type UnreachableError struct {
	From string
	Err  error
}

func (e *UnreachableError) Error() string { return fmt.Sprintf("%s: %v", e.From, e.Err) }

func (e *UnreachableError) Unwrap() error { return e.Err }

// StatusError is an answer that is no file.
type StatusError struct {
	From string
	Code int
}

func (e *StatusError) Error() string {
	return fmt.Sprintf("%s: the server answered %d", e.From, e.Code)
}

// PageError is a web page in place of the file, as sign-in and captive portals
// give it.
type PageError struct{ From string }

func (e *PageError) Error() string { return e.From + ": the server sent a web page, not the file" }

// SizeError is a file of another size than the wanted one.
type SizeError struct {
	From      string
	Got, Want int64
}

func (e *SizeError) Error() string {
	return fmt.Sprintf("%s: the file has %d bytes or more, not %d", e.From, e.Got, e.Want)
}

// TruncatedError is a transfer that ended early. What came is kept.
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

// DigestError is content that is not the wanted one.
type DigestError struct{ Name, Got, Want string }

func (e *DigestError) Error() string {
	return fmt.Sprintf("%s: the sha256 is %s, not %s", e.Name, e.Got, e.Want)
}

// SpaceError is a disk without room for the file; it is an ENOSPC.
type SpaceError struct {
	Dir        string
	Need, Free int64 // bytes
}

func (e *SpaceError) Error() string {
	return fmt.Sprintf("%s: %d bytes are needed, %d are free", e.Dir, e.Need, e.Free)
}

// Unwrap makes it a syscall.ENOSPC.
func (e *SpaceError) Unwrap() error { return syscall.ENOSPC }

// isInterruption tells errors after which another try can go on.
func isInterruption(err error) bool {
	var short *TruncatedError
	return errors.As(err, &short) || errors.Is(err, ErrStalled)
}

// contentIsWrong tells errors that a fresh start can mend.
func contentIsWrong(err error) bool {
	var digest *DigestError
	var size *SizeError
	return errors.As(err, &digest) || errors.As(err, &size)
}
