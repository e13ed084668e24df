package session_test

import (
	"errors"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"strings"
	"testing"

	"github.com/bgremove/bgremove/internal/service/account"
	"github.com/bgremove/bgremove/internal/service/session"
	"github.com/bgremove/bgremove/internal/service/store"
	"github.com/bgremove/bgremove/internal/service/store/storetest"
)

// site signs one account in and out, and reports who is signed in.
type site struct {
	*testing.T
	url      string
	accounts *account.Accounts
	ann      account.Account
	// between is called between the two checks of /check.
	between func()
}

func newSite(t *testing.T, db *store.DB, publicURL *url.URL) *site {
	t.Helper()
	s := &site{T: t, accounts: account.New(db)}
	var err error
	if s.ann, err = s.accounts.Register(t.Context(), "ann@example.com", "correct horse"); err != nil {
		t.Fatal(err)
	}
	m, err := session.New(session.Config{Store: account.NewSessions(db), Accounts: s.accounts, PublicURL: publicURL})
	if err != nil {
		t.Fatal(err)
	}
	refuse := func(w http.ResponseWriter, _ *http.Request, err error) {
		status := http.StatusInternalServerError
		if errors.Is(err, session.ErrCrossSite) {
			status = http.StatusForbidden
		}
		http.Error(w, err.Error(), status)
	}
	say := func(w http.ResponseWriter, err error) {
		if err != nil {
			refuse(w, nil, err)
		}
	}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /in", func(w http.ResponseWriter, r *http.Request) {
		who, err := s.accounts.Get(r.Context(), s.ann.ID)
		say(w, errors.Join(err, m.SignIn(r.Context(), who)))
	})
	mux.HandleFunc("POST /out", func(w http.ResponseWriter, r *http.Request) { say(w, m.SignOut(r.Context())) })
	mux.HandleFunc("GET /who", func(w http.ResponseWriter, r *http.Request) {
		who, err := m.Account(r.Context())
		say(w, err)
		_, _ = w.Write([]byte(who.Email))
	})
	mux.HandleFunc("GET /check", func(w http.ResponseWriter, r *http.Request) {
		if err := m.Check(r.Context()); err != nil {
			t.Errorf("a session that goes on: %v", err)
		}
		s.between()
		say(w, m.Check(r.Context()))
	})
	server := httptest.NewServer(m.Middleware(refuse)(mux))
	t.Cleanup(server.Close)
	s.url = server.URL
	return s
}

// browser keeps cookies.
func (s *site) browser() *http.Client {
	jar, err := cookiejar.New(nil)
	if err != nil {
		s.Fatal(err)
	}
	return &http.Client{Jar: jar}
}

// ask sends a request and returns status and cookie.
func (s *site) ask(b *http.Client, method, path string, header ...string) (status int, cookie string) {
	s.Helper()
	r, err := http.NewRequestWithContext(s.Context(), method, s.url+path, nil)
	if err != nil {
		s.Fatal(err)
	}
	for i := 0; i+1 < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	answer, err := b.Do(r)
	if err != nil {
		s.Fatal(err)
	}
	defer answer.Body.Close()
	return answer.StatusCode, answer.Header.Get("Set-Cookie")
}

// wants checks the status of a request.
func (s *site) wants(b *http.Client, method, path string, want int, header ...string) {
	s.Helper()
	if got, _ := s.ask(b, method, path, header...); got != want {
		s.Errorf("%s %s: %d, want %d", method, path, got, want)
	}
}

// TestSession follows a browser from signing in to signing out. This site
// answers 500 if nobody is signed in.
func TestSession(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		s := newSite(t, db, nil)
		b := s.browser()
		s.wants(b, http.MethodGet, "/who", http.StatusInternalServerError)
		_, first := s.ask(b, http.MethodPost, "/in")
		for _, part := range []string{session.CookieName + "=", "Path=/", "HttpOnly", "SameSite=Lax", "Max-Age=2592"} {
			if !strings.Contains(first, part) {
				t.Errorf("the cookie %q lacks %s", first, part)
			}
		}
		s.wants(b, http.MethodGet, "/who", http.StatusOK)
		if _, second := s.ask(b, http.MethodPost, "/in"); second == "" || second == first {
			t.Error("signing in keeps the token")
		}
		s.wants(s.browser(), http.MethodGet, "/who", http.StatusInternalServerError, "Cookie", first)
		s.wants(b, http.MethodPost, "/out", http.StatusOK)
		s.wants(b, http.MethodGet, "/who", http.StatusInternalServerError)
	})
}

// TestPasswordEnds checks that a new password ends all sessions except the one
// that signs in again.
func TestPasswordEnds(t *testing.T) {
	t.Parallel()
	s := newSite(t, storetest.Open(t, storetest.SQLite(t)), nil)
	here, there := s.browser(), s.browser()
	s.wants(here, http.MethodPost, "/in", http.StatusOK)
	s.wants(there, http.MethodPost, "/in", http.StatusOK)
	if _, err := s.accounts.SetPassword(t.Context(), s.ann.ID, "another horse"); err != nil {
		t.Fatal(err)
	}
	s.wants(here, http.MethodPost, "/in", http.StatusOK)
	s.wants(here, http.MethodGet, "/who", http.StatusOK)
	s.wants(there, http.MethodGet, "/who", http.StatusInternalServerError)
}

// TestCheck checks that a slow request notices the end of its session.
func TestCheck(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]func(s *site, b *http.Client){
		"signed out": func(s *site, b *http.Client) { s.wants(b, http.MethodPost, "/out", http.StatusOK) },
		"new password": func(s *site, _ *http.Client) {
			if _, err := s.accounts.SetPassword(s.Context(), s.ann.ID, "another horse"); err != nil {
				s.Error(err)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSite(t, storetest.Open(t, storetest.SQLite(t)), nil)
			b := s.browser()
			s.wants(b, http.MethodPost, "/in", http.StatusOK)
			s.between = func() {}
			s.wants(b, http.MethodGet, "/check", http.StatusOK)
			s.between = func() { end(s, b) }
			s.wants(b, http.MethodGet, "/check", http.StatusInternalServerError)
		})
	}
}

// TestHTTPS checks for Secure cookies behind https, and that the site's own
// origin is trusted there.
func TestHTTPS(t *testing.T) {
	t.Parallel()
	s := newSite(t, storetest.Open(t, storetest.SQLite(t)), &url.URL{Scheme: "https", Host: "bg.example"})
	s.wants(s.browser(), http.MethodPost, "/in", http.StatusForbidden, "Origin", "https://evil.example")
	status, cookie := s.ask(s.browser(), http.MethodPost, "/in", "Origin", "https://bg.example")
	if status != http.StatusOK || !strings.Contains(cookie, "Secure") {
		t.Errorf("got %d and the cookie %q", status, cookie)
	}
	if _, err := session.New(session.Config{PublicURL: &url.URL{Scheme: "https"}}); err == nil {
		t.Error("an address without a host is taken")
	}
}

func TestCrossSite(t *testing.T) {
	t.Parallel()
	s := newSite(t, storetest.Open(t, storetest.SQLite(t)), nil)
	s.wants(s.browser(), http.MethodPost, "/in", http.StatusForbidden, "Sec-Fetch-Site", "cross-site")
	s.wants(s.browser(), http.MethodPost, "/in", http.StatusOK, "Sec-Fetch-Site", "same-origin")
	s.wants(s.browser(), http.MethodGet, "/who", http.StatusInternalServerError, "Sec-Fetch-Site", "cross-site")
}

// TestThrottle checks that tries are counted by address and by account,
// whatever the text of the mail address.
func TestThrottle(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		throttle := &session.Throttle{
			Limiter: account.NewLimiter(db), Rate: account.Rate{PerMinute: 1, Burst: 2},
			Proxies: []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8")},
		}
		try := func(from, email string, allowed bool) {
			t.Helper()
			r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/", nil)
			r.RemoteAddr = "10.0.0.1:4000"
			r.Header.Set("X-Forwarded-For", from)
			attempt := throttle.Attempt
			if email != "" {
				attempt = func(r *http.Request) error { return throttle.AttemptAs(r, email) }
			}
			err := attempt(r)
			var limited *account.LimitedError
			if refused := errors.As(err, &limited); refused == allowed || err != nil && !refused || refused && limited.RetryAfter <= 0 {
				t.Errorf("%s %q: %v", from, email, err)
			}
		}
		try("203.0.113.1", "ann@example.com", true)
		try("203.0.113.2", " Ann@example.com", true)
		try("203.0.113.3", "ann@example.com", false)
		try("203.0.113.1", "", true)
		try("203.0.113.1", "bob@example.com", false)
		try("203.0.113.4", "nul\x00\xff"+strings.Repeat("x", 10_000), true)
	})
}

// TestDevices checks that a browser of an earlier sign-in is counted
// separately, for that account alone, and only with a cookie of ours.
func TestDevices(t *testing.T) {
	t.Parallel()
	db := storetest.Open(t, storetest.SQLite(t))
	devices := session.NewDevices("secret", &url.URL{Scheme: "https", Host: "bg.example"})
	throttle := &session.Throttle{Limiter: account.NewLimiter(db), Rate: account.Rate{PerMinute: 1, Burst: 2}, Devices: devices}
	remembered := func(d *session.Devices, email string) *http.Cookie {
		w := httptest.NewRecorder()
		d.Remember(w, email)
		return w.Result().Cookies()[0]
	}
	ann, bob := remembered(devices, "Ann@example.com"), remembered(devices, "bob@example.com")
	if ann.Name != session.DeviceCookie || !ann.HttpOnly || !ann.Secure || ann.SameSite != http.SameSiteLaxMode || ann.MaxAge < 1e7 {
		t.Errorf("the cookie is %v", ann)
	}
	forged := *ann
	forged.Value = "another" + strings.TrimLeft(ann.Value, "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567")
	try := func(name, from string, cookie *http.Cookie, attempt func(*http.Request) error, allowed bool) {
		t.Helper()
		r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/", nil)
		r.RemoteAddr = from + ":4000"
		if cookie != nil {
			r.AddCookie(cookie)
		}
		err := attempt(r)
		if limited := (*account.LimitedError)(nil); errors.As(err, &limited) == allowed || err != nil && limited == nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	asAnn := func(r *http.Request) error { return throttle.AttemptAs(r, "ann@example.com") }
	for _, from := range []string{"203.0.113.1", "203.0.113.2"} { // strangers use up the shared limits
		try("a stranger", from, nil, asAnn, true)
	}
	try("a stranger", "203.0.113.3", nil, asAnn, false)
	try("with the cookie of another account", "203.0.113.4", bob, asAnn, false)
	try("with a name made up", "203.0.113.5", &forged, asAnn, false)
	try("with another service's cookie", "203.0.113.6", remembered(session.NewDevices("guess", nil), "ann@example.com"), asAnn, false)
	try("the owner's browser", "203.0.113.1", ann, asAnn, true)
	try("the owner's browser", "203.0.113.1", ann, asAnn, true)
	try("a stolen cookie", "203.0.113.7", ann, asAnn, false)
	try("the owner's other browser", "203.0.113.7", remembered(devices, "ann@example.com"), asAnn, true)
	try("who is signed in", "203.0.113.8", nil, func(r *http.Request) error { return throttle.AttemptSignedIn(r, "acc_ann") }, true)
}
