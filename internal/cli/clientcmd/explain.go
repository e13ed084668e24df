package clientcmd

import (
	"errors"
	"fmt"
	"strings"

	"github.com/bgremove/bgremove/internal/cli/failure"
	"github.com/bgremove/bgremove/internal/cli/term"
	"github.com/bgremove/bgremove/pkg/api"
	"github.com/bgremove/bgremove/pkg/bgremove"
	"github.com/bgremove/bgremove/pkg/client"
)

// explain adds advice to the errors of a command.
func explain(err error) error {
	var (
		unfinished *unfinishedError
		uncertain  *client.UncertainError
	)
	err = explainService(bgremove.Explain(err))
	if errors.As(err, &uncertain) && !errors.As(err, &unfinished) {
		return &uncertainError{error: err, hint: uncertainHint(uncertain)}
	}
	return err
}

// uncertainError is the end of a command that does not know whether its submission
// was taken.
type uncertainError struct {
	error
	hint string
}

func (e *uncertainError) Unwrap() error { return e.error }

// Interruption implements failure.Interruption.
func (e *uncertainError) Interruption() (message, hint string) {
	return "interrupted; the submission may have been taken", e.hint
}

func uncertainHint(e *client.UncertainError) string {
	return "the same command with --idempotency-key " + term.Quote(e.IdempotencyKey) + " finds out and is not charged twice"
}

// withInput adds the file's name to an error about that file.
func withInput(input string, err error) error {
	var request *client.BadRequestError
	if errors.As(err, &request) && request.Field == "fileUrl" {
		shown, _, _ := strings.Cut(input, "?") // as the service repeats it
		reason := strings.TrimPrefix(strings.TrimPrefix(request.Message, request.Field+" "), shown+" ")
		return &bgremove.Error{Kind: bgremove.Failed, Path: input, Reason: reason, Err: err}
	}
	ofFile := errors.Is(err, client.ErrUnreadable) || errors.Is(err, client.ErrTooLarge) || errors.As(err, &request) && request.Field == ""
	if ofFile && !strings.HasPrefix(err.Error(), input) {
		return fmt.Errorf("%s: %w", input, err)
	}
	return err
}

// withID adds the id to an error that says that there is none such.
func withID(id string, err error) error {
	if errors.Is(err, client.ErrNotFound) {
		return fmt.Errorf("%s: %w", id, err)
	}
	return err
}

// explainService adds advice to errors of a service; other errors are unchanged.
func explainService(err error) error {
	var (
		uncertain  *client.UncertainError
		unfinished *unfinishedError
		request    *client.BadRequestError
		known      *bgremove.Error
	)
	isUnfinished := errors.As(err, &unfinished)
	if err == nil || errors.As(err, &known) && !isUnfinished {
		return err
	}
	kind, hint := bgremove.Failed, serviceHint(err)
	if known != nil {
		kind, hint = known.Kind, failure.Hint(err)
	}
	switch {
	case errors.As(err, &request) && request.Field != "":
		if isUnfinished {
			hint = unfinished.hint()
		}
		return failure.WithHint(&bgremove.Error{Kind: bgremove.Invalid, Field: request.Field, Reason: strings.TrimPrefix(request.Message, request.Field+" "), Err: err}, hint)
	case errors.As(err, &uncertain):
		hint = uncertainHint(uncertain)
	case isUnfinished && errors.Is(err, client.ErrConflict) && !isTemporary(err):
		hint = unfinished.conflictHint()
	case isUnfinished && (hint == "" || isTemporary(err)): // a second run would be paid again
		hint = unfinished.hint()
	case isUnfinished:
		hint += "; " + unfinished.hint()
	}
	if hint == "" {
		return err
	}
	return failure.Explain(err, kind, hint)
}

// isTemporary reports whether an error of package client is temporary.
func isTemporary(err error) bool {
	var connection *client.ConnectionError
	return errors.As(err, &connection) && connection.Connected || errors.Is(err, client.ErrDigest) ||
		errors.As(err, new(*client.UnavailableError)) || errors.As(err, new(*client.RateLimitedError))
}

// serviceHint is what to do about an error of package client.
func serviceHint(err error) string {
	for _, row := range serviceHints {
		if errors.Is(err, row.err) {
			return row.hint
		}
	}
	var (
		connection *client.ConnectionError
		failed     *client.JobFailedError
	)
	switch {
	case errors.As(err, new(*client.InsufficientCreditsError)):
		return "get credits, or send less; refused files are not charged"
	case errors.As(err, new(*client.UnexpectedError)):
		return "--server must be the address of a bgremove service, without /api; is there a proxy or a sign-in page before it?"
	case errors.As(err, &connection) && !connection.Connected:
		return "is --server right, and does the service run?"
	case isTemporary(err):
		return "run it again in a while"
	case errors.As(err, new(*client.ServiceError)):
		return "report it to the operator of the service, with the request's id"
	case errors.As(err, &failed) && failed.Code == string(api.JobStatusCancelled):
		return "its credits were given back; submit the file again"
	case errors.As(err, &failed):
		return "its credits were given back; bgremove remove on the file may say more"
	}
	return ""
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
