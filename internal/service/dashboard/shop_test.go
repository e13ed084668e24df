package dashboard_test

import (
	"bytes"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/stripe/stripe-go/v85"
	"github.com/stripe/stripe-go/v85/webhook"

	"github.com/bgremove/bgremove/internal/service/billing"
	"github.com/bgremove/bgremove/internal/service/mailer"
	"github.com/bgremove/bgremove/internal/service/mailer/mailertest"
	"github.com/bgremove/bgremove/internal/service/server"
)

// public makes a service listen at its public address.
func public(t testing.TB, c *server.Config) {
	t.Helper()
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	c.Addr = l.Addr().String()
	c.PublicURL = &url.URL{Scheme: "http", Host: c.Addr}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
}

// till stands in for Stripe: its payment page has one button, which pays and
// leads back.
type till struct {
	*httptest.Server
	testing.TB
	service string // address
	account string // id of the buyer
	back    string // where the checkout leads afterwards
}

const webhookSecret = "whsec_of_a_test"

func newTill(t testing.TB) *till {
	s := &till{TB: t}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /v1/customers", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, `{"id":"cus_ada"}`) })
	mux.HandleFunc("POST /v1/checkout/sessions", func(w http.ResponseWriter, r *http.Request) {
		s.back = r.FormValue("success_url")
		s.account = r.FormValue("client_reference_id")
		fmt.Fprintf(w, `{"id":"cs_1","url":%q}`, s.URL+"/checkout")
	})
	mux.HandleFunc("POST /v1/billing_portal/sessions", func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprintf(w, `{"id":"bps_1","url":%q}`, s.URL+"/portal")
	})
	mux.HandleFunc("GET /checkout", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprint(w, `<link rel="icon" href="data:,"><a id="pay" href="/paid">Pay $9.99</a>`)
	})
	mux.HandleFunc("GET /paid", func(w http.ResponseWriter, r *http.Request) {
		s.tell()
		http.Redirect(w, r, s.back, http.StatusSeeOther)
	})
	s.Server = httptest.NewServer(mux)
	t.Cleanup(s.Close)
	return s
}

// tell sends a signed event of a payment.
func (s *till) tell() {
	payload := fmt.Appendf(nil, `{"id":"evt_1","object":"event","type":"checkout.session.completed","api_version":%q,"data":{"object":{"id":"cs_1",
		"object":"checkout.session","mode":"payment","payment_status":"paid","payment_intent":"pi_1","amount_total":999,"client_reference_id":%q,
		"customer":"cus_ada","metadata":{"plan":"light"}}}}`, stripe.APIVersion, s.account)
	signed := webhook.GenerateTestSignedPayload(&webhook.UnsignedPayload{Payload: payload, Secret: webhookSecret, Timestamp: time.Now()})
	r, err := http.NewRequestWithContext(s.Context(), http.MethodPost, s.service+"/api/stripe/webhook", bytes.NewReader(payload))
	if err != nil {
		s.Error(err)
		return
	}
	r.Header.Set("Stripe-Signature", signed.Header)
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		s.Error(err)
		return
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusNoContent {
		s.Errorf("the event is answered by %d", response.StatusCode)
	}
}

// sells configures a service to sell through the till.
func (s *till) sells() billing.Config {
	return billing.Config{Key: "sk_test_of_a_test", WebhookSecret: webhookSecret, API: s.URL,
		Prices: []billing.Price{{Plan: "light", ID: "price_light"}, {Plan: "pro-monthly", ID: "price_monthly"}}}
}

// selling is a service with a till.
func selling(t *testing.T) (*service, *till) {
	t.Helper()
	pay := newTill(t)
	s := start(t, func(c *server.Config) {
		public(t, c)
		c.Shop = pay.sells()
	})
	pay.service = s.url
	s.user("ada@example.com", 0)
	return s, pay
}

// TestBuying goes to the till and returns with credits.
func TestBuying(t *testing.T) {
	t.Parallel()
	s, _ := selling(t)
	b := s.chromium(1280, 900)
	b.open("/credits")
	b.signIn("ada@example.com")
	b.until(`document.querySelectorAll('form[action="/credits/buy"]').length === 2 && !document.querySelector('[action="/credits/portal"]')`)
	b.run("buy", chromedp.Click(`button[value=light]`), chromedp.WaitVisible("#pay"))
	b.run("pay", chromedp.Click("#pay"), chromedp.WaitVisible("#ledger"))
	b.until(`document.querySelector("[role=status]").innerText.includes("Thank you for buying Credit pack Light")`)
	b.until(`document.querySelector("[data-balance]").innerText === "150" && document.querySelector("tbody").innerText.includes("+150")`)
	b.until(`document.querySelector('[action="/credits/portal"]')`)
}

// The way to the till works without scripts, and forms lead nowhere else.
func TestTill(t *testing.T) {
	t.Parallel()
	s, pay := selling(t)
	p := s.signedIn("ada@example.com")
	p.get("/credits").says(http.StatusOK, `value="light"`, `value="pro-monthly"`, "$799.99")
	p.post("/credits/portal").says(http.StatusNotFound)
	got := p.post("/credits/buy", "plan", "light").says(http.StatusOK, `content="0; url=`+pay.URL+`/checkout"`, `href="`+pay.URL+`/checkout"`)
	if policy := got.header.Get("Content-Security-Policy"); !strings.Contains(policy, "form-action 'self';") {
		t.Errorf("forms may lead elsewhere: %s", policy)
	}
	p.post("/credits/buy", "plan", "heavy").says(http.StatusBadRequest, "role=\"alert\"")
	p.post("/credits/portal").says(http.StatusOK, pay.URL+"/portal")
}

// mails configures a service to send mails through a server.
func mails(post *mailertest.Server) mailer.Config {
	return mailer.Config{Server: &url.URL{Scheme: "smtp", Host: mailertest.Host}, From: "noreply@clips.example", RootCAs: post.RootCAs, Dial: post.Dial}
}

// posting is a service that sends mails.
func posting(t *testing.T) (*service, *mailertest.Server) {
	t.Helper()
	post := mailertest.Start(t, mailertest.Config{})
	s := start(t, func(c *server.Config) {
		public(t, c)
		c.SignUp = true
		c.Mail = mails(post)
	})
	return s, post
}

func TestReset(t *testing.T) {
	t.Parallel()
	s, post := posting(t)
	s.user("ada@example.com", 0)
	there := s.signedIn("ada@example.com")
	p := s.person()
	p.get("/signin").says(http.StatusOK, `href="/reset"`)
	p.get("/reset").says(http.StatusOK, "Send the link")
	unknown := p.post("/reset", "email", "nobody@example.com").says(http.StatusOK, "If the address has an account")
	if known := p.post("/reset", "email", "ada@example.com"); text(known.body) != text(unknown.body) {
		t.Errorf("the page tells who has an account:\n%s\n%s", text(known.body), text(unknown.body))
	}
	path := strings.TrimPrefix(post.Next(t).Link(s.url+"/reset/"), s.url)
	p.get(path).says(http.StatusOK, "Set a new password")
	p.post(path, "password", "short").says(http.StatusBadRequest, "must have")
	p.post(path, "password", "battery staple").leads("/signin?after=reset")
	p.get("/signin?after=reset").says(http.StatusOK, "The new password is set.")
	p.post("/signin", "email", "ada@example.com", "password", "battery staple").leads("/")
	there.get("/account").leads("/signin?next=%2Faccount")
	p.post(path, "password", "once more, please").says(http.StatusNotFound, "This link does not work any more.")
	if token := strings.TrimPrefix(path, "/reset/"); strings.Contains(s.log.String(), token) {
		t.Error("the log has the token")
	}
}

func TestConfirm(t *testing.T) {
	t.Parallel()
	s, post := posting(t)
	p := s.person()
	p.post("/signup", "email", "eve@example.com", "password", password).leads("/")
	first := strings.TrimPrefix(post.Next(t).Link(s.url+"/confirm/"), s.url)
	p.get("/").says(http.StatusOK, "Confirm your address", "eve@example.com", "you cannot submit jobs, buy credits, or create keys and webhooks")
	p.upload("/jobs", []string{"hop.gif", string(clip(t))}).says(http.StatusForbidden, "Confirm your address first.")
	p.post("/account/mail").leads("/account?after=mail")
	p.get("/account?after=mail").says(http.StatusOK, "The mail is on its way.")
	if post.Next(t).Link(s.url+"/confirm/") == "" {
		t.Error("no second mail has come")
	}
	p.get(first).says(http.StatusOK, "One more click")
	p.get("/").says(http.StatusOK, "Send the mail again") // opening the link does not confirm the address
	p.post(first).leads("/?after=confirmed")
	if got := p.get("/?after=confirmed").says(http.StatusOK, "Your address is confirmed."); strings.Contains(got.body, "Send the mail again") {
		t.Error("a confirmed address is asked for")
	}
}
