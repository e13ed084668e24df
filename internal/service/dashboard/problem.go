package dashboard

import (
	"context"
	"errors"
	"fmt"
	"math"
	"net/http"
	"path"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/bgremove/bgremove/internal/service/account"
	"github.com/bgremove/bgremove/internal/service/editor"
	"github.com/bgremove/bgremove/internal/service/job"
	"github.com/bgremove/bgremove/internal/service/session"
	"github.com/bgremove/bgremove/internal/service/store"
	"github.com/bgremove/bgremove/internal/service/webhook"
	"github.com/bgremove/bgremove/pkg/api"
)

// Refusals of the pages themselves.
var (
	errNoPage = errors.New("no such page")
	errForm   = errors.New("unreadable form")
)

// problem describes a failure for people.
type problem struct {
	Status      int
	Title, Text string
}

// problems are the API's refusals in words, by code.
var problems = map[api.ErrorCode]problem{
	api.ErrorCodeUnauthorized:        {Title: "You are not signed in."},
	api.ErrorCodeForbidden:           {Title: "That is not allowed here."},
	api.ErrorCodeNotFound:            {Title: "Not found.", Text: "It may have expired, or it was never yours."},
	api.ErrorCodePayloadTooLarge:     {Title: "A file is too large."},
	api.ErrorCodeUnreadableFile:      {Title: "The file cannot be read.", Text: "It is damaged, or its type is not what its name says. Nothing was charged."},
	api.ErrorCodeEmailTaken:          {Title: "That address already has an account.", Text: "Sign in instead."},
	api.ErrorCodeTooManyKeys:         {Title: fmt.Sprintf("You already have %d active keys, the maximum.", account.MaxKeys), Text: "Revoke one first."},
	api.ErrorCodeUnavailable:         {Title: "The service is not available.", Text: "Try again in some seconds."},
	api.ErrorCodeIdempotencyConflict: {Title: "Duplicate request."},
	api.ErrorCodeSubscribed:          {Title: "You already have a subscription.", Text: "Cancel it or change your payment method under “Invoices and subscriptions”. You can still buy packs."},
	api.ErrorCodeSuspended:           {Title: "This account is suspended.", Text: "Ask the operator of this service."},
	api.ErrorCodeUnconfirmed:         {Title: "Confirm your address first.", Text: "Open the link in the mail that we sent you."},
}

// explain describes a refusal in words.
func explain(status int, body api.Error, retryAfter string) *problem {
	p := problems[body.Error]
	switch {
	case body.Field != nil && *body.Field == "current":
		p = problem{Title: "That is not the current password."}
	case (body.Error == api.ErrorCodeBadRequest || body.Error == api.ErrorCodeNotOffered) && body.Message != nil:
		p = problem{Title: sentence(*body.Message)}
	case body.Error == api.ErrorCodeInsufficientCredits && body.CreditsRemaining != nil:
		p = problem{Title: "There are not enough credits.", Text: fmt.Sprintf("You have %d. Nothing was charged.", *body.CreditsRemaining)}
	case body.Error == api.ErrorCodeRateLimited:
		p = problem{Title: "Too many requests.", Text: retryText(retryAfter)}
	case p.Title == "":
		p = problem{Title: "That went wrong.", Text: "Try again. If the problem remains, tell the operator of this service."}
		if body.RequestID != nil {
			p.Text += " The request was " + *body.RequestID + "."
		}
	}
	p.Status = status
	return &p
}

// sentence makes a sentence from a message. A name before a colon, such as a
// file's or a field's, keeps its case.
func sentence(s string) string {
	if s == "" {
		return s
	}
	if name, _, ok := strings.Cut(s, ": "); !ok || strings.Contains(name, " ") && path.Ext(name) == "" {
		_, size := utf8.DecodeRuneInString(s)
		s = strings.ToUpper(s[:size]) + s[size:]
	}
	if strings.HasSuffix(s, "?") {
		return s
	}
	return s + "."
}

// failure is an error in words for a page.
type failure struct {
	err           error
	status        int
	heading, text string
}

// failures are the errors with words of their own; all others are the service's
// fault.
var failures = []failure{
	{errNoPage, http.StatusNotFound, "There is no such page", "The address may be mistyped."},
	{job.ErrNotFound, http.StatusNotFound, "There is no such job", "It may have expired, or it belongs to somebody else."},
	{account.ErrNotFound, http.StatusNotFound, "Not found", "It may have been removed before."},
	{webhook.ErrNotFound, http.StatusNotFound, "Not found", "It may have been removed before."},
	{session.ErrCrossSite, http.StatusForbidden, "Refused", "The form was sent from another site."},
	{account.ErrSuspended, http.StatusForbidden, "This account is suspended", "Its jobs wait. Ask the operator of this service."},
	{job.ErrMachine, http.StatusServiceUnavailable, "That is not possible here", "This part of the service lacks a program that it needs."},
	{errForm, http.StatusBadRequest, "The form cannot be read", "Go back and try again."},
}

// fail answers with an error page. The error itself only goes to the log.
func (v *visit) fail(err error) {
	if errors.Is(err, context.Canceled) && v.Context().Err() != nil {
		return // nobody is there to read it
	}
	m := message{Heading: "Something went wrong", Text: "It is not your fault. Try again in a moment."}
	status := http.StatusInternalServerError
	if store.Unavailable(err) {
		status = http.StatusServiceUnavailable
		v.retryAfter(store.RetryAfter)
	}
	request := v.w.Header().Get("X-Request-Id")
	if f, known := v.failureOf(err); known {
		status, m.Heading, m.Text = f.status, f.heading, f.text
	} else {
		m.Text += " The request was " + request + "."
		v.Log.ErrorContext(v.Context(), "page", "request", request, "pattern", v.Pattern, "error", err)
	}
	if v.isFragment() {
		v.w.WriteHeader(status)
		return
	}
	m.page = v.page(m.Heading, "")
	m.Link = link{Path: "/", Name: "To the workbench"}
	if err := v.show(status, "message", m); err != nil {
		http.Error(v.w, "internal error", http.StatusInternalServerError)
	}
}

// retryAfter tells the client to wait a whole number of seconds, and returns
// it.
func (v *visit) retryAfter(wait time.Duration) (seconds string) {
	seconds = strconv.Itoa(int(math.Ceil(wait.Seconds())))
	v.w.Header().Set("Retry-After", seconds)
	return seconds
}

// retryText says when to try again. Long waits, such as those for another mail, are
// rounded up to minutes or hours.
func retryText(seconds string) string {
	n, err := strconv.Atoi(seconds)
	wait := time.Duration(n) * time.Second
	switch {
	case err != nil:
		return "Try again later."
	case n == 1:
		return "Try again in a second."
	case wait > 2*time.Hour:
		wait = (wait + time.Hour - 1).Truncate(time.Hour)
	case wait > 2*time.Minute:
		wait = (wait + time.Minute - 1).Truncate(time.Minute)
	default:
		return "Try again in " + counted(int64(n), "second") + "."
	}
	return "Try again in " + job.SpanText(wait) + "."
}

// failureOf returns the words of an error that has its own.
func (v *visit) failureOf(err error) (failure, bool) {
	if limited := (*account.LimitedError)(nil); errors.As(err, &limited) {
		return failure{err, http.StatusTooManyRequests, "Too many requests", retryText(v.retryAfter(limited.RetryAfter))}, true
	}
	if errors.Is(err, editor.ErrBusy) {
		return failure{err, http.StatusTooManyRequests, "Other clips are being studied", retryText(v.retryAfter(busyFor))}, true
	}
	for _, f := range failures {
		if errors.Is(err, f.err) {
			return f, true
		}
	}
	return failure{}, false
}

// message is a page with a single message.
type message struct {
	page
	Heading, Text string
	Link          link
}
