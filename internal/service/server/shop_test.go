package server_test

import (
	"bytes"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/stripe/stripe-go/v85"
	"github.com/stripe/stripe-go/v85/webhook"

	"github.com/bgremove/bgremove/internal/service/billing"
	"github.com/bgremove/bgremove/internal/service/mailer"
	"github.com/bgremove/bgremove/internal/service/mailer/mailertest"
	"github.com/bgremove/bgremove/internal/service/server"
)

// TestShop checks that a node sells, believes only Stripe about payments, and
// hides its secrets.
func TestShop(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, c server.Config) {
		shop := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			fmt.Fprint(w, `{"id":"cus_ada","url":"https://checkout.example/cs_1"}`)
		}))
		defer shop.Close()
		c.PublicURL = &url.URL{Scheme: "http", Host: "clips.example"}
		c.Shop = billing.Config{Key: "sk_test_hidden", WebhookSecret: "whsec_hidden", API: shop.URL, Prices: []billing.Price{{Plan: "light", ID: "price_light"}}}
		n := start(t, c)
		who := newCustomer(t, c.Database, 0)
		who.signIn(n)
		who.do(http.MethodPost, n.url+"/api/checkout", strings.NewReader(`{"plan":"light"}`), "Content-Type", "application/json").
			is(t, http.StatusOK, `{"url":"https://checkout.example/cs_1"}`)

		payload := fmt.Appendf(nil, `{"id":"evt_1","object":"event","type":"checkout.session.completed","api_version":%q,"data":{"object":{"id":"cs_1","object":"checkout.session",
			"mode":"payment","payment_status":"paid","payment_intent":"pi_1","amount_total":999,"client_reference_id":%q,"metadata":{"plan":"light"}}}}`, stripe.APIVersion, who.id)
		for secret, status := range map[string]int{"whsec_of_another": http.StatusBadRequest, "whsec_hidden": http.StatusNoContent} {
			signed := webhook.GenerateTestSignedPayload(&webhook.UnsignedPayload{Payload: payload, Secret: secret, Timestamp: time.Now()})
			if got := who.do(http.MethodPost, n.url+"/api/stripe/webhook", bytes.NewReader(payload), "Stripe-Signature", signed.Header); got.status != status {
				t.Errorf("signed by %s: %d %s", secret, got.status, got.body)
			}
		}
		if got := who.credits(); got != 150 {
			t.Errorf("%d credits", got)
		}
		n.stopped()
		if log := n.log.String(); strings.Contains(log, "hidden") {
			t.Errorf("the log tells secrets: %s", log)
		}
	})
}

// TestMail checks that a node sends requested mails, and the remaining ones
// when it stops.
func TestMail(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, c server.Config) {
		post := mailertest.Start(t, mailertest.Config{Password: "hidden"})
		c.SignUp, c.PublicURL = true, &url.URL{Scheme: "http", Host: "clips.example"}
		c.Mail = mailer.Config{
			Server: &url.URL{Scheme: "smtp", Host: mailertest.Host, User: url.UserPassword("ann", "hidden")},
			From:   "noreply@clips.example", RootCAs: post.RootCAs, Dial: post.Dial,
		}
		n := start(t, c)
		who := newCustomer(t, c.Database, 0)
		body := `{"email":"bob@example.com","password":"` + password + `"}`
		if got := who.do(http.MethodPost, n.url+"/api/accounts", strings.NewReader(body), "Content-Type", "application/json"); got.status != http.StatusCreated {
			t.Fatalf("%d %s", got.status, got.body)
		}
		if m := post.Next(t); len(m.To) != 1 || m.To[0] != "bob@example.com" || m.Link("http://clips.example/confirm/") == "" {
			t.Errorf("arrived: %+v", m)
		}
		who.do(http.MethodPost, n.url+"/api/password-resets", strings.NewReader(`{"email":"ada@example.com"}`), "Content-Type", "application/json").
			is(t, http.StatusAccepted, "")
		n.stopped()
		if m := post.Next(t); m.Link("http://clips.example/reset/") == "" {
			t.Errorf("arrived: %+v", m)
		}
		if log := n.log.String(); strings.Contains(log, "hidden") {
			t.Errorf("the log tells secrets: %s", log)
		}
	})
}
