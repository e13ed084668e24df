package httpapi_test

import (
	"context"
	"errors"
	"net/http"
	"net/netip"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/getkin/kin-openapi/openapi3"

	"github.com/bgremove/bgremove/internal/service/account"
	"github.com/bgremove/bgremove/internal/service/httpapi"
	"github.com/bgremove/bgremove/pkg/api"
)

// loopback is the address of the tests' requests.
var loopback = []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8"), netip.MustParsePrefix("::1/128")}

// operation is an operation of the specification, for something that does not
// exist.
type operation struct{ method, path string }

// answering are the operations that can answer with a status.
func answering(t *testing.T, status string) (all []operation) {
	t.Helper()
	doc, err := openapi3.NewLoader().LoadFromData(api.Specification)
	if err != nil {
		t.Fatal(err)
	}
	for path, item := range doc.Paths.Map() {
		for method, op := range item.Operations() {
			if op.Responses.Value(status) != nil {
				all = append(all, operation{method, strings.NewReplacer("{id}", "x", "{token}", "x").Replace(path)})
			}
		}
	}
	return all
}

// TestSecurity checks that each operation requires the authentication of the
// specification.
func TestSecurity(t *testing.T) {
	t.Parallel()
	doc, err := openapi3.NewLoader().LoadFromData(api.Specification)
	if err != nil {
		t.Fatal(err)
	}
	c := start(t, nil).client("")
	for path, item := range doc.Paths.Map() {
		for method, op := range item.Operations() {
			wanted := op.Security
			if wanted == nil {
				wanted = &doc.Security
			}
			got := c.do(method, strings.NewReplacer("{id}", "x", "{token}", "x").Replace(path), nil)
			if closed := got.status == http.StatusUnauthorized; closed != (len(*wanted) > 0) {
				t.Errorf("%s %s without credentials: %d %s", method, path, got.status, got.body)
			}
		}
	}
}

func TestCredentials(t *testing.T) {
	t.Parallel()
	s := start(t, func(c *httpapi.Config) { c.Throttle.Rate = account.Rate{PerMinute: 60, Burst: 60} })
	who := s.user("ada@example.com", 0)
	key, other := s.key(who), s.key(who)
	for name, test := range map[string]struct {
		header []string
		ok     bool
	}{
		"bearer":            {[]string{"Authorization", "Bearer " + key}, true},
		"bearer in capital": {[]string{"Authorization", "BEARER " + key}, true},
		"bearer in small":   {[]string{"Authorization", "bearer  " + key}, true},
		"X-API-Key":         {[]string{"X-API-Key", key}, true},
		"both":              {[]string{"Authorization", "Bearer " + key, "X-API-Key", key}, true},
		"both, different":   {[]string{"Authorization", "Bearer " + key, "X-API-Key", other}, false},
		"twice, different":  {[]string{"X-API-Key", key, "X-API-Key", other}, false},
		"none":              {nil, false},
		"empty":             {[]string{"Authorization", "Bearer ", "X-API-Key", ""}, false},
		"other scheme":      {[]string{"Authorization", "Basic " + key}, false},
		"cut off":           {[]string{"X-API-Key", key[:len(key)-1]}, false},
		"nonsense":          {[]string{"X-API-Key", "x"}, false},
	} {
		t.Run(name, func(t *testing.T) {
			got := s.client("").get("/api/v1/jobs/job_0", test.header...)
			if test.ok {
				got.want(t, http.StatusNotFound, `{"error":"not_found"}`)
				return
			}
			got.want(t, http.StatusUnauthorized, `{"error":"unauthorized"}`)
			if challenge := got.header.Get("WWW-Authenticate"); challenge != `Bearer realm="bgremove"` {
				t.Errorf("WWW-Authenticate is %q", challenge)
			}
			if limit := got.header.Get("X-RateLimit-Limit"); limit != "" {
				t.Errorf("nobody has a rate of %s", limit)
			}
		})
	}
}

func TestRateLimit(t *testing.T) {
	t.Parallel()
	s := start(t, func(c *httpapi.Config) { c.Rate = account.Rate{PerMinute: 2, Burst: 2} })
	who := s.user("ada@example.com", 0)
	c := s.client(s.key(who))
	for _, remaining := range []string{"1", "0"} {
		got := c.get("/api/v1/jobs/job_0")
		got.want(t, http.StatusNotFound, `{"error":"not_found"}`)
		h := got.header
		if h.Get("X-RateLimit-Limit") != "2" || h.Get("X-RateLimit-Remaining") != remaining || h.Get("X-RateLimit-Reset") == "" {
			t.Errorf("rate headers are %v", h)
		}
	}
	got := c.get("/api/v1/jobs/job_0")
	got.want(t, http.StatusTooManyRequests, `{"error":"rate_limited"}`)
	if h := got.header; h.Get("Retry-After") != "30" || h.Get("X-RateLimit-Remaining") != "0" || h.Get("X-RateLimit-Reset") != "60" {
		t.Errorf("headers are %v", h)
	}
	for _, o := range answering(t, "429") {
		if strings.HasPrefix(o.path, "/api/v1/") {
			if got := c.do(o.method, o.path, nil); got.status != http.StatusTooManyRequests {
				t.Errorf("%s %s: %d %s", o.method, o.path, got.status, got.body)
			}
		}
	}
	s.client(s.key(who)).get("/api/v1/jobs/job_0").want(t, http.StatusNotFound, `{"error":"not_found"}`)
}

// TestAccountRate checks that all requests of an account are counted together,
// from any key or browser.
func TestAccountRate(t *testing.T) {
	t.Parallel()
	s := start(t, func(c *httpapi.Config) { c.Throttle.Requests = account.Rate{PerMinute: 1, Burst: 4} })
	who, other := s.user("ada@example.com", 0), s.user("bob@example.com", 0)
	keys := []*client{s.client(s.key(who)), s.client(s.key(who)), s.client(s.key(who))}
	for _, c := range keys {
		c.get("/api/v1/jobs/job_0").want(t, http.StatusNotFound, `{"error":"not_found"}`)
	}
	browser := s.signedIn("ada@example.com")
	browser.get("/api/plans").wantStatus(t, http.StatusOK)
	for _, o := range answering(t, "429") {
		c := browser
		if strings.HasPrefix(o.path, "/api/v1/") {
			c = keys[0]
		} else if closed := s.client("").do(o.method, o.path, nil).status == http.StatusUnauthorized; !closed {
			continue
		}
		if got := c.do(o.method, o.path, nil); got.status != http.StatusTooManyRequests || got.header.Get("Retry-After") == "" {
			t.Errorf("%s %s: %d %s", o.method, o.path, got.status, got.body)
		}
	}
	s.client(s.key(other)).get("/api/v1/jobs/job_0").want(t, http.StatusNotFound, `{"error":"not_found"}`)
}

// TestSuspended checks that a suspended account can only sign out.
func TestSuspended(t *testing.T) {
	t.Parallel()
	s := start(t, nil)
	who := s.user("ada@example.com", 100)
	key, browser := s.client(s.key(who)), s.signedIn("ada@example.com")
	if err := s.accounts.Suspend(t.Context(), who.ID); err != nil {
		t.Fatal(err)
	}
	for _, o := range answering(t, "403") {
		c := browser
		if strings.HasPrefix(o.path, "/api/v1/") {
			c = key
		} else if closed := s.client("").do(o.method, o.path, nil).status == http.StatusUnauthorized; !closed {
			continue
		}
		want := `{"error":"suspended"}`
		if o.method == http.MethodHead {
			want = ""
		}
		if got := c.do(o.method, o.path, nil); got.status != http.StatusForbidden || got.body != want {
			t.Errorf("%s %s: %d %s", o.method, o.path, got.status, got.body)
		}
	}
	if err := s.accounts.Resume(t.Context(), who.ID); err != nil {
		t.Fatal(err)
	}
	key.get("/api/v1/jobs/job_0").want(t, http.StatusNotFound, `{"error":"not_found"}`)
	browser.do(http.MethodDelete, "/api/session", nil).wantStatus(t, http.StatusNoContent)
}

// TestFailedAuthentication checks that an address that guesses is stopped, and
// that its neighbours with keys are served.
func TestFailedAuthentication(t *testing.T) {
	t.Parallel()
	s := start(t, func(c *httpapi.Config) {
		c.Throttle.Rate = account.Rate{PerMinute: 1, Burst: 2}
		c.Throttle.Proxies = loopback
	})
	key := s.key(s.user("ada@example.com", 0))
	c := s.client("")
	guess := func(address string) answer {
		return c.get("/api/v1/jobs/job_0", "X-API-Key", "bgr_guess", "X-Forwarded-For", address)
	}
	guess("203.0.113.5").want(t, http.StatusUnauthorized, `{"error":"unauthorized"}`)
	guess("203.0.113.5").want(t, http.StatusUnauthorized, `{"error":"unauthorized"}`)
	got := guess("203.0.113.5")
	got.want(t, http.StatusTooManyRequests, `{"error":"rate_limited"}`)
	if got.header.Get("Retry-After") == "" {
		t.Error("no Retry-After")
	}
	guess("203.0.113.6").want(t, http.StatusUnauthorized, `{"error":"unauthorized"}`)
	c.get("/api/v1/jobs/job_0", "X-API-Key", key, "X-Forwarded-For", "203.0.113.5").want(t, http.StatusNotFound, `{"error":"not_found"}`)
}

func TestRoutes(t *testing.T) {
	t.Parallel()
	s := start(t, nil)
	c := s.client(s.key(s.user("ada@example.com", 0)))
	for name, test := range map[string]struct {
		method, path string
		status       int
		body, allow  string
	}{
		"unknown path":                {http.MethodGet, "/nothing", http.StatusNotFound, `{"error":"not_found"}`, ""},
		"unknown below v1":            {http.MethodGet, "/api/v1/nothing", http.StatusNotFound, `{"error":"not_found"}`, ""},
		"text that no database takes": {http.MethodGet, "/api/v1/jobs/%00", http.StatusNotFound, `{"error":"not_found"}`, ""},
		"no text":                     {http.MethodGet, "/api/v1/batches/%ff", http.StatusNotFound, `{"error":"not_found"}`, ""},
		"two slashes":                 {http.MethodGet, "//api/v1/jobs/job_0", http.StatusNotFound, `{"error":"not_found"}`, ""},
		"root":                        {http.MethodGet, "/", http.StatusNotFound, `{"error":"not_found"}`, ""},
		"no list of batches":          {http.MethodGet, "/api/v1/batches", http.StatusMethodNotAllowed, `{"error":"method_not_allowed"}`, "POST"},
		"put":                         {http.MethodPut, "/api/v1/jobs/job_0", http.StatusMethodNotAllowed, `{"error":"method_not_allowed"}`, "DELETE, GET, HEAD"},
		"delete keys":                 {http.MethodDelete, "/api/account/keys", http.StatusMethodNotAllowed, `{"error":"method_not_allowed"}`, "GET, HEAD, POST"},
		"head":                        {http.MethodHead, "/healthz", http.StatusOK, "", ""},
		"head of a job":               {http.MethodHead, "/api/v1/jobs/job_0", http.StatusNotFound, "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			got := c.do(test.method, test.path, nil)
			got.want(t, test.status, test.body)
			if allow := got.header.Get("Allow"); allow != test.allow {
				t.Errorf("Allow is %q, want %q", allow, test.allow)
			}
		})
	}
}

func TestHealth(t *testing.T) {
	t.Parallel()
	down := errors.New("of a test, with a secret path")
	var ready error
	s := start(t, func(c *httpapi.Config) { c.Ready = func(context.Context) error { return ready } })
	c := s.client("")
	c.get("/healthz").want(t, http.StatusOK, `{"status":"ok"}`+"\n")
	c.get("/readyz").want(t, http.StatusOK, `{"status":"ok"}`+"\n")
	ready = down
	got := c.get("/readyz")
	got.want(t, http.StatusServiceUnavailable, `{"error":"unavailable"}`)
	if got.header.Get("Retry-After") != "5" {
		t.Errorf("Retry-After is %q", got.header.Get("Retry-After"))
	}
	if !strings.Contains(s.log.String(), down.Error()) {
		t.Error("the log does not say why")
	}
}

// TestPanic checks for 500 with a request id that is also in the log, and
// without details.
func TestPanic(t *testing.T) {
	t.Parallel()
	s := start(t, nil)
	got := s.client("").get("/panic")
	body := decode[api.Error](t, got, http.StatusInternalServerError)
	if body.Error != api.ErrorCodeInternal || body.RequestID == nil || *body.RequestID != got.header.Get("X-Request-Id") {
		t.Errorf("got %s", got.body)
	}
	if !regexp.MustCompile(`^\{"error":"internal","requestId":"req_[0-9a-z]{26}"\}$`).MatchString(got.body) {
		t.Errorf("got %s", got.body)
	}
	if log := s.log.String(); !strings.Contains(log, "panic: of a test") || !strings.Contains(log, *body.RequestID) {
		t.Errorf("the log is %s", log)
	}
}

// TestObserve checks that every answer is observed under its route.
func TestObserve(t *testing.T) {
	t.Parallel()
	type seen struct {
		pattern string
		status  int
	}
	observed := make(chan seen, 3)
	s := start(t, func(c *httpapi.Config) {
		c.Observe = func(pattern string, status int, _ time.Duration) { observed <- seen{pattern, status} }
	})
	c := s.client("")
	c.get("/api/v1/jobs/job_0")
	c.get("/nothing")
	c.get("/panic")
	got := []seen{<-observed, <-observed, <-observed}
	want := []seen{{"GET /api/v1/jobs/{id}", http.StatusUnauthorized}, {"", http.StatusNotFound}, {"GET /panic", http.StatusInternalServerError}}
	if !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}
