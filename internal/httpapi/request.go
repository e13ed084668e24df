package httpapi

import (
	"context"
	"log/slog"
	"net/http"
	"strings"

	"github.com/bgremove/bgremove/internal/account"
	"github.com/bgremove/bgremove/internal/job"
)

// request is what is known of a request on its way. Handler makes it, guard
// fills in who asks; it belongs to the goroutine of the request.
type request struct {
	*http.Request
	id     string
	body   *body
	writer *writer
	// owner and account are who asks, by key or by session; both are zero
	// where an operation asks for neither.
	owner   job.Owner
	account account.Account
	// failure is the error that became the answer, for the log.
	failure error
}

type requestKey struct{}

// of is the request that a context belongs to.
func of(ctx context.Context) *request {
	r, ok := ctx.Value(requestKey{}).(*request)
	if !ok {
		panic("httpapi: a handler without Handler around it")
	}
	return r
}

// attrs tell requests apart in the log.
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

// level says who has to act: operators, for failures of the service; nobody,
// for the questions of load balancers.
func (r *request) level() slog.Level {
	switch {
	case r.writer.status >= http.StatusInternalServerError:
		return slog.LevelError
	case strings.HasSuffix(r.Pattern, " /healthz"), strings.HasSuffix(r.Pattern, " /readyz"):
		return slog.LevelDebug
	}
	return slog.LevelInfo
}
