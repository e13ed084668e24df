package httpapi_test

import (
	"context"
	"io"
	"log/slog"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/bgremove/bgremove/internal/service/account"
	"github.com/bgremove/bgremove/internal/service/blob"
	"github.com/bgremove/bgremove/internal/service/httpapi"
	"github.com/bgremove/bgremove/internal/service/job"
	"github.com/bgremove/bgremove/internal/service/removal"
	"github.com/bgremove/bgremove/internal/service/session"
	"github.com/bgremove/bgremove/internal/service/store"
	"github.com/bgremove/bgremove/internal/service/store/storetest"
	"github.com/bgremove/bgremove/internal/service/webhook"
	"github.com/bgremove/bgremove/internal/testlog"
	"github.com/bgremove/bgremove/pkg/bgremove"
)

// service is a whole service without a listener, on a database and files of its
// own.
type service struct {
	testing.TB
	url      string
	dir      string // of its objects
	db       *store.DB
	accounts *account.Accounts
	keys     *account.Keys
	ledger   *account.Ledger
	blobs    *blob.Store
	jobs     *job.Service
	webhooks *webhook.Service
	remover  *removal.Remover
	api      *httpapi.API
	stopFeed func() // as when a server stops
	log      *testlog.Lines
}

// start runs a service until the test ends. change may change the defaults; it
// may be nil.
func start(t testing.TB, change func(*httpapi.Config)) *service {
	t.Helper()
	return startWith(t, job.Config{}, change)
}

func startWith(t testing.TB, jobs job.Config, change func(*httpapi.Config)) *service {
	t.Helper()
	return startOn(t, storetest.Open(t, storetest.SQLite(t)), jobs, change)
}

func startOn(t testing.TB, db *store.DB, jobs job.Config, change func(*httpapi.Config)) *service {
	t.Helper()
	return startIn(t, db, blob.Options{}, jobs, change)
}

func startIn(t testing.TB, db *store.DB, blobs blob.Options, jobs job.Config, change func(*httpapi.Config)) *service {
	t.Helper()
	s := &service{TB: t, dir: filepath.Join(t.TempDir(), "blobs"), log: &testlog.Lines{}, db: db}
	var err error
	if s.blobs, err = blob.Open(t.Context(), "file://"+filepath.ToSlash(s.dir), blobs); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.blobs.Close(); err != nil {
			t.Error(err)
		}
	})
	s.accounts, s.keys, s.ledger = account.New(s.db), account.NewKeys(s.db), account.NewLedger(s.db)
	s.webhooks = webhook.New(s.db, webhook.Config{})
	jobs.Ended = s.webhooks.Enqueue
	s.jobs = job.New(s.db, s.blobs, jobs)
	s.remover = removal.New(bgremove.New(bgremove.Config{}))
	s.remover.FastOnly = true
	sessions, err := session.New(session.Config{Store: account.NewSessions(s.db), Accounts: s.accounts})
	if err != nil {
		t.Fatal(err)
	}
	feed := job.NewFeed(s.jobs)
	ctx, stop := context.WithCancel(context.Background())
	s.stopFeed = stop
	var running sync.WaitGroup
	running.Go(func() { feed.Run(ctx) })
	t.Cleanup(func() { stop(); running.Wait() })
	limiter := account.NewLimiter(s.db)
	c := httpapi.Config{
		Accounts: s.accounts, Keys: s.keys, Ledger: s.ledger, Sessions: sessions, Limiter: limiter, Throttle: &session.Throttle{Limiter: limiter},
		Jobs: s.jobs, Feed: feed, Blobs: s.blobs, Prober: s.remover, Webhooks: s.webhooks,
		Ready: func(ctx context.Context) error { return s.db.PingContext(ctx) },
		Log:   slog.New(slog.NewTextHandler(s.log, nil)),
	}
	if change != nil {
		change(&c)
	}
	s.api = httpapi.New(c)
	mux := http.NewServeMux()
	s.api.Register(mux)
	mux.HandleFunc("GET /panic", func(http.ResponseWriter, *http.Request) { panic("of a test") })
	mux.HandleFunc("GET /endless", endless)
	server := httptest.NewServer(s.api.Handler(mux))
	t.Cleanup(server.Close)
	s.url = server.URL
	return s
}

const password = "correct horse"

// user creates an account with credits.
func (s *service) user(email string, credits int64) account.Account {
	s.Helper()
	who, err := s.accounts.Register(s.Context(), email, password)
	if err != nil {
		s.Fatal(err)
	}
	if credits > 0 {
		if _, err := s.ledger.Grant(s.Context(), who.ID, credits, "test"); err != nil {
			s.Fatal(err)
		}
	}
	return who
}

// key creates an API key of an account.
func (s *service) key(who account.Account) (secret string) {
	s.Helper()
	_, secret, err := s.keys.Create(s.Context(), who.ID, "test")
	if err != nil {
		s.Fatal(err)
	}
	return secret
}

// balance is an account's credits.
func (s *service) balance(who account.Account) int64 {
	s.Helper()
	now, err := s.accounts.Get(s.Context(), who.ID)
	if err != nil {
		s.Fatal(err)
	}
	return now.Credits
}

// client speaks to a service, checks all traffic against the specification, and
// keeps cookies.
type client struct {
	*service
	http   *http.Client
	header http.Header // of every request
}

func (s *service) client(key string) *client {
	s.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		s.Fatal(err)
	}
	c := &client{service: s, header: http.Header{}, http: &http.Client{Jar: jar, Transport: &checked{t: s.TB}}}
	if key != "" {
		c.header.Set("Authorization", "Bearer "+key)
	}
	return c
}

// answer is an answer, read to its end.
type answer struct {
	status int
	header http.Header
	body   string
}

// do sends a request with more headers, as pairs of name and value.
func (c *client) do(method, path string, body io.Reader, header ...string) answer {
	c.Helper()
	r, err := http.NewRequestWithContext(c.Context(), method, c.url+path, body)
	if err != nil {
		c.Fatal(err)
	}
	for name, values := range c.header {
		r.Header[name] = values
	}
	for i := 0; i+1 < len(header); i += 2 {
		r.Header.Add(header[i], header[i+1])
	}
	response, err := c.http.Do(r)
	if err != nil {
		c.Fatalf("%s %s: %v", method, path, err)
	}
	defer response.Body.Close()
	got, err := io.ReadAll(response.Body)
	if err != nil {
		c.Fatalf("%s %s: %v", method, path, err)
	}
	if response.Header.Get("X-Content-Type-Options") != "nosniff" {
		c.Errorf("%s %s: %v", method, path, response.Header)
	}
	return answer{response.StatusCode, response.Header, string(got)}
}

func (c *client) get(path string, header ...string) answer {
	c.Helper()
	return c.do(http.MethodGet, path, nil, header...)
}

// post sends JSON.
func (c *client) post(path, body string, header ...string) answer {
	c.Helper()
	return c.do(http.MethodPost, path, strings.NewReader(body), append(header, "Content-Type", "application/json")...)
}

// put sends JSON.
func (c *client) put(path, body string, header ...string) answer {
	c.Helper()
	return c.do(http.MethodPut, path, strings.NewReader(body), append(header, "Content-Type", "application/json")...)
}

// wantStatus checks the status alone.
func (a answer) wantStatus(t testing.TB, status int) {
	t.Helper()
	if a.status != status {
		t.Errorf("got %d %s, want %d", a.status, a.body, status)
	}
}

// want checks status and body.
func (a answer) want(t testing.TB, status int, body string) {
	t.Helper()
	if a.status != status || a.body != body {
		t.Errorf("got %d %s, want %d %s", a.status, a.body, status, body)
	}
}
