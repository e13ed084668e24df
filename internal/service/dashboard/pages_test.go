package dashboard_test

import (
	"bytes"
	"fmt"
	"image"
	"image/color"
	"image/gif"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/bgremove/bgremove/internal/service/account"
	"github.com/bgremove/bgremove/internal/service/dashboard"
	"github.com/bgremove/bgremove/internal/service/server"
)

func TestSignIn(t *testing.T) {
	t.Parallel()
	s := start(t, nil)
	s.user("ada@example.com", 7)
	p := s.person()
	p.get("/keys?x=1").leads("/signin?next=%2Fkeys%3Fx%3D1")
	p.get("/").leads("/signin")
	p.get("/signin?next=%2Fkeys%3Fx%3D1").says(http.StatusOK, `value="/keys?x=1"`)
	p.post("/signin", "email", "ada@example.com", "password", "wrong").
		says(http.StatusUnauthorized, "Wrong address or password.", `value="ada@example.com"`)
	p.post("/signin", "email", "Ada@example.com", "password", password, "next", "/keys?x=1").leads("/keys?x=1")
	p.get("/").says(http.StatusOK, "7</span> credits", "Workbench")
	p.get("/signin").leads("/")
	p.post("/signout").leads("/signin?after=signout")
	p.get("/signin?after=signout").says(http.StatusOK, "You are signed out.")
	p.get("/").leads("/signin")
}

// A link to the sign-in page cannot lead to another site afterwards.
func TestNext(t *testing.T) {
	t.Parallel()
	for next, want := range map[string]string{
		"/jobs?state=done": "/jobs?state=done", "/": "/", "": "/", "jobs": "/",
		"https://evil.example/": "/", "//evil.example/": "/", `/\evil.example`: "/", "/\t/evil.example": "/", "/\n/evil.example": "/",
		"javascript:alert(1)": "/", "/%0a//evil.example": "/%0a//evil.example", "http:/evil": "/", "///evil.example": "/", " //evil.example": "/",
		"/%5cevil.example": "/%5cevil.example", "/a b": "/",
	} {
		if got := dashboard.LocalPath(next); got != want {
			t.Errorf("%q leads to %q, want %q", next, got, want)
		}
	}
	s := start(t, nil)
	s.user("ada@example.com", 0)
	s.person().post("/signin", "email", "ada@example.com", "password", password, "next", "//evil.example/").leads("/")
}

func TestSignInIsThrottled(t *testing.T) {
	t.Parallel()
	s := start(t, nil)
	p := s.person()
	long := strings.Repeat("x", 2000) // refused at once, because hashing takes long
	for range 20 {
		p.post("/signin", "email", "ada@example.com", "password", long).says(http.StatusUnauthorized)
	}
	for {
		got := p.post("/signin", "email", "ada@example.com", "password", long)
		if got.status != http.StatusUnauthorized { // a slow machine allows some more
			got.says(http.StatusTooManyRequests, "Too many requests.", " seconds.")
			return
		}
	}
}

// TestPagesAreCounted checks that pages and forms count like requests of the
// API.
func TestPagesAreCounted(t *testing.T) {
	t.Parallel()
	s := start(t, func(c *server.Config) { c.AccountRate = account.Rate{PerMinute: 1, Burst: 3} })
	s.user("ada@example.com", 0)
	p := s.signedIn("ada@example.com")
	p.get("/jobs").says(http.StatusOK)
	p.post("/keys", "name", "mine").says(http.StatusCreated)
	p.get("/credits").says(http.StatusOK)
	got := p.get("/jobs")
	if got.says(http.StatusTooManyRequests, "Too many requests", " seconds."); got.header.Get("Retry-After") == "" {
		t.Errorf("headers are %v", got.header)
	}
	p.post("/keys", "name", "another").says(http.StatusTooManyRequests, "Too many requests.")
}

func TestSuspended(t *testing.T) {
	t.Parallel()
	s := start(t, nil)
	who := s.user("ada@example.com", 0)
	p := s.signedIn("ada@example.com")
	if err := account.New(s.db).Suspend(t.Context(), who.ID); err != nil {
		t.Fatal(err)
	}
	p.get("/jobs").says(http.StatusForbidden, "This account is suspended")
	p.post("/keys", "name", "mine").says(http.StatusForbidden, "This account is suspended")
	p.post("/signout").leads("/signin?after=signout")
}

func TestSignUp(t *testing.T) {
	t.Parallel()
	closed := start(t, nil).person()
	closed.get("/signup").says(http.StatusNotFound, "There is no such page")
	closed.post("/signup", "email", "eve@example.com", "password", password).says(http.StatusForbidden, "not allowed")
	if strings.Contains(closed.get("/signin").body, "/signup") {
		t.Error("the page shows a link to what is closed")
	}
	s := start(t, func(c *server.Config) { c.SignUp = true })
	p := s.person()
	p.get("/signin").says(http.StatusOK, "/signup")
	p.post("/signup", "email", "eve", "password", password).says(http.StatusBadRequest, "Email must be an address", `value="eve"`)
	p.post("/signup", "email", "eve@example.com", "password", "short").says(http.StatusBadRequest, "Password must have")
	p.post("/signup", "email", "eve@example.com", "password", password).leads("/")
	p.get("/account").says(http.StatusOK, "eve@example.com")
	s.person().post("/signup", "email", "eve@example.com", "password", password).says(http.StatusConflict, "already has an account")
}

// fill replaces a pattern's wildcards with values.
func fill(pattern string, values map[string]string) (method, path string) {
	method, path, _ = strings.Cut(pattern, " ")
	path = strings.TrimSuffix(path, "{$}")
	for name, value := range values {
		path = strings.ReplaceAll(path, "{"+name+"}", value)
	}
	return method, path
}

// Without a session no page is shown and nothing changes.
func TestStrangers(t *testing.T) {
	t.Parallel()
	s := start(t, nil)
	p := s.person()
	_, closed := dashboard.Routes()
	for _, pattern := range closed {
		method, path := fill(pattern, map[string]string{"id": "job_1"})
		got := p.do(method, path, "application/x-www-form-urlencoded", strings.NewReader(""))
		if got.status != http.StatusSeeOther || !strings.HasPrefix(got.header.Get("Location"), "/signin") || strings.Contains(got.body, "<main") {
			t.Errorf("%s is answered by %d %s", pattern, got.status, got.header)
		}
		if got := p.do(method, path, "", nil, "X-Fragment", "1"); got.status != http.StatusUnauthorized || got.body != "" {
			t.Errorf("%s is answered to a script by %d %s", pattern, got.status, got.body)
		}
	}
}

// One account cannot see or change another's things.
func TestForeignSession(t *testing.T) {
	t.Parallel()
	s := start(t, nil)
	ada := s.user("ada@example.com", 50)
	s.user("bob@example.com", 50)
	key, _, err := account.NewKeys(s.db).Create(t.Context(), ada.ID, "secret bot")
	if err != nil {
		t.Fatal(err)
	}
	mine := s.signedIn("ada@example.com")
	job := strings.TrimPrefix(mine.upload("/jobs", []string{"secret.gif", string(clip(t))}).header.Get("Location"), "/jobs/")
	if state := mine.ended(job); state != "done" {
		t.Fatalf("the job is %s", state)
	}
	bob := s.signedIn("bob@example.com")
	for pattern, id := range map[string]string{
		"GET /jobs/{id}": job, "GET /jobs/{id}/card": job, "GET /jobs/{id}/view": job, "GET /?again={id}": job,
		"GET /keys/{id}/revoke": key.ID, "POST /keys/{id}/revoke": key.ID,
		"GET /api/jobs/{id}": job, "GET /api/jobs/{id}/preview": job, "GET /api/jobs/{id}/download": job, "GET /api/jobs/{id}/input": job,
		"DELETE /api/account/keys/{id}": key.ID,
	} {
		method, path := fill(pattern, map[string]string{"id": id})
		if got := bob.do(method, path, "", nil); got.status != http.StatusNotFound || strings.Contains(got.body, "secret") {
			t.Errorf("%s is answered by %d %s", pattern, got.status, got.body)
		}
	}
	for _, path := range []string{"/jobs/" + job + "/again", "/api/jobs/" + job + "/again"} {
		if got := bob.upload(path, nil); got.status != http.StatusNotFound || strings.Contains(got.body, "secret") {
			t.Errorf("%s is answered by %d %s", path, got.status, got.body)
		}
	}
	for _, path := range []string{"/", "/jobs", "/jobs?before=z", "/keys", "/credits", "/account", "/api/jobs", "/api/account", "/api/account/keys", "/api/account/ledger", "/api/account/ledger.csv"} {
		got := bob.get(path)
		if got.status != http.StatusOK || strings.Contains(got.body, "secret") || strings.Contains(got.body, job) || strings.Contains(got.body, "ada@") {
			t.Errorf("%s is answered by %d %s", path, got.status, got.body)
		}
	}
	mine.get("/jobs").says(http.StatusOK, "secret.gif")
	mine.get("/keys").says(http.StatusOK, "secret bot")
	mine.get("/credits").says(http.StatusOK, job)
}

// Forms from other sites are refused.
func TestCrossSite(t *testing.T) {
	t.Parallel()
	s := start(t, nil)
	s.user("ada@example.com", 0)
	p := s.signedIn("ada@example.com")
	open, closed := dashboard.Routes()
	for _, pattern := range slices.Concat(open, closed) {
		method, path := fill(pattern, map[string]string{"id": "x", "token": "x"})
		if method != http.MethodPost {
			continue
		}
		for _, header := range [][]string{{"Sec-Fetch-Site", "cross-site"}, {"Origin", "https://evil.example"}} {
			p.do(method, path, "application/x-www-form-urlencoded", strings.NewReader("name=x"), header...).
				says(http.StatusForbidden, "sent from another site")
		}
	}
	p.get("/keys").says(http.StatusOK, "0 of 10")
}

var inline = regexp.MustCompile(`(?i)<script(?: type="module")?>|<style|\sstyle=|\son[a-z]+=|javascript:|https?://`)

// Pages declare what they may load, and load nothing else.
func TestPolicy(t *testing.T) {
	t.Parallel()
	s := start(t, nil)
	s.user("ada@example.com", 50)
	p := s.signedIn("ada@example.com")
	job := p.upload("/jobs", []string{"hop.gif", string(clip(t))}).header.Get("Location")
	p.ended(strings.TrimPrefix(job, "/jobs/"))
	for _, path := range []string{"/", "/jobs", job, job + "/view", "/keys", "/credits", "/account", "/nowhere", "/confirm/x", "/reset/x"} {
		got := p.get(path)
		for name, want := range map[string]string{
			"Content-Type": "text/html; charset=utf-8", "X-Content-Type-Options": "nosniff", "Referrer-Policy": "same-origin", "Cache-Control": "no-store",
		} {
			if got.header.Get(name) != want {
				t.Errorf("%s has %s %q", path, name, got.header.Get(name))
			}
		}
		policy := got.header.Get("Content-Security-Policy")
		for _, want := range []string{"default-src 'none'", "script-src 'self';", "style-src 'self';", "frame-ancestors 'none'", "base-uri 'none'", "form-action 'self'"} {
			if !strings.Contains(policy, want) {
				t.Errorf("%s has the policy %q, without %s", path, policy, want)
			}
		}
		if found := inline.FindString(got.body); found != "" || strings.Contains(policy, "unsafe") {
			t.Errorf("%s has %q", path, found)
		}
	}
	p.get(job).says(http.StatusOK, `href="/docs"`, `href="/openapi.json"`)
}

// A file name from a user is never anything but text.
func TestOddNames(t *testing.T) {
	t.Parallel()
	s := start(t, nil)
	s.user("ada@example.com", 50)
	p := s.signedIn("ada@example.com")
	const name = "\u05d0<img src=x onerror=alert(1)>\u202e'&.gif"
	const shown = "<bdi>\u05d0&lt;img src=x onerror=alert(1)&gt;&#39;&amp;.gif</bdi>" // an upload's name loses characters that reverse the text direction
	path := p.upload("/jobs", []string{name, string(clip(t))}).header.Get("Location")
	for _, at := range []string{"/", "/jobs", path, path + "/card", path + "/view", "/?again=" + strings.TrimPrefix(path, "/jobs/")} {
		p.ended(strings.TrimPrefix(path, "/jobs/"))
		got := p.get(at)
		if strings.Contains(got.body, "<img src=x") || strings.Contains(got.body, "\u202e") {
			t.Errorf("%s has markup of a name:\n%s", at, got.body)
		}
		got.says(http.StatusOK, shown)
	}
	p.post("/keys", "name", "<b>\u202ekey").says(http.StatusCreated, "<bdi>&lt;b&gt;\u202ekey</bdi>")
}

// The page of an empty result shows a warning.
func TestQualityIsShown(t *testing.T) {
	t.Parallel()
	s := start(t, nil)
	s.user("ada@example.com", 50)
	p := s.signedIn("ada@example.com")
	var empty bytes.Buffer
	if err := gif.Encode(&empty, image.NewPaletted(image.Rect(0, 0, 64, 48), color.Palette{color.White, color.Black}), nil); err != nil {
		t.Fatal(err)
	}
	path := p.upload("/jobs", []string{"empty.gif", empty.String()}, "method", "fast").header.Get("Location")
	p.ended(strings.TrimPrefix(path, "/jobs/"))
	p.get(path).says(http.StatusOK, ", 1 frame, ", "Check the result: nothing was kept: no subject was recognised.")
}

func TestNotFound(t *testing.T) {
	t.Parallel()
	s := start(t, nil)
	s.user("ada@example.com", 0)
	p := s.signedIn("ada@example.com")
	for _, path := range []string{"/nowhere", "/jobs/job_x", "/jobs/x/y/z", "/jobs?state=lost", "//", "/reset"} {
		p.get(path).says(http.StatusNotFound, "<h1>", "To the workbench", "Sign out")
	}
	p.get("/api/nowhere").says(http.StatusNotFound, `{"error":"not_found"}`)
	p.get("/nowhere", "Accept", "*/*").says(http.StatusNotFound, `{"error":"not_found"}`)
	p.do(http.MethodDelete, "/jobs", "", nil).says(http.StatusMethodNotAllowed, `{"error":"method_not_allowed"}`)
	if got := p.do(http.MethodHead, "/jobs", "", nil); got.status != http.StatusOK || got.body != "" {
		t.Errorf("HEAD is answered by %d %q", got.status, got.body)
	}
}

func TestText(t *testing.T) {
	t.Parallel()
	for n, want := range map[int64]string{0: "0", 999: "999", 1000: "1,000", -36000: "−36,000", 1234567: "1,234,567"} {
		if got := dashboard.CountText(n); got != want {
			t.Errorf("%d is %q", n, got)
		}
	}
	for n, want := range map[int64]string{0: "0 B", 999: "999 B", 1000: "1.0 kB", 999_400: "999 kB", 193_543: "194 kB", 1_500_000: "1.5 MB", 200e6: "200 MB", 2_340_000_000: "2.3 GB"} {
		if got := dashboard.BytesText(n); got != want {
			t.Errorf("%d is %q, want %q", n, got, want)
		}
	}
}

var assetLink = regexp.MustCompile(`(?:href|src)="(/assets/[0-9a-f]{16}/([^"]+))"`)

// Assets have names that change with their content, and browsers keep them.
func TestAssets(t *testing.T) {
	t.Parallel()
	p := start(t, nil).person()
	found := assetLink.FindAllStringSubmatch(p.get("/signin").body, -1)
	if len(found) < 3 {
		t.Fatalf("the page loads %v", found)
	}
	types := map[string]string{"style.css": "text/css; charset=utf-8", "app.js": "text/javascript; charset=utf-8", "mark.svg": "image/svg+xml"}
	for _, m := range found {
		for _, encoding := range []string{"gzip", "identity"} {
			got := p.get(m[1], "Accept-Encoding", encoding)
			if got.status != http.StatusOK || got.header.Get("Content-Type") != types[m[2]] || !strings.Contains(got.header.Get("Cache-Control"), "immutable") ||
				(got.header.Get("Content-Encoding") == "gzip") != (encoding == "gzip") || fmt.Sprint(len(got.body)) != got.header.Get("Content-Length") {
				t.Errorf("%s in %s is %d %v", m[1], encoding, got.status, got.header)
			}
		}
	}
	p.get("/assets/0000000000000000/style.css").says(http.StatusNotFound)
	p.get(found[0][1] + ".x").says(http.StatusNotFound)
}
