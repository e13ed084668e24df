package client

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/bgremove/bgremove/pkg/api"
)

// Refusals of a request or a job, without further facts.
var (
	// ErrKey is a key that is missing or cannot be one. The service was not asked.
	ErrKey = errors.New("no API key")
	// ErrUnauthorized is a key that is wrong or was revoked.
	ErrUnauthorized = errors.New("the service does not know the API key")
	// ErrNotFound is an id that the service does not know, or another key's.
	ErrNotFound = errors.New("the service has no such job or batch of this key")
	// ErrNotReady is a result that is not there yet.
	ErrNotReady = errors.New("the result is not ready yet")
	// ErrExpired is a result that the service does not keep any more.
	ErrExpired = errors.New("the result has expired")
	// ErrUnreadable means that the file is not a clip. Nothing was charged.
	ErrUnreadable = errors.New("the file is not a readable clip")
	// ErrTooLarge is a file beyond the service's limit. Nothing was charged.
	ErrTooLarge = errors.New("the file is larger than the service accepts")
	// ErrConflict is an Idempotency-Key that was used for another submission.
	ErrConflict = errors.New("the Idempotency-Key was used for another submission")
	// ErrDigest means that a download differs from the service's file.
	ErrDigest = errors.New("the download differs from the service's file")
)

// InsufficientCreditsError is a balance that is too low. Nothing was created.
type InsufficientCreditsError struct{ CreditsRemaining int }

func (e *InsufficientCreditsError) Error() string {
	return fmt.Sprintf("too few credits: the balance is %d", e.CreditsRemaining)
}

// RateLimitedError is too many requests with one key.
type RateLimitedError struct{ RetryAfter time.Duration } // 0 if it was not told

func (e *RateLimitedError) Error() string {
	return "too many requests" + waitFor(e.RetryAfter)
}

// UnavailableError is a service, or a proxy before it, that cannot answer now.
type UnavailableError struct {
	Status     int
	RetryAfter time.Duration // 0 if it was not told
}

func (e *UnavailableError) Error() string {
	return fmt.Sprintf("the service is not available (%d)%s", e.Status, waitFor(e.RetryAfter))
}

func waitFor(d time.Duration) string {
	if d == 0 {
		return ""
	}
	return fmt.Sprintf(", it asks to wait %v", d)
}

// BadRequestError is a submission that the service does not take as it is.
// Nothing was charged.
type BadRequestError struct{ Message, Field string } // Field may be empty

func (e *BadRequestError) Error() string {
	if e.Message == "" {
		return "the service refused the request"
	}
	return e.Message
}

// ServiceError is a fault of the service, or an answer that this version does
// not know.
type ServiceError struct {
	Status    int
	Code      api.ErrorCode
	RequestID string // names the request in the service's log; may be empty
}

func (e *ServiceError) Error() string {
	text := fmt.Sprintf("the service answered %d (%s)", e.Status, e.Code)
	if e.RequestID != "" {
		text += ", request " + e.RequestID
	}
	return text
}

// UnexpectedError is an answer that no bgremove service gives: that of a
// proxy, a sign-in page, another program.
type UnexpectedError struct {
	Method, URL string
	Status      int
	ContentType string // may be empty
	Location    string // of a redirect; may be empty
}

func (e *UnexpectedError) Error() string {
	kind := "no content type"
	if e.ContentType != "" {
		kind = e.ContentType
	}
	text := fmt.Sprintf("%s %s: answered %d with %s, which is not bgremove's API", e.Method, e.URL, e.Status, kind)
	if e.Location != "" {
		text += "; it redirects to " + e.Location
	}
	return text
}

// ConnectionError is a server that cannot be reached, or a connection that
// broke before the answer was complete.
type ConnectionError struct {
	Server string
	// Connected means that the connection was made and broke later.
	Connected bool
	Err       error
}

func (e *ConnectionError) Error() string {
	if e.Connected {
		return fmt.Sprintf("%s: the connection broke: %v", e.Server, e.Err)
	}
	return fmt.Sprintf("%s: %v", e.Server, e.Err)
}

func (e *ConnectionError) Unwrap() error { return e.Err }

// JobFailedError is a job that has failed or was cancelled. Its credits were given
// back. Code is the reason, or the job's status if the service gives none.
type JobFailedError struct{ ID, Code string }

func (e *JobFailedError) Error() string {
	if e.Code == string(api.JobStatusCancelled) {
		return e.ID + " was cancelled"
	}
	return e.ID + " has failed: " + e.Reason()
}

// Reason is the code in words.
func (e *JobFailedError) Reason() string {
	if e.Code == string(api.ErrorCodeUnreadableFile) {
		return ErrUnreadable.Error()
	}
	return strings.ReplaceAll(e.Code, "_", " ")
}

// Failure is the *JobFailedError of a job that has ended and is not done, and nil of any
// other.
func Failure(j Job) error {
	if !Ended(j) || j.Status == api.JobStatusDone {
		return nil
	}
	e := &JobFailedError{ID: j.ID, Code: string(j.Status)}
	if j.Error != nil {
		e.Code = *j.Error
	}
	return e
}

// UncertainError is a submission without an answer that may have been taken,
// and charged, all the same. The same files and options with the same
// Idempotency-Key within 24 hours find out, and are not charged twice.
type UncertainError struct {
	IdempotencyKey string
	Err            error
}

func (e *UncertainError) Error() string {
	return e.Err.Error() + "; the submission may still have been accepted"
}

func (e *UncertainError) Unwrap() error { return e.Err }

// busyError is a submission with the same key that has not ended.
type busyError struct{ after time.Duration }

func (e *busyError) Error() string { return "the same submission is still being processed" }

func (e *busyError) Is(target error) bool { return target == ErrConflict }

// movedError is an interrupted transfer that had made progress.
type movedError struct{ error }

func (e *movedError) Unwrap() error { return e.error }

// lastError is an error that must not be retried.
type lastError struct{ error }

func (e *lastError) Unwrap() error { return e.error }
