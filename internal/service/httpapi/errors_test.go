package httpapi_test

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/bgremove/bgremove/internal/service/account"
	"github.com/bgremove/bgremove/internal/service/blob"
	"github.com/bgremove/bgremove/internal/service/httpapi"
	"github.com/bgremove/bgremove/internal/service/job"
	"github.com/bgremove/bgremove/internal/service/session"
	"github.com/bgremove/bgremove/pkg/option"
)

// TestErrors is the table of errors from the other side: wrapped errors of the
// packages below, and the client's view of them.
func TestErrors(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		err        error
		status     int
		body       string
		retryAfter string
	}{
		"nobody":           {session.ErrNone, http.StatusUnauthorized, `{"error":"unauthorized"}`, ""},
		"other site":       {session.ErrCrossSite, http.StatusForbidden, `{"error":"forbidden"}`, ""},
		"too many":         {&account.LimitedError{RetryAfter: 1500 * time.Millisecond}, http.StatusTooManyRequests, `{"error":"rate_limited"}`, "2"},
		"too many streams": {job.ErrTooManyFollowers, http.StatusTooManyRequests, `{"error":"rate_limited"}`, "5"},
		"stopping":         {job.ErrCutOff, http.StatusServiceUnavailable, `{"error":"unavailable"}`, "5"},
		"unknown key":      {account.ErrUnknownKey, http.StatusUnauthorized, `{"error":"unauthorized"}`, ""},
		"wrong password":   {account.ErrCredentials, http.StatusUnauthorized, `{"error":"unauthorized"}`, ""},
		"poor":             {&account.InsufficientError{Balance: 2, Cost: 3}, http.StatusPaymentRequired, `{"creditsRemaining":2,"error":"insufficient_credits"}`, ""},
		"email taken":      {account.ErrEmailTaken, http.StatusConflict, `{"error":"email_taken"}`, ""},
		"too many keys":    {account.ErrTooManyKeys, http.StatusConflict, `{"error":"too_many_keys"}`, ""},
		"no such account":  {account.ErrNotFound, http.StatusNotFound, `{"error":"not_found"}`, ""},
		"no such job":      {job.ErrNotFound, http.StatusNotFound, `{"error":"not_found"}`, ""},
		"object gone":      {blob.ErrNotFound, http.StatusNotFound, `{"error":"not_found"}`, ""},
		"first is running": {job.ErrRunning, http.StatusConflict, `{"error":"idempotency_conflict"}`, "1"},
		"another body":     {job.ErrConflict, http.StatusConflict, `{"error":"idempotency_conflict"}`, ""},
		"no ffmpeg here":   {fmt.Errorf("%w: no ffprobe", job.ErrMachine), http.StatusServiceUnavailable, `{"error":"unavailable"}`, "5"},
		"unreadable":       {job.ErrUnreadable, http.StatusUnprocessableEntity, `{"error":"unreadable_file"}`, ""},
		"large":            {blob.ErrTooLarge, http.StatusRequestEntityTooLarge, `{"error":"payload_too_large"}`, ""},
		"large body":       {&http.MaxBytesError{Limit: 1}, http.StatusRequestEntityTooLarge, `{"error":"payload_too_large"}`, ""},
		"option": {&option.Error{Field: "pad", Reason: "must be between 0 and 50"}, http.StatusBadRequest,
			`{"error":"bad_request","field":"pad","message":"pad must be between 0 and 50"}`, ""},
		"account's field": {&account.FieldError{Field: "email", Reason: "is none"}, http.StatusBadRequest,
			`{"error":"bad_request","field":"email","message":"email is none"}`, ""},
		"limit":         {&job.LimitError{Reason: "too long"}, http.StatusBadRequest, `{"error":"bad_request","message":"too long"}`, ""},
		"storage down":  {&blob.Error{Op: "open", Key: "secret", Err: errors.New("disk")}, http.StatusServiceUnavailable, `{"error":"unavailable"}`, "5"},
		"database down": {driver.ErrBadConn, http.StatusServiceUnavailable, `{"error":"unavailable"}`, "5"},
		"too slow":      {context.DeadlineExceeded, http.StatusServiceUnavailable, `{"error":"unavailable"}`, "5"},
		"anything else": {errors.New("secret"), http.StatusInternalServerError, `{"error":"internal","requestId":"ID"}`, ""},
		"size before form": {errors.Join(httpapi.FormError("pad", "is wrong"), blob.ErrTooLarge),
			http.StatusRequestEntityTooLarge, `{"error":"payload_too_large"}`, ""},
		"form before key": {errors.Join(httpapi.FormError("", "no form"), job.ErrRunning),
			http.StatusBadRequest, `{"error":"bad_request","message":"no form"}`, ""},
		"key before file": {errors.Join(job.ErrUnreadable, job.ErrConflict), http.StatusConflict, `{"error":"idempotency_conflict"}`, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := httpapi.New(httpapi.Config{})
			mux := http.NewServeMux()
			mux.HandleFunc("GET /", func(w http.ResponseWriter, r *http.Request) { a.Refuse(w, r, fmt.Errorf("asked: %w", test.err)) })
			w := httptest.NewRecorder()
			a.Handler(mux).ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/", nil))
			body := strings.Replace(w.Body.String(), w.Header().Get("X-Request-Id"), "ID", 1)
			if w.Code != test.status || body != test.body {
				t.Errorf("got %d %s, want %d %s", w.Code, body, test.status, test.body)
			}
			if got := w.Header().Get("Retry-After"); got != test.retryAfter {
				t.Errorf("Retry-After is %q, want %q", got, test.retryAfter)
			}
		})
	}
}

// TestClientGone checks that there is no alarm when a client hangs up.
func TestClientGone(t *testing.T) {
	t.Parallel()
	var status int
	a := httpapi.New(httpapi.Config{Observe: func(_ string, s int, _ time.Duration) { status = s }})
	mux := http.NewServeMux()
	mux.HandleFunc("GET /", func(w http.ResponseWriter, r *http.Request) {
		a.Refuse(w, r, fmt.Errorf("query: %w", r.Context().Err()))
	})
	ctx, hangUp := context.WithCancel(t.Context())
	hangUp()
	w := httptest.NewRecorder()
	a.Handler(mux).ServeHTTP(w, httptest.NewRequestWithContext(ctx, http.MethodGet, "/", nil))
	if status != 499 || w.Body.Len() > 0 {
		t.Errorf("got %d %s", status, w.Body)
	}
}
