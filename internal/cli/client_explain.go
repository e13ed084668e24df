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
		kind, hint = known.Kind, hintOf(err)
	}
	switch {
	case errors.As(err, &request) && request.Field != "":
		if goesOn {
			hint = left.hint()
		}
		return &hinted{&bgremove.Error{Kind: bgremove.Invalid, Field: request.Field, Reason: strings.TrimPrefix(request.Message, request.Field+" "), Err: err}, hint}
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

// passing reports whether an error of package client is temporary.
func passing(err error) bool {
	var connection *client.ConnectionError
	return errors.As(err, &connection) && connection.Connected || errors.Is(err, client.ErrDigest) ||
		errors.As(err, new(*client.UnavailableError)) || errors.As(err, new(*client.RateLimitedError))
}
