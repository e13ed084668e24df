package httpapi

import (
	"context"
	"log/slog"
	"net/http"
	"strings"

	"github.com/bgremove/bgremove/internal/service/account"
	"github.com/bgremove/bgremove/internal/service/job"
)

// request is the state of a running request. Handler creates it and guard adds
// the caller; it belongs to the request's goroutine.
type request struct {
	*http.Request
	id     string
	body   *body
	writer *writer
	// owner identifies the caller, by key or by session, and is zero if an
	// operation needs neither. account is only that of a session: for a key it is
	// zero, and Accounts.Get has it.
	owner   job.Owner
	account account.Account
	// failure is the error that became the answer, for the log.
	failure error
}

type requestKey struct{}

// requestFrom is the request that a context belongs to.
func requestFrom(ctx context.Context) *request {
	r, ok := ctx.Value(requestKey{}).(*request)
	if !ok {
		panic("httpapi: a handler without Handler around it")
	}
	return r
}

// attrs identify the request in the log.
func (r *request) attrs() []slog.Attr {
	attrs := []slog.Attr{slog.String("request", r.id)}
	if r.owner.AccountID != "" {
		attrs = append(attrs, slog.String("account", r.owner.AccountID))
	}
	if r.owner.KeyID != "" {
		attrs = append(attrs, slog.String("key", r.owner.KeyID))
	}
	return attrs
}

// level depends on who must act: operators, for failures of the service;
// nobody, for the checks of load balancers.
func (r *request) level() slog.Level {
	switch {
	case r.writer.status >= http.StatusInternalServerError:
		return slog.LevelError
	case strings.HasSuffix(r.Pattern, " /healthz"), strings.HasSuffix(r.Pattern, " /readyz"):
		return slog.LevelDebug
	}
	return slog.LevelInfo
}
