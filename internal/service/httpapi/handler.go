package httpapi

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"path"
	"runtime/debug"
	"strings"
	"time"

	"github.com/bgremove/bgremove/internal/service/id"
	"github.com/bgremove/bgremove/internal/service/store"
)

// Handler puts around all of mux what every answer of the service has: a
// request id, a type that browsers do not guess, a line in the log, deadlines that
// move with the data, 500 for a panic, and JSON, or NotFound's page, for a path or method that mux does not know.
func (a *API) Handler(mux *http.ServeMux) http.Handler {
	return http.HandlerFunc(func(rw http.ResponseWriter, hr *http.Request) {
		w := newWriter(rw, a.Stall)
		r := &request{id: id.New("req_"), body: newBody(hr, w, a.MaxUpload), writer: w}
		r.Request = hr.WithContext(context.WithValue(hr.Context(), requestKey{}, r))
		r.Body = r.body
		w.Header().Set("X-Request-Id", r.id)
		w.Header().Set("X-Content-Type-Options", "nosniff")
		w.before = func() { r.body.answer(w.Header()) }
		defer a.report(r, time.Now())

		a.route(mux, w, r)
		r.body.drain()
	})
}

// route passes a request to mux, and corrects mux's own errors.
func (a *API) route(mux *http.ServeMux, w *writer, r *request) {
	defer func() {
		v := recover()
		if v == nil {
			return
		}
		if err, ok := v.(error); ok && errors.Is(err, http.ErrAbortHandler) {
			panic(http.ErrAbortHandler)
		}
		begun := w.status != 0
		a.Refuse(w, r.Request, fmt.Errorf("panic: %v\n%s", v, debug.Stack()))
		if begun {
			panic(http.ErrAbortHandler) // the client must see that the answer is cut
		}
	}()
	if !isCleanPath(r.URL.Path) {
		a.RefusePath(w, r.Request)
		return
	}
	if _, pattern := mux.Handler(r.Request); pattern == "" {
		a.refuseRoute(mux, w, r)
		return
	}
	mux.ServeHTTP(w, r.Request)
}

// isCleanPath reports whether a path is as clients of ours write it: mux would
// redirect others to a page, and not every database takes all text.
func isCleanPath(p string) bool {
	clean := path.Clean(p)
	return store.ValidText(p) && (p == clean || p == clean+"/" && clean != "/")
}

// refuseRoute answers as mux would, but in JSON: 405 with Allow where the path
// has other methods, else 404.
func (a *API) refuseRoute(mux *http.ServeMux, w *writer, r *request) {
	answer := headerOnly{}
	mux.ServeHTTP(answer, r.Request)
	allow := http.Header(answer).Get("Allow")
	if allow == "" {
		a.RefusePath(w, r.Request)
		return
	}
	w.Header().Set("Allow", allow)
	a.Refuse(w, r.Request, errMethodNotAllowed)
}

// RefusePath answers for a path that nothing has, for all code inside Handler: to people by
// a page, if there is one.
func (a *API) RefusePath(w http.ResponseWriter, r *http.Request) {
	person := (r.Method == http.MethodGet || r.Method == http.MethodHead) && strings.Contains(r.Header.Get("Accept"), "text/html")
	if a.NotFound == nil || !person || strings.HasPrefix(r.URL.Path, "/api/") {
		a.Refuse(w, r, errNotFound)
		return
	}
	a.NotFound.ServeHTTP(w, r)
}

// headerOnly is a ResponseWriter that keeps the header alone.
type headerOnly http.Header

func (h headerOnly) Header() http.Header         { return http.Header(h) }
func (h headerOnly) Write(p []byte) (int, error) { return len(p), nil }
func (h headerOnly) WriteHeader(int)             {}

// report passes a finished request to Observe and to the log.
func (a *API) report(r *request, started time.Time) {
	took := time.Since(started)
	if a.Observe != nil {
		a.Observe(r.Pattern, r.writer.status, took)
	}
	level := r.level()
	if !a.Log.Enabled(r.Context(), level) {
		return
	}
	attrs := append(r.attrs(),
		slog.String("method", r.Method), slog.String("path", loggable(r.Request)), slog.Int("status", r.writer.status),
		slog.Int64("received", r.body.received), slog.Int64("sent", r.writer.sent),
		slog.Duration("took", took), slog.String("address", a.Throttle.Address(r.Request).String()))
	if r.failure != nil {
		attrs = append(attrs, slog.String("error", r.failure.Error()))
	}
	a.Log.LogAttrs(r.Context(), level, "request", attrs...)
}

// tokenPaths are the beginnings of paths that go on with a token.
var tokenPaths = []string{"/reset/", "/confirm/", "/api/password-resets/", "/api/confirmations/"}

// loggable is the path of a request without a token in it, because readers of
// the log must not be able to use it.
func loggable(r *http.Request) string {
	for _, before := range tokenPaths {
		if rest, ok := strings.CutPrefix(r.URL.Path, before); ok && rest != "" {
			return before + "…"
		}
	}
	return r.URL.Path
}
