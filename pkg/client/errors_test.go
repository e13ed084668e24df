package client_test

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/bgremove/bgremove/pkg/client"
)

// answering is a server that always answers the same.
func answering(t *testing.T, status int, body string, header ...string) string {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", "application/json")
		for i := 0; i+1 < len(header); i += 2 {
			w.Header().Set(header[i], header[i+1])
		}
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	}))
	t.Cleanup(s.Close)
	return s.URL
}

// TestErrors checks that each answer becomes an error of its own type, with its
// facts.
func TestErrors(t *testing.T) {
	t.Parallel()
	const page = "text/html; charset=utf-8"
	for name, test := range map[string]struct {
		status int
		body   string
		header []string
		want   error // compared by errors.Is, or by its fields if it is a struct
	}{
		"unauthorized":  {401, `{"error":"unauthorized"}`, nil, client.ErrUnauthorized},
		"credits":       {402, `{"error":"insufficient_credits","creditsRemaining":2}`, nil, &client.InsufficientCreditsError{CreditsRemaining: 2}},
		"option":        {400, `{"error":"bad_request","message":"pad must be","field":"pad"}`, nil, &client.BadRequestError{Message: "pad must be", Field: "pad"}},
		"bare request":  {400, `{"error":"bad_request"}`, nil, &client.BadRequestError{}},
		"steers":        {400, `{"error":"bad_request","message":"a\u001b[2Jb"}`, nil, &client.BadRequestError{Message: "a[2Jb"}},
		"not found":     {404, `{"error":"not_found"}`, nil, client.ErrNotFound},
		"unreadable":    {422, `{"error":"unreadable_file"}`, nil, client.ErrUnreadable},
		"too large":     {413, `{"error":"payload_too_large"}`, nil, client.ErrTooLarge},
		"conflict":      {409, `{"error":"idempotency_conflict"}`, nil, client.ErrConflict},
		"still running": {409, `{"error":"idempotency_conflict"}`, []string{"Retry-After", "1"}, client.ErrConflict},
		"limited":       {429, `{"error":"rate_limited"}`, []string{"Retry-After", "7"}, &client.RateLimitedError{RetryAfter: 7 * time.Second}},
		"by a proxy":    {429, "slow down", []string{"Content-Type", page}, &client.RateLimitedError{}},
		"unavailable":   {503, `{"error":"unavailable"}`, []string{"Retry-After", "5"}, &client.UnavailableError{Status: 503, RetryAfter: 5 * time.Second}},
		"bad gateway":   {502, "<html>", []string{"Content-Type", page}, &client.UnavailableError{Status: 502}},
		"internal":      {500, `{"error":"internal","requestId":"req_1"}`, nil, &client.ServiceError{Status: 500, Code: "internal", RequestID: "req_1"}},
		"of the future": {418, `{"error":"teapot"}`, []string{"X-Request-Id", "req_2"}, &client.ServiceError{Status: 418, Code: "teapot", RequestID: "req_2"}},
		"page":          {200, "<html>sign in</html>", []string{"Content-Type", page}, &client.UnexpectedError{Method: "GET", Status: 200, ContentType: "text/html"}},
		"page of 401":   {401, "<html>sign in</html>", []string{"Content-Type", page}, &client.UnexpectedError{Method: "GET", Status: 401, ContentType: "text/html"}},
		"other JSON":    {404, `{"message":"no"}`, nil, &client.UnexpectedError{Method: "GET", Status: 404, ContentType: "application/json"}},
		"redirect":      {301, "", []string{"Content-Type", page, "Location", "https://elsewhere.example/"}, &client.UnexpectedError{Method: "GET", Status: 301, ContentType: "text/html", Location: "https://elsewhere.example/"}},
		"endless":       {200, strings.Repeat(" ", 2<<20), nil, &client.UnexpectedError{Method: "GET", Status: 200, ContentType: "application/json"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			url := answering(t, test.status, test.body, test.header...)
			c := quick(t, url, "key", func(o *client.Options) { o.Tries = 1 })
			_, err := c.Job(t.Context(), "job_1")
			if page := (*client.UnexpectedError)(nil); errors.As(test.want, &page) {
				page.URL = url + "/api/v1/jobs/job_1"
			}
			if !errors.Is(err, test.want) && !cmp.Equal(err, test.want) {
				t.Errorf("got %#v, want %#v", err, test.want)
			}
			if strings.ContainsAny(err.Error(), "\n\x1b") {
				t.Errorf("the message %q is not one line", err)
			}
		})
	}
}

// TestHarmless checks that nothing in an answer can control a terminal.
func TestHarmless(t *testing.T) {
	t.Parallel()
	url := answering(t, 200, `{"id":"job_\u001b[2J7","status":"done\u0007","outputFormat":"gif","error":"a\u001b]0;b",
		"metadata":{"originalName":"c\u001b[31m.gif","outputSize":5000000000}}`)
	job, err := quick(t, url, "key").Job(t.Context(), "job_7")
	if err != nil {
		t.Fatal(err)
	}
	if job.ID != "job_[2J7" || job.Status != "done" || *job.Error != "a]0;b" || job.Metadata.OriginalName != "c[31m.gif" || *job.Metadata.OutputSize != 5e9 {
		t.Errorf("%+v", job)
	}
}

// TestNoService checks that a server that never answers is not tried for long,
// and that the error names it.
func TestNoService(t *testing.T) {
	t.Parallel()
	url := "http://127.0.0.1:1" // the port of a closed server may be that of another test
	c := quick(t, url, "key", func(o *client.Options) { o.OnRetry = func(client.Retry) { t.Error("it is tried again") } })
	_, err := c.Submit(t.Context(), numbered(t, 1), client.JobOptions{})
	var connection *client.ConnectionError
	if !errors.As(err, &connection) || connection.Connected || !strings.Contains(err.Error(), url) {
		t.Errorf("got %v", err)
	}
	if errors.As(err, new(*client.UncertainError)) {
		t.Error("what was never sent cannot have been taken")
	}
}

// TestNew checks that impossible addresses and keys are refused, and that the
// key is not shown.
func TestNew(t *testing.T) {
	t.Parallel()
	for _, server := range []string{"", "localhost:8080", "clips.example", "ftp://clips.example", "https://", "https://ada:secret@clips.example", "https://clips.example/?a=b", "https://[::1"} {
		if _, err := client.New(server, "key", client.Options{}); err == nil || strings.Contains(err.Error(), "secret") {
			t.Errorf("%q gives %v", server, err)
		}
	}
	for _, key := range []string{"", "bgr_a\nb", "bgr_a b", "bgr_ä"} {
		if _, err := client.New("https://clips.example", key, client.Options{}); err == nil || key != "" && strings.Contains(err.Error(), key) {
			t.Errorf("key %q gives %v", key, err)
		}
	}
}

// TestPrefix checks that a service below a path is found.
func TestPrefix(t *testing.T) {
	t.Parallel()
	var path, key, agent string
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		path, key, agent = r.URL.Path, r.Header.Get("Authorization"), r.UserAgent()
		refuse(w, http.StatusNotFound, "not_found")
	}))
	t.Cleanup(s.Close)
	c := quick(t, s.URL+"/clips/", "bgr_1")
	if _, err := c.Submit(t.Context(), numbered(t, 1), client.JobOptions{}); !errors.As(err, new(*client.UnexpectedError)) || path != "/clips/api/v1/jobs" {
		t.Errorf("got %v; asked %s", err, path)
	}
	_, err := c.Job(t.Context(), "job_1")
	if !errors.Is(err, client.ErrNotFound) || path != "/clips/api/v1/jobs/job_1" || key != "Bearer bgr_1" || agent != "bgremove-client" {
		t.Errorf("got %v; asked %s with %q as %q", err, path, key, agent)
	}
}
