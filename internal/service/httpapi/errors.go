package httpapi

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"net/http"
	"strconv"
	"time"

	"github.com/bgremove/bgremove/internal/service/account"
	"github.com/bgremove/bgremove/internal/service/billing"
	"github.com/bgremove/bgremove/internal/service/blob"
	"github.com/bgremove/bgremove/internal/service/job"
	"github.com/bgremove/bgremove/internal/service/session"
	"github.com/bgremove/bgremove/internal/service/store"
	"github.com/bgremove/bgremove/internal/service/webhook"
	"github.com/bgremove/bgremove/pkg/api"
	"github.com/bgremove/bgremove/pkg/option"
)

// Refusals of this package that say all by themselves.
var (
	errKey              = errors.New("no valid API key")
	errForbidden        = errors.New("not allowed here")
	errNotFound         = errors.New("no such path")
	errMethodNotAllowed = errors.New("the path does not support this method")
	errTooLarge         = errors.New("the body is too large")
	errNotReady         = errors.New("not ready")
	errUnconfirmed      = errors.New("confirm your address first: open the link in the mail that we sent you")
)

// formError is a body that cannot be understood, or a field of it.
type formError struct {
	field  string // may be empty
	reason string // after the field's name, if there is one
	meant  string // the option whose name the field's nearly is; then there is no reason
	err    error  // may be nil
}

func (e *formError) Error() string {
	switch {
	case e.meant != "":
		return fmt.Sprintf("%s: did you mean %s?", e.field, e.meant)
	case e.field == "":
		return e.reason
	}
	return e.field + " " + e.reason
}

func (e *formError) Unwrap() error { return e.err }

// notOffered is what this service is not set up for.
type notOffered struct{ instead string }

func (e *notOffered) Error() string { return e.instead }

// rangeError asks for a part that a file of size bytes does not have.
type rangeError struct{ size int64 }

func (e *rangeError) Error() string { return fmt.Sprintf("no such range of %d bytes", e.size) }

// Waiting times for clients if nothing better is known.
const (
	retryRunning     = time.Second
	retryUnavailable = store.RetryAfter
)

// statusClientClosed is for the log alone: the client has gone before the answer.
const statusClientClosed = 499

// refusal is a row of the table: which errors get which status and code.
type refusal struct {
	matches func(error) bool
	status  int
	code    api.ErrorCode
}

// isAny matches errors by errors.Is, isType by errors.As.
func isAny(targets ...error) func(error) bool {
	return func(err error) bool {
		for _, t := range targets {
			if errors.Is(err, t) {
				return true
			}
		}
		return false
	}
}

func isType[T error](err error) bool {
	var target T
	return errors.As(err, &target)
}

// refusals map errors to answers; the first match counts. An error without a
// match is 500.
var refusals = []refusal{
	{isAny(errKey, session.ErrNone, account.ErrCredentials, account.ErrUnknownKey), http.StatusUnauthorized, api.ErrorCodeUnauthorized},
	{isAny(account.ErrSuspended), http.StatusForbidden, api.ErrorCodeSuspended},
	{isType[*account.LimitedError], http.StatusTooManyRequests, api.ErrorCodeRateLimited},
	{isAny(job.ErrTooManyFollowers), http.StatusTooManyRequests, api.ErrorCodeRateLimited},
	{isAny(errTooLarge, blob.ErrTooLarge), http.StatusRequestEntityTooLarge, api.ErrorCodePayloadTooLarge},
	{isType[*http.MaxBytesError], http.StatusRequestEntityTooLarge, api.ErrorCodePayloadTooLarge},
	{isType[*formError], http.StatusBadRequest, api.ErrorCodeBadRequest},
	{isAny(billing.ErrSignature), http.StatusBadRequest, api.ErrorCodeBadRequest},
	{isType[*option.Error], http.StatusBadRequest, api.ErrorCodeBadRequest},
	{isType[*job.LimitError], http.StatusBadRequest, api.ErrorCodeBadRequest},
	{isType[*account.FieldError], http.StatusBadRequest, api.ErrorCodeBadRequest},
	{isAny(job.ErrRunning, job.ErrConflict), http.StatusConflict, api.ErrorCodeIdempotencyConflict},
	{isAny(account.ErrEmailTaken), http.StatusConflict, api.ErrorCodeEmailTaken},
	{isAny(billing.ErrSubscribed), http.StatusConflict, api.ErrorCodeSubscribed},
	{isAny(account.ErrTooManyKeys), http.StatusConflict, api.ErrorCodeTooManyKeys},
	{isAny(job.ErrUnreadable), http.StatusUnprocessableEntity, api.ErrorCodeUnreadableFile},
	{isType[*account.InsufficientError], http.StatusPaymentRequired, api.ErrorCodeInsufficientCredits},
	{isAny(errForbidden, session.ErrCrossSite), http.StatusForbidden, api.ErrorCodeForbidden},
	{isAny(errUnconfirmed), http.StatusForbidden, api.ErrorCodeUnconfirmed},
	{isType[*notOffered], http.StatusNotFound, api.ErrorCodeNotOffered},
	{isAny(errNotFound, billing.ErrNoCustomer, job.ErrNotFound, account.ErrNotFound, blob.ErrNotFound, webhook.ErrNotFound), http.StatusNotFound, api.ErrorCodeNotFound},
	{isAny(errMethodNotAllowed), http.StatusMethodNotAllowed, api.ErrorCodeMethodNotAllowed},
	{isType[*rangeError], http.StatusRequestedRangeNotSatisfiable, api.ErrorCodeRangeNotSatisfiable},
	{billingUnavailable, http.StatusServiceUnavailable, api.ErrorCodeUnavailable},
	{isAny(job.ErrMachine), http.StatusServiceUnavailable, api.ErrorCodeUnavailable},
	{isType[*blob.Error], http.StatusServiceUnavailable, api.ErrorCodeUnavailable},
	{isAny(errNotReady, errUploadsFull, job.ErrCutOff, context.DeadlineExceeded), http.StatusServiceUnavailable, api.ErrorCodeUnavailable},
	{store.Unavailable, http.StatusServiceUnavailable, api.ErrorCodeUnavailable},
}

// billingUnavailable reports whether a later request to Stripe may succeed.
func billingUnavailable(err error) bool {
	var e *billing.Error
	return errors.As(err, &e) && e.Temporary()
}

// Refuse answers with an error, for all code inside Handler. The error stays in
// the log; the client gets the table's answer.
func (a *API) Refuse(w http.ResponseWriter, hr *http.Request, err error) {
	r := requestFrom(hr.Context())
	r.failure = err
	if r.writer.status != 0 {
		return // the answer has begun, only the log can tell
	}
	if errors.Is(err, context.Canceled) && hr.Context().Err() != nil {
		w.WriteHeader(statusClientClosed)
		return
	}
	status, body := http.StatusInternalServerError, api.Error{Error: api.ErrorCodeInternal, RequestID: &r.id}
	for _, row := range refusals {
		if row.matches(err) {
			status, body = row.status, errorBody(row, err)
			break
		}
	}
	setErrorHeader(w.Header(), status, err)
	if err := writeJSON(w, status, body); err != nil {
		a.Log.LogAttrs(hr.Context(), slog.LevelDebug, "answer not sent", append(r.attrs(), slog.Any("error", err))...)
	}
}

// errorBody is the body of a row, with the facts that its error has.
func errorBody(row refusal, err error) api.Error {
	body := api.Error{Error: row.code}
	var (
		poor   *account.InsufficientError
		offer  *notOffered
		form   *formError
		option *option.Error
		limit  *job.LimitError
		field  *account.FieldError
	)
	say := func(message, field string) {
		body.Message = &message
		if field != "" {
			body.Field = &field
		}
	}
	switch {
	case row.code == api.ErrorCodeInsufficientCredits && errors.As(err, &poor):
		left := int(poor.Balance)
		body.CreditsRemaining = &left
	case errors.As(err, &offer):
		say(offer.Error(), "")
	case row.code == api.ErrorCodeSubscribed:
		say(billing.ErrSubscribed.Error(), "")
	case row.code == api.ErrorCodeUnconfirmed:
		say(errUnconfirmed.Error(), "")
	case row.code != api.ErrorCodeBadRequest:
	case errors.Is(err, billing.ErrSignature):
		say("Stripe-Signature is not that of the body, or too old", "")
	case errors.As(err, &form):
		say(form.Error(), form.field)
	case errors.As(err, &option):
		say(option.Error(), option.Field)
	case errors.As(err, &field):
		say(field.Error(), field.Field)
	case errors.As(err, &limit):
		say(limit.Error(), "")
	}
	return body
}

// setErrorHeader sets the headers of a status.
func setErrorHeader(h http.Header, status int, err error) {
	var (
		limited *account.LimitedError
		part    *rangeError
	)
	switch {
	case errors.As(err, &limited):
		setRetryAfter(h, limited.RetryAfter)
	case status == http.StatusConflict && errors.Is(err, job.ErrRunning):
		setRetryAfter(h, retryRunning)
	case status == http.StatusServiceUnavailable, errors.Is(err, job.ErrTooManyFollowers):
		setRetryAfter(h, retryUnavailable)
	case errors.As(err, &part):
		h.Set("Content-Range", "bytes */"+strconv.FormatInt(part.size, 10))
	case isAny(errKey, account.ErrUnknownKey)(err):
		h.Set("WWW-Authenticate", `Bearer realm="bgremove"`)
	}
}

// setRetryAfter asks for a wait in whole seconds, at least one.
func setRetryAfter(h http.Header, wait time.Duration) {
	h.Set("Retry-After", strconv.Itoa(max(1, seconds(wait))))
}

// seconds rounds up.
func seconds(d time.Duration) int { return int(math.Ceil(d.Seconds())) }

func writeJSON(w http.ResponseWriter, status int, v any) error {
	body, err := json.Marshal(v)
	if err != nil {
		return err
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(status)
	_, err = w.Write(body)
	return err
}

// refuseBody answers to a body that is not of its media type.
func (a *API) refuseBody(w http.ResponseWriter, r *http.Request, err error) {
	if isType[*http.MaxBytesError](err) {
		a.Refuse(w, r, err)
		return
	}
	reason := "the body is not a JSON object for this operation"
	if errors.Is(err, http.ErrNotMultipart) || errors.Is(err, http.ErrMissingBoundary) {
		reason = "the body is no multipart form"
	}
	a.Refuse(w, r, &formError{reason: reason, err: err})
}

// refuseParameter answers unreadable parameters, if the client may send
// requests at all.
func (a *API) refuseParameter(w http.ResponseWriter, r *http.Request, err error) {
	a.guard(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		a.Refuse(w, r, &formError{reason: "a parameter is given twice or cannot be read", err: err})
	})).ServeHTTP(w, r)
}
