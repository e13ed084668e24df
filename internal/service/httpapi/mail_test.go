package httpapi_test

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"

	"github.com/bgremove/bgremove/internal/service/account"
	"github.com/bgremove/bgremove/internal/service/httpapi"
	"github.com/bgremove/bgremove/internal/service/mailer"
	"github.com/bgremove/bgremove/internal/service/mailer/mailertest"
	"github.com/bgremove/bgremove/pkg/api"
)

const (
	noMail = `{"error":"not_offered","message":"this service sends no mail; its operator can set a new password"}`
	site   = "https://clips.example"
)

// mailing is a service that sends mails to a server of the test.
func mailing(t *testing.T, change func(*httpapi.Config)) (*service, *mailertest.Server) {
	t.Helper()
	post := mailertest.Start(t, mailertest.Config{})
	m, err := mailer.New(mailer.Config{
		Server: &url.URL{Scheme: "smtp", Host: mailertest.Host}, From: "noreply@clips.example", RootCAs: post.RootCAs, Dial: post.Dial,
	})
	if err != nil {
		t.Fatal(err)
	}
	s := start(t, func(c *httpapi.Config) {
		c.SignUp = true
		public, err := url.Parse(site)
		if err != nil {
			t.Fatal(err)
		}
		c.Mail = &httpapi.Mail{Mailer: m, Outbox: mailer.NewOutbox(m, c.Log), PublicURL: public}
		if change != nil {
			change(c)
		}
		ctx, stop := context.WithCancel(context.Background())
		var running sync.WaitGroup
		running.Go(func() { c.Mail.Outbox.Run(ctx) })
		t.Cleanup(func() { stop(); running.Wait() })
	})
	return s, post
}

// token is the end of the link in the next mail.
func token(t *testing.T, post *mailertest.Server, prefix string) string {
	t.Helper()
	m := post.Next(t)
	link := m.Link(site + prefix)
	if link == "" {
		t.Fatalf("no link to %s in %s", prefix, m.Text)
	}
	return strings.TrimPrefix(link, site+prefix)
}

func TestPasswordReset(t *testing.T) {
	t.Parallel()
	s, post := mailing(t, nil)
	s.user("ada@example.com", 0)
	before := s.signedIn("ada@example.com")
	c := s.client("")
	for _, email := range []string{"bob@example.com", "Ada@example.com"} {
		c.post("/api/password-resets", `{"email":"`+email+`"}`).want(t, http.StatusAccepted, "")
	}
	secret := token(t, post, "/reset/")
	post.None(t)
	path := "/api/password-resets/" + secret
	short := decode[api.Error](t, c.put(path, `{"password":"short"}`), http.StatusBadRequest)
	if short.Field == nil || *short.Field != "password" {
		t.Errorf("a short one: %+v", short)
	}
	c.put(path, `{"password":"another horse"}`).want(t, http.StatusNoContent, "")
	c.put(path, `{"password":"third horse"}`).want(t, http.StatusNotFound, `{"error":"not_found"}`)
	before.get("/api/account").want(t, http.StatusUnauthorized, `{"error":"unauthorized"}`)
	c.get("/api/account").want(t, http.StatusUnauthorized, `{"error":"unauthorized"}`)
	c.post("/api/session", credentials("ada@example.com", password)).want(t, http.StatusUnauthorized, `{"error":"unauthorized"}`)
	c.post("/api/session", credentials("ada@example.com", "another horse")).want(t, http.StatusNoContent, "")
	if log := s.log.String(); strings.Contains(log, secret) || !strings.Contains(log, "/api/password-resets/…") {
		t.Errorf("the log tells the token: %s", log)
	}
	c.post("/api/password-resets", `{"email":"a\u0000@example.com"}`).
		want(t, http.StatusBadRequest, `{"error":"bad_request","field":"email","message":"email must be an address such as name@example.com"}`)
	for path, do := range map[string]func(string, string, ...string) answer{"/api/password-resets": c.post, path: c.put} {
		do(path, `{"email":"`+strings.Repeat("x", 70_000)+`"}`).want(t, http.StatusRequestEntityTooLarge, `{"error":"payload_too_large"}`)
	}
}

// TestPasswordResetBounded checks that strangers can cause only few mails to
// somebody, and learn nothing from more requests.
func TestPasswordResetBounded(t *testing.T) {
	t.Parallel()
	s, post := mailing(t, nil)
	s.user("ada@example.com", 0)
	for range 8 {
		s.client("").post("/api/password-resets", `{"email":"ada@example.com"}`).want(t, http.StatusAccepted, "")
	}
	for range 5 {
		token(t, post, "/reset/")
	}
	s.client("").post("/api/password-resets", `{"email":"nobody@example.com"}`).want(t, http.StatusAccepted, "")
	post.None(t)
}

func TestMailThrottle(t *testing.T) {
	t.Parallel()
	s, _ := mailing(t, func(c *httpapi.Config) { c.Throttle.Rate = account.Rate{PerMinute: 1, Burst: 1} })
	c := s.client("")
	c.post("/api/accounts", credentials("ada@example.com", password))
	const limited = `{"error":"rate_limited"}`
	c.post("/api/password-resets", `{"email":"bob@example.com"}`).want(t, http.StatusTooManyRequests, limited)
	c.put("/api/password-resets/abc", `{"password":"another horse"}`).want(t, http.StatusTooManyRequests, limited)
	c.post("/api/confirmations", "").want(t, http.StatusAccepted, "") // a signed-in account is counted separately
	c.post("/api/confirmations", "").want(t, http.StatusTooManyRequests, limited)
	c.put("/api/confirmations/abc", "").want(t, http.StatusTooManyRequests, limited)
}

// TestConfirmation checks that a new account can do nothing that costs before
// its address is confirmed.
func TestConfirmation(t *testing.T) {
	t.Parallel()
	s, post := mailing(t, nil)
	c := s.client("")
	made := decode[api.Account](t, c.post("/api/accounts", credentials("ada@example.com", password)), http.StatusCreated)
	if made.Confirmed {
		t.Error("confirmed without a mail")
	}
	first := token(t, post, "/confirm/")
	c.post("/api/confirmations", "").want(t, http.StatusAccepted, "")
	second := token(t, post, "/confirm/")

	const unconfirmed = `{"error":"unconfirmed","message":"confirm your address first: open the link in the mail that we sent you"}`
	c.post("/api/account/keys", `{}`).want(t, http.StatusForbidden, unconfirmed)
	c.submit(accountJobs, []field{fileField("a.gif", clip(t, 2, 10))}).want(t, http.StatusForbidden, unconfirmed)
	c.submit(accountJobs+"/job_0/again", nil).want(t, http.StatusForbidden, unconfirmed)

	c.put("/api/confirmations/abc", "").want(t, http.StatusNotFound, `{"error":"not_found"}`)
	for _, secret := range []string{second, first, first} { // by anybody, twice
		s.client("").put("/api/confirmations/"+secret, "").want(t, http.StatusNoContent, "")
	}
	if now := decode[api.Account](t, c.get("/api/account"), http.StatusOK); !now.Confirmed {
		t.Error("it is not confirmed")
	}
	decode[api.KeyCreated](t, c.post("/api/account/keys", `{}`), http.StatusCreated)
	c.post("/api/confirmations", "").want(t, http.StatusAccepted, "")
	post.None(t)
}

// TestMailServerAway checks that sign-up and resets work without the mail
// server, and that the failure is reported where possible.
func TestMailServerAway(t *testing.T) {
	t.Parallel()
	s, post := mailing(t, nil)
	post.Stop()
	c := s.client("")
	decode[api.Account](t, c.post("/api/accounts", credentials("ada@example.com", password)), http.StatusCreated)
	c.post("/api/password-resets", `{"email":"ada@example.com"}`).want(t, http.StatusAccepted, "")
	for range 7 { // more than the limit of mails: none was sent
		c.post("/api/confirmations", "").want(t, http.StatusServiceUnavailable, `{"error":"unavailable"}`)
	}
	if log := s.log.String(); !strings.Contains(log, "send a mail") {
		t.Errorf("the log says %s", log)
	}
}

// TestOutboxFull checks that excess mails are refused and not kept.
func TestOutboxFull(t *testing.T) {
	t.Parallel()
	release := make(chan struct{})
	defer close(release)
	s, _ := mailing(t, func(c *httpapi.Config) {
		stuck := func(context.Context) (mailer.Message, error) {
			<-release
			return mailer.Message{}, errors.New("of a test")
		}
		c.Mail.Outbox = mailer.NewOutbox(c.Mail.Mailer, c.Log)
		for c.Mail.Outbox.Add(stuck) {
		}
	})
	refused := 0
	for range 3 { // the senders have taken at most two
		if got := s.client("").post("/api/password-resets", `{"email":"ada@example.com"}`); got.status == http.StatusServiceUnavailable {
			refused++
		}
	}
	if refused == 0 {
		t.Error("more mails are taken than there is room for")
	}
}

func TestNoMail(t *testing.T) {
	t.Parallel()
	s := start(t, func(c *httpapi.Config) { c.SignUp = true })
	c := s.client("")
	if made := decode[api.Account](t, c.post("/api/accounts", credentials("ada@example.com", password)), http.StatusCreated); !made.Confirmed {
		t.Error("who can get no mail is not believed")
	}
	c.post("/api/password-resets", `{"email":"ada@example.com"}`).want(t, http.StatusNotFound, noMail)
	c.put("/api/password-resets/abc", `{"password":"another horse"}`).want(t, http.StatusNotFound, noMail)
	c.post("/api/confirmations", "").want(t, http.StatusNotFound, noMail)
	c.put("/api/confirmations/abc", "").want(t, http.StatusNotFound, noMail)
}
