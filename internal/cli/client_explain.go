package cli

import (
	"errors"
	"fmt"
	"strings"

	"github.com/bgremove/bgremove/pkg/bgremove"
	"github.com/bgremove/bgremove/pkg/client"
)

// interruption is the message for a command that a signal ended.
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
	return "the same command with --idempotency-key " + quoted(e.IdempotencyKey) + " finds out and is not charged twice"
}

// credentials reports whether an error is about the key or its credits.
func credentials(err error) bool {
	return errors.Is(err, client.ErrKey) || errors.Is(err, client.ErrUnauthorized) || errors.As(err, new(*client.InsufficientCreditsError))
}

// about adds the file's name to an error about that file.
func about(input string, err error) error {
	var request *client.BadRequestError
	ofFile := errors.Is(err, client.ErrUnreadable) || errors.Is(err, client.ErrTooLarge) || errors.As(err, &request) && request.Field == ""
	if ofFile && !strings.HasPrefix(err.Error(), input) {
		return fmt.Errorf("%s: %w", input, err)
	}
	return err
}

// explainClient adds advice to errors of a service; other errors are unchanged.
func explainClient(err error) error {
	var (
		uncertain *client.UncertainError
		left      *goOn
		request   *client.BadRequestError
		known     *bgremove.Error
	)
	goesOn := errors.As(err, &left)
	if err == nil || errors.As(err, &known) && !goesOn {
		return err
	}
	kind, hint := bgremove.Failed, serviceHint(err)
	if known != nil {
		kind, hint = known.Kind, known.Hint
	}
	switch {
	case errors.As(err, &request) && request.Field != "":
		if goesOn {
			hint = left.hint()
		}
		return &bgremove.Error{Kind: bgremove.Invalid, Field: request.Field, Reason: strings.TrimPrefix(request.Message, request.Field+" "), Hint: hint, Err: err}
	case errors.As(err, &uncertain):
		hint = again(uncertain)
	case goesOn && errors.Is(err, client.ErrConflict) && !passing(err):
		hint = left.apart()
	case goesOn && (hint == "" || passing(err)): // a second run would be paid again
		hint = left.hint()
	case goesOn:
		hint += "; " + left.hint()
	}
	if hint == "" {
		return err
	}
	return explained(err, kind, hint)
}

// serviceHint is the advice for an error of package client.
func serviceHint(err error) string {
	for _, row := range serviceHints {
		if errors.Is(err, row.err) {
			return row.hint
		}
	}
	var connection *client.ConnectionError
	switch {
	case errors.As(err, new(*client.InsufficientCreditsError)):
		return "get credits, or send less; refused files are not charged"
	case errors.As(err, new(*client.UnexpectedError)):
		return "--server must be the address of a bgremove service, without /api; is there a proxy or a sign-in page before it?"
	case errors.As(err, &connection) && !connection.Connected:
		return "is --server right, and does the service run?"
	case passing(err):
		return "run it again in a while"
	case errors.As(err, new(*client.ServiceError)):
		return "report it to the operator of the service, with the request's id"
	case errors.As(err, new(*client.JobFailedError)):
		return "its credits were given back; bgremove remove on the file may say more"
	}
	return ""
}

// passing reports whether an error of package client is temporary.
func passing(err error) bool {
	var connection *client.ConnectionError
	return errors.As(err, &connection) && connection.Connected || errors.Is(err, client.ErrDigest) ||
		errors.As(err, new(*client.UnavailableError)) || errors.As(err, new(*client.RateLimitedError))
}

var serviceHints = []struct {
	err  error
	hint string
}{
	{client.ErrKey, "BGREMOVE_API_KEY, or api-key in the user's bgremove.yaml, must hold it"},
	{client.ErrUnauthorized, "BGREMOVE_API_KEY must hold a key of this service; this one is wrong or was revoked"},
	{client.ErrNotFound, "only the key that created it can see it, on the --server where it was created"},
	{client.ErrNotReady, "bgremove client wait waits for it"},
	{client.ErrExpired, "results are kept for some days only: submit the file again"},
	{client.ErrUnreadable, "nothing was charged; bgremove probe on the file says what is wrong with it"},
	{client.ErrTooLarge, "nothing was charged; send a smaller clip"},
	{client.ErrConflict, "give another --idempotency-key, or exactly the same files and options as before"},
	{client.ErrDigest, "run it again"},
}
