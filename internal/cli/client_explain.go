package cli

import (
	"errors"
	"fmt"
	"strings"

	"github.com/bgremove/bgremove/pkg/bgremove"
	"github.com/bgremove/bgremove/pkg/client"
)

// errNoKey is a client without a key.
var errNoKey = errors.New("no API key is given")

// goOn is the end of a command before that of jobs which were submitted: they
// go on by themselves.
type goOn struct {
	ids      []string
	download bool   // they have ended; the results are still to be had
	once     string // the Idempotency-Key, where not all was submitted
	err      error
}

func (e *goOn) Error() string { return e.err.Error() }

func (e *goOn) Unwrap() error { return e.err }

// hint is how to go on.
func (e *goOn) hint() string {
	said, what := "it goes on without you: ", "wait"
	switch {
	case e.once != "":
		return fmt.Sprintf("%s was submitted; the same command with --idempotency-key %s goes on, and what was taken is not charged again",
			strings.Join(e.ids, ", "), e.once)
	case e.download:
		said, what = "later: ", "download"
	}
	var commands []string
	for _, id := range e.ids {
		commands = append(commands, "bgremove client "+what+" "+id)
	}
	return said + strings.Join(commands, "; ")
}

// interruption is what is said of a command that a signal ended.
func interruption(err error) (said, hint string) {
	var (
		left      *goOn
		uncertain *client.UncertainError
		some      *stopped
	)
	switch {
	case errors.As(err, &some):
		return some.said, ""
	case errors.As(err, &left):
		return "interrupted", left.hint()
	case errors.As(err, &uncertain):
		return "interrupted; the submission may have been taken", again(uncertain)
	}
	return "interrupted; nothing was written", ""
}

func again(e *client.UncertainError) string {
	return "the same command with --idempotency-key " + e.IdempotencyKey + " finds out, and is not charged twice"
}

// credentials reports whether an error is about the key or what it may spend.
func credentials(err error) bool {
	return errors.Is(err, errNoKey) || errors.Is(err, client.ErrUnauthorized) || errors.As(err, new(*client.InsufficientCreditsError))
}

// about says which file an error is about, if it is about one.
func about(input string, err error) error {
	var request *client.BadRequestError
	ofFile := errors.Is(err, client.ErrUnreadable) || errors.Is(err, client.ErrTooLarge) || errors.As(err, &request) && request.Field == ""
	if ofFile && !strings.HasPrefix(err.Error(), input) {
		return fmt.Errorf("%s: %w", input, err)
	}
	return err
}

// explainClient says what to do about what a service answers; other errors
// stay as they are.
func explainClient(err error) error {
	if err == nil || errors.As(err, new(*bgremove.Error)) {
		return err
	}
	var (
		uncertain *client.UncertainError
		left      *goOn
		request   *client.BadRequestError
	)
	kind, hint := bgremove.Failed, serviceHint(err)
	switch {
	case errors.As(err, &request) && request.Field != "":
		return &bgremove.Error{Kind: bgremove.Invalid, Field: request.Field, Reason: strings.TrimPrefix(request.Message, request.Field+" "), Err: err}
	case errors.As(err, &uncertain):
		hint = again(uncertain)
	case errors.As(err, &left) && hint != "":
		hint += "; " + left.hint()
	case errors.As(err, &left):
		hint = left.hint()
	}
	if hint == "" {
		return err
	}
	return explained(err, kind, hint)
}

// serviceHint is what to do about an error of package client.
func serviceHint(err error) string {
	for _, row := range serviceHints {
		if errors.Is(err, row.err) {
			return row.hint
		}
	}
	var connection *client.ConnectionError
	switch {
	case errors.As(err, new(*client.InsufficientCreditsError)):
		return "get credits, or send less; what was refused is not charged"
	case errors.As(err, new(*client.UnexpectedError)):
		return "--server must be the address of a bgremove service, without /api; is there a proxy or a sign-in page before it?"
	case errors.As(err, &connection) && !connection.Connected:
		return "is --server right, and does the service run?"
	case errors.As(err, &connection), errors.As(err, new(*client.UnavailableError)), errors.As(err, new(*client.RateLimitedError)):
		return "run it again in a while"
	case errors.As(err, new(*client.ServiceError)):
		return "tell those who run the service, with the request's name"
	case errors.As(err, new(*client.JobFailedError)):
		return "its credits were given back; bgremove remove on the file may say more"
	}
	return ""
}

var serviceHints = []struct {
	err  error
	hint string
}{
	{errNoKey, "BGREMOVE_API_KEY, or api-key in the user's bgremove.yaml, holds it"},
	{client.ErrUnauthorized, "BGREMOVE_API_KEY must hold a key of this service; this one is wrong or was revoked"},
	{client.ErrNotFound, "only the key that made it sees it, and only on its own --server"},
	{client.ErrNotReady, "bgremove client wait waits for it"},
	{client.ErrExpired, "results are kept for some days only: submit the file again"},
	{client.ErrUnreadable, "nothing was charged; bgremove probe on the file says what is wrong with it"},
	{client.ErrTooLarge, "nothing was charged; send a smaller clip"},
	{client.ErrConflict, "give another --idempotency-key, or exactly the files and options of before"},
	{client.ErrDigest, "run it again"},
}
