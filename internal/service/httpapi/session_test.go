package httpapi_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/bgremove/bgremove/internal/service/account"
	"github.com/bgremove/bgremove/internal/service/httpapi"
	"github.com/bgremove/bgremove/internal/service/session"
	"github.com/bgremove/bgremove/pkg/api"
)

func credentials(email, password string) string {
	return fmt.Sprintf(`{"email":%q,"password":%q}`, email, password)
}

// signedIn is a browser of an account.
func (s *service) signedIn(email string) *client {
	s.Helper()
	c := s.client("")
	c.post("/api/session", credentials(email, password)).want(s, http.StatusNoContent, "")
	return c
}

func decode[T any](t testing.TB, a answer, status int) T {
	t.Helper()
	var v T
	if a.status != status {
		t.Fatalf("got %d %s, want %d", a.status, a.body, status)
	}
	if err := json.Unmarshal([]byte(a.body), &v); err != nil {
		t.Fatal(err)
	}
	return v
}

func TestSession(t *testing.T) {
	t.Parallel()
	s := start(t, nil)
	s.user("ada@example.com", 7)
	c := s.client("")
	c.get("/api/account").want(t, http.StatusUnauthorized, `{"error":"unauthorized"}`)

	in := c.post("/api/session", credentials("Ada@Example.com", password))
	in.want(t, http.StatusNoContent, "")
	cookie := in.header.Get("Set-Cookie")
	for _, part := range []string{"bgremove_session=", "Path=/", "HttpOnly", "SameSite=Lax"} {
		if !strings.Contains(cookie, part) {
			t.Errorf("the cookie %q lacks %s", cookie, part)
		}
	}
	if strings.Contains(cookie, "Secure") {
		t.Errorf("the cookie %q is Secure without https", cookie)
	}
	c.get("/api/account").want(t, http.StatusOK, `{"confirmed":true,"credits":7,"email":"ada@example.com","keys":[],"plan":null}`+"\n")

	c.do(http.MethodDelete, "/api/session", nil).want(t, http.StatusNoContent, "")
	c.get("/api/account").want(t, http.StatusUnauthorized, `{"error":"unauthorized"}`)
	c.do(http.MethodDelete, "/api/session", nil).want(t, http.StatusNoContent, "")
}

func TestSessionRefused(t *testing.T) {
	t.Parallel()
	s := start(t, nil)
	s.user("ada@example.com", 0)
	for name, test := range map[string]struct {
		body   string
		status int
		want   string
	}{
		"wrong password": {credentials("ada@example.com", "wrong"), http.StatusUnauthorized, `{"error":"unauthorized"}`},
		"unknown":        {credentials("bob@example.com", password), http.StatusUnauthorized, `{"error":"unauthorized"}`},
		"no password":    {`{"email":"ada@example.com"}`, http.StatusUnauthorized, `{"error":"unauthorized"}`},
		"no text":        {`{"email":"a\u0000@example.com","password":"x"}`, http.StatusUnauthorized, `{"error":"unauthorized"}`},
		"long address":   {credentials(strings.Repeat("x", 300), password), http.StatusUnauthorized, `{"error":"unauthorized"}`},
		"no JSON": {"email=ada", http.StatusBadRequest,
			`{"error":"bad_request","message":"the body is not a JSON object for this operation"}`},
		"empty": {"", http.StatusBadRequest, `{"error":"bad_request","message":"the body is not a JSON object for this operation"}`},
	} {
		t.Run(name, func(t *testing.T) {
			s.client("").post("/api/session", test.body).want(t, test.status, test.want)
		})
	}
}

// TestStrangersLockNobodyOut checks that an earlier browser of an account can
// sign in while others try the account's password.
func TestStrangersLockNobodyOut(t *testing.T) {
	t.Parallel()
	devices := session.NewDevices("secret", nil)
	s := start(t, func(c *httpapi.Config) {
		c.Throttle.Devices, c.Throttle.Rate = devices, account.Rate{PerMinute: 1, Burst: 3}
	})
	s.user("ada@example.com", 0)
	ada := s.signedIn("ada@example.com")
	limited := s.client("").post("/api/session", credentials("ada@example.com", "guess"))
	for limited.status == http.StatusUnauthorized {
		limited = s.client("").post("/api/session", credentials("ada@example.com", "guess"))
	}
	if limited.status != http.StatusTooManyRequests {
		t.Errorf("strangers get %d %s", limited.status, limited.body)
	}
	if got := s.client("").post("/api/session", credentials("ada@example.com", password)); got.status != http.StatusTooManyRequests {
		t.Errorf("with the right password, unknown: %d", got.status)
	}
	ada.do(http.MethodDelete, "/api/session", nil).want(t, http.StatusNoContent, "")
	ada.post("/api/session", credentials("ada@example.com", password)).want(t, http.StatusNoContent, "")
	ada.put("/api/account/password", `{"current":"correct horse","new":"another horse"}`).want(t, http.StatusNoContent, "")
}

// TestSessionEnds checks that a new password ends the old one's sessions.
func TestSessionEnds(t *testing.T) {
	t.Parallel()
	s := start(t, nil)
	who := s.user("ada@example.com", 0)
	c := s.signedIn("ada@example.com")
	if _, err := s.accounts.SetPassword(t.Context(), who.ID, "another password"); err != nil {
		t.Fatal(err)
	}
	c.get("/api/account").want(t, http.StatusUnauthorized, `{"error":"unauthorized"}`)
}

func TestCrossSite(t *testing.T) {
	t.Parallel()
	s := start(t, nil)
	s.user("ada@example.com", 0)
	for name, test := range map[string]struct {
		header []string
		status int
	}{
		"other site":   {[]string{"Sec-Fetch-Site", "cross-site"}, http.StatusForbidden},
		"other origin": {[]string{"Origin", "https://evil.example"}, http.StatusForbidden},
		"same origin":  {[]string{"Sec-Fetch-Site", "same-origin"}, http.StatusNoContent},
		"no browser":   {nil, http.StatusNoContent},
	} {
		t.Run(name, func(t *testing.T) {
			got := s.client("").post("/api/session", credentials("ada@example.com", password), test.header...)
			body := ""
			if test.status == http.StatusForbidden {
				body = `{"error":"forbidden"}`
			}
			got.want(t, test.status, body)
		})
	}
}

// TestCrossSiteEverywhere checks that every change by a session is protected.
func TestCrossSiteEverywhere(t *testing.T) {
	t.Parallel()
	s := start(t, nil)
	s.user("ada@example.com", 0)
	c := s.signedIn("ada@example.com")
	for _, o := range answering(t, "403") {
		if o.method == http.MethodGet || o.method == http.MethodHead || strings.HasPrefix(o.path, "/api/v1/") {
			continue
		}
		got := c.do(o.method, o.path, strings.NewReader("{}"), "Sec-Fetch-Site", "cross-site")
		if got.status != http.StatusForbidden || got.body != `{"error":"forbidden"}` {
			t.Errorf("%s %s: %d %s", o.method, o.path, got.status, got.body)
		}
	}
	c.get("/api/account", "Sec-Fetch-Site", "cross-site").want(t, http.StatusOK, `{"confirmed":true,"credits":0,"email":"ada@example.com","keys":[],"plan":null}`+"\n")
}

// TestHugeJSON checks that JSON, which is read into memory, is not bounded by the size of
// files.
func TestHugeJSON(t *testing.T) {
	t.Parallel()
	s := start(t, func(c *httpapi.Config) { c.SignUp = true })
	who := s.user("ada@example.com", 0)
	browser, key := s.signedIn("ada@example.com"), s.client(s.key(who))
	for path, c := range map[string]*client{"/api/session": browser, "/api/accounts": browser, "/api/account/keys": browser, "/api/v1/estimate": key} {
		c.post(path, `{"duration":1,"name":"`+strings.Repeat("x", 70_000)+`"}`).want(t, http.StatusRequestEntityTooLarge, `{"error":"payload_too_large"}`)
	}
}

// TestThrottle checks that guessing is stopped for the address and for the
// account, even with right passwords.
func TestThrottle(t *testing.T) {
	t.Parallel()
	for name, address := range map[string]func(i int) string{
		"one address":         func(int) string { return "203.0.113.5" },
		"one account":         func(i int) string { return fmt.Sprintf("203.0.113.%d", i) },
		"one network of IPv6": func(i int) string { return fmt.Sprintf("2001:db8::%x", i) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := start(t, func(c *httpapi.Config) {
				c.Throttle.Rate = account.Rate{PerMinute: 1, Burst: 3}
				c.Throttle.Proxies = loopback
			})
			s.user("ada@example.com", 0)
			c := s.client("")
			for i := range 3 {
				c.post("/api/session", credentials(strings.Repeat(" ", i)+"Ada@example.com", "wrong"), "X-Forwarded-For", address(i)).
					want(t, http.StatusUnauthorized, `{"error":"unauthorized"}`)
			}
			got := c.post("/api/session", credentials("ada@example.com", password), "X-Forwarded-For", address(4))
			got.want(t, http.StatusTooManyRequests, `{"error":"rate_limited"}`)
			if wait := got.header.Get("Retry-After"); wait == "" || wait == "0" {
				t.Errorf("Retry-After is %q", wait)
			}
		})
	}
}

func TestRegister(t *testing.T) {
	t.Parallel()
	s := start(t, func(c *httpapi.Config) { c.SignUp = true })
	c := s.client("")
	c.post("/api/accounts", credentials("ada@example.com", password)).
		want(t, http.StatusCreated, `{"confirmed":true,"credits":0,"email":"ada@example.com","keys":[],"plan":null}`+"\n")
	if got := decode[api.Account](t, c.get("/api/account"), http.StatusOK); got.Email != "ada@example.com" {
		t.Errorf("signed in as %q", got.Email)
	}
	c.post("/api/accounts", credentials("ada@example.com", password)).want(t, http.StatusConflict, `{"error":"email_taken"}`)
	short := decode[api.Error](t, c.post("/api/accounts", credentials("bob@example.com", "short")), http.StatusBadRequest)
	if short.Field == nil || *short.Field != "password" || short.Message == nil {
		t.Errorf("a short password gives %+v", short)
	}
	wrong := decode[api.Error](t, c.post("/api/accounts", credentials("bob", password)), http.StatusBadRequest)
	if wrong.Field == nil || *wrong.Field != "email" {
		t.Errorf("a wrong address gives %+v", wrong)
	}
}

func TestRegisterThrottle(t *testing.T) {
	t.Parallel()
	s := start(t, func(c *httpapi.Config) {
		c.SignUp = true
		c.Throttle.Rate = account.Rate{PerMinute: 1, Burst: 1}
	})
	c := s.client("")
	decode[api.Account](t, c.post("/api/accounts", credentials("ada@example.com", password)), http.StatusCreated)
	c.post("/api/accounts", credentials("bob@example.com", password)).want(t, http.StatusTooManyRequests, `{"error":"rate_limited"}`)
}

func TestRegisterClosed(t *testing.T) {
	t.Parallel()
	c := start(t, nil).client("")
	c.post("/api/accounts", credentials("ada@example.com", password)).want(t, http.StatusForbidden, `{"error":"forbidden"}`)
}

func TestKeys(t *testing.T) {
	t.Parallel()
	s := start(t, nil)
	s.user("ada@example.com", 0)
	c := s.signedIn("ada@example.com")
	c.get("/api/account/keys").want(t, http.StatusOK, `{"keys":[]}`+"\n")

	made := decode[api.KeyCreated](t, c.post("/api/account/keys", `{"name":"build server"}`), http.StatusCreated)
	if made.Name != "build server" || !strings.HasPrefix(made.Key, "bgr_") || !strings.HasPrefix(made.Key, made.Prefix) || made.LastUsedAt != nil {
		t.Errorf("made %+v", made)
	}
	byKey := s.client(made.Key)
	byKey.get("/api/v1/jobs/job_0").want(t, http.StatusNotFound, `{"error":"not_found"}`)
	listed := decode[api.KeyList](t, c.get("/api/account/keys"), http.StatusOK).Keys
	if len(listed) != 1 || listed[0].LastUsedAt == nil {
		t.Fatalf("listed %+v", listed)
	}
	listed[0].LastUsedAt = nil
	want := api.Key{ID: made.ID, Name: made.Name, Prefix: made.Prefix, CreatedAt: made.CreatedAt}
	if diff := cmp.Diff(want, listed[0]); diff != "" {
		t.Errorf("(-made +listed):\n%s", diff)
	}

	c.do(http.MethodDelete, "/api/account/keys/"+made.ID, nil).want(t, http.StatusNoContent, "")
	byKey.get("/api/v1/jobs/job_0").want(t, http.StatusUnauthorized, `{"error":"unauthorized"}`)
	c.do(http.MethodDelete, "/api/account/keys/"+made.ID, nil).want(t, http.StatusNotFound, `{"error":"not_found"}`)
}

// TestKeysForeign checks that nobody can revoke another account's key.
func TestKeysForeign(t *testing.T) {
	t.Parallel()
	s := start(t, nil)
	s.user("ada@example.com", 0)
	s.user("bob@example.com", 0)
	made := decode[api.KeyCreated](t, s.signedIn("ada@example.com").post("/api/account/keys", `{}`), http.StatusCreated)
	if made.Name != "API key" {
		t.Errorf("a key without a name is called %q", made.Name)
	}
	s.signedIn("bob@example.com").do(http.MethodDelete, "/api/account/keys/"+made.ID, nil).
		want(t, http.StatusNotFound, `{"error":"not_found"}`)
	s.client(made.Key).get("/api/v1/jobs/job_0").want(t, http.StatusNotFound, `{"error":"not_found"}`)
}

func TestKeysLimit(t *testing.T) {
	t.Parallel()
	s := start(t, nil)
	s.user("ada@example.com", 0)
	c := s.signedIn("ada@example.com")
	for range account.MaxKeys {
		decode[api.KeyCreated](t, c.post("/api/account/keys", `{}`), http.StatusCreated)
	}
	c.post("/api/account/keys", `{}`).want(t, http.StatusConflict, `{"error":"too_many_keys"}`)
	empty := decode[api.Error](t, c.post("/api/account/keys", `{"name":""}`), http.StatusBadRequest)
	if empty.Field == nil || *empty.Field != "name" {
		t.Errorf("an empty name gives %+v", empty)
	}
	c.post("/api/account/keys", `{}`, "Sec-Fetch-Site", "cross-site").want(t, http.StatusForbidden, `{"error":"forbidden"}`)
}

// TestChangePassword checks that the other sessions end and this one stays.
func TestChangePassword(t *testing.T) {
	t.Parallel()
	s := start(t, func(c *httpapi.Config) { c.Throttle.Rate = account.Rate{PerMinute: 1, Burst: 4} })
	s.user("ada@example.com", 0)
	here, there := s.signedIn("ada@example.com"), s.signedIn("ada@example.com")
	change := func(c *client, current, next string) answer {
		t.Helper()
		return c.do(http.MethodPut, "/api/account/password", strings.NewReader(fmt.Sprintf(`{"current":%q,"new":%q}`, current, next)), "Content-Type", "application/json")
	}
	change(here, "a guess", "another horse").
		want(t, http.StatusBadRequest, `{"error":"bad_request","field":"current","message":"current is not the account's password"}`)
	change(here, password, "short").
		want(t, http.StatusBadRequest, `{"error":"bad_request","field":"new","message":"new must have 8 to 1024 bytes"}`)
	change(here, password, strings.Repeat("x", 70_000)).want(t, http.StatusRequestEntityTooLarge, `{"error":"payload_too_large"}`)
	change(here, password, "another horse").want(t, http.StatusNoContent, "")
	if got := here.get("/api/account"); got.status != http.StatusOK {
		t.Errorf("this session: %d", got.status)
	}
	there.get("/api/account").want(t, http.StatusUnauthorized, `{"error":"unauthorized"}`)
	change(there, "another horse", password).want(t, http.StatusUnauthorized, `{"error":"unauthorized"}`)
	change(here, "another horse", password).want(t, http.StatusNoContent, "")
	if got := change(here, password, "another horse"); got.status != http.StatusTooManyRequests || got.header.Get("Retry-After") == "" {
		t.Errorf("guessing goes on: %d", got.status)
	}
}

func TestSignOutEverywhere(t *testing.T) {
	t.Parallel()
	s := start(t, nil)
	who := s.user("ada@example.com", 0)
	here, there, key := s.signedIn("ada@example.com"), s.signedIn("ada@example.com"), s.client(s.key(who))
	here.do(http.MethodDelete, "/api/sessions", nil).want(t, http.StatusNoContent, "")
	for _, c := range []*client{here, there} {
		c.get("/api/account").want(t, http.StatusUnauthorized, `{"error":"unauthorized"}`)
	}
	key.get(jobs+"/job_0").want(t, http.StatusNotFound, `{"error":"not_found"}`)
}
