package httpapi_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/google/go-cmp/cmp"
	"github.com/stripe/stripe-go/v85"
	"github.com/stripe/stripe-go/v85/webhook"

	"github.com/bgremove/bgremove/internal/service/billing"
	"github.com/bgremove/bgremove/internal/service/httpapi"
	"github.com/bgremove/bgremove/internal/service/job"
	"github.com/bgremove/bgremove/internal/service/store/storetest"
	"github.com/bgremove/bgremove/pkg/api"
)

const nothingSold = `{"error":"not_offered","message":"nothing is sold here; ask the operator of this service for credits"}`

const subscribed = `{"error":"subscribed","message":"the account has a subscription; change or cancel it first"}`

// TestMessagesOfTheSpecification checks that the examples of the specification have the
// service's own words.
func TestMessagesOfTheSpecification(t *testing.T) {
	t.Parallel()
	doc, err := openapi3.NewLoader().LoadFromData(api.Specification)
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{"NotOffered": nothingSold, "Subscribed": subscribed} {
		example := doc.Components.Responses[name].Value.Content["application/json"].Example
		if got, err := json.Marshal(example); err != nil || string(got) != want {
			t.Errorf("%s: %s, want %s, %v", name, got, want, err)
		}
	}
}

// selling is a service that sells packs, with a Stripe that answers with a
// status.
func selling(t *testing.T, status int) *service {
	t.Helper()
	shop := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		if status != http.StatusOK {
			w.WriteHeader(status)
			fmt.Fprint(w, `{"error":{"type":"api_error","message":"of a test"}}`)
			return
		}
		fmt.Fprintf(w, `{"id":"cus_ada","url":"https://stripe.example%s"}`, r.URL.Path)
	}))
	t.Cleanup(shop.Close)
	db := storetest.Open(t, storetest.SQLite(t))
	return startOn(t, db, job.Config{}, func(c *httpapi.Config) {
		var err error
		c.Shop, err = billing.New(billing.Config{
			DB: db, Key: "sk_test_ada", WebhookSecret: "whsec_ada", API: shop.URL, Log: c.Log,
			Prices:    []billing.Price{{Plan: "light", ID: "price_light"}, {Plan: "pro-monthly", ID: "price_month"}},
			PublicURL: &url.URL{Scheme: "https", Host: "clips.example"},
		})
		if err != nil {
			t.Fatal(err)
		}
	})
}

func TestBuying(t *testing.T) {
	t.Parallel()
	s := selling(t, http.StatusOK)
	who := s.user("ada@example.com", 0)
	c := s.signedIn("ada@example.com")
	for _, p := range decode[api.PlanList](t, c.get("/api/plans"), http.StatusOK).Plans {
		if p.Purchasable != (p.Name == "light" || p.Name == "pro-monthly") {
			t.Errorf("%s can be bought: %v", p.Name, p.Purchasable)
		}
	}
	c.post("/api/portal", "").want(t, http.StatusNotFound, `{"error":"not_found"}`)
	c.post("/api/checkout", `{"plan":"light"}`).want(t, http.StatusOK, `{"url":"https://stripe.example/v1/checkout/sessions"}`+"\n")
	c.post("/api/portal", "").want(t, http.StatusOK, `{"url":"https://stripe.example/v1/billing_portal/sessions"}`+"\n")
	c.post("/api/checkout", `{"plan":"heavy"}`).want(t, http.StatusBadRequest, `{"error":"bad_request","field":"plan","message":"plan is not sold here"}`)
	c.post("/api/checkout", `{"plan":"`+strings.Repeat("x", 70_000)+`"}`).want(t, http.StatusRequestEntityTooLarge, `{"error":"payload_too_large"}`)

	buys := stripeEvent(t, "checkout.session.completed", map[string]any{
		"id": "cs_1", "object": "checkout.session", "mode": "payment", "payment_status": "paid", "payment_intent": "pi_1", "amount_total": 999,
		"client_reference_id": who.ID, "metadata": map[string]string{"plan": "light"},
	})
	for range 2 {
		s.tell(buys, "whsec_ada").want(t, http.StatusNoContent, "")
	}
	if got := s.balance(who); got != 150 {
		t.Errorf("%d credits", got)
	}
	entries := decode[api.LedgerPage](t, c.get("/api/account/ledger"), http.StatusOK).Entries
	if len(entries) != 1 || entries[0].Note != "plan light (pi_1)" {
		t.Errorf("the ledger has %+v", entries)
	}
	s.tell(stripeEvent(t, "charge.refunded", map[string]any{
		"id": "ch_1", "object": "charge", "payment_intent": "pi_1", "customer": "cus_ada", "amount": 999, "amount_refunded": 999,
	}), "whsec_ada").want(t, http.StatusNoContent, "")
	if entries := decode[api.LedgerPage](t, c.get("/api/account/ledger"), http.StatusOK).Entries; entries[0].Kind != "reversal" || entries[0].Amount != -150 {
		t.Errorf("the ledger has %+v", entries)
	}

	s.tell(stripeEvent(t, "customer.subscription.created", map[string]any{"id": "sub_1", "object": "subscription", "customer": "cus_ada", "status": "active"}), "whsec_ada")
	c.post("/api/checkout", `{"plan":"pro-monthly"}`).
		want(t, http.StatusConflict, subscribed)
}

// stripeEvent is an event in Stripe's form.
func stripeEvent(t *testing.T, kind string, object any) []byte {
	t.Helper()
	b, err := json.Marshal(map[string]any{
		"id": "evt_" + kind, "object": "event", "type": kind, "api_version": stripe.APIVersion, "data": map[string]any{"object": object},
	})
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// tell sends a signed event.
func (s *service) tell(payload []byte, secret string) answer {
	s.Helper()
	signed := webhook.GenerateTestSignedPayload(&webhook.UnsignedPayload{Payload: payload, Secret: secret, Timestamp: time.Now()})
	return s.client("").do(http.MethodPost, "/api/stripe/webhook", bytes.NewReader(payload), "Content-Type", "application/json; charset=utf-8", "Stripe-Signature", signed.Header)
}

func TestStripeEventRefused(t *testing.T) {
	t.Parallel()
	s := selling(t, http.StatusOK)
	s.user("ada@example.com", 0)
	payload := stripeEvent(t, "invoice.paid", nil)
	const refused = `{"error":"bad_request","message":"Stripe-Signature is not that of the body, or too old"}`
	s.tell(payload, "whsec_bob").want(t, http.StatusBadRequest, refused)
	s.client("").post("/api/stripe/webhook", string(payload)).want(t, http.StatusBadRequest, refused)
	s.tell(make([]byte, 1<<20+1), "whsec_ada").want(t, http.StatusRequestEntityTooLarge, `{"error":"payload_too_large"}`)
	unknown := bytes.Replace(payload, []byte(stripe.APIVersion), []byte("2020-01-01"), 1)
	if got := s.tell(unknown, "whsec_ada"); got.status != http.StatusInternalServerError || strings.Contains(got.body, "2020") {
		t.Errorf("another version: %d %s", got.status, got.body)
	}
	if log := s.log.String(); !strings.Contains(log, "2020-01-01") || strings.Contains(log, "whsec_") || strings.Contains(log, "sk_test_ada") {
		t.Errorf("the log says %s", log)
	}
	if cookie := s.tell(payload, "whsec_ada").header.Get("Set-Cookie"); cookie != "" {
		t.Errorf("Stripe gets the cookie %s", cookie)
	}
}

func TestBuyingAway(t *testing.T) {
	t.Parallel()
	for stripeSays, want := range map[int]int{http.StatusBadGateway: http.StatusServiceUnavailable, http.StatusForbidden: http.StatusInternalServerError} {
		s := selling(t, stripeSays)
		s.user("ada@example.com", 0)
		if got := s.signedIn("ada@example.com").post("/api/checkout", `{"plan":"light"}`); got.status != want || strings.Contains(got.body, "of a test") {
			t.Errorf("Stripe says %d: %d %s", stripeSays, got.status, got.body)
		}
	}
}

func TestNothingSold(t *testing.T) {
	t.Parallel()
	s := start(t, nil)
	s.user("ada@example.com", 0)
	c := s.signedIn("ada@example.com")
	c.post("/api/checkout", `{"plan":"light"}`).want(t, http.StatusNotFound, nothingSold)
	c.post("/api/portal", "").want(t, http.StatusNotFound, nothingSold)
	s.tell(stripeEvent(t, "invoice.paid", nil), "whsec_ada").want(t, http.StatusNotFound, nothingSold)
	for _, p := range decode[api.PlanList](t, c.get("/api/plans"), http.StatusOK).Plans {
		if p.Purchasable {
			t.Errorf("%s can be bought", p.Name)
		}
	}
	for _, path := range []string{"/api/checkout", "/api/portal", "/api/confirmations"} {
		s.client("").post(path, `{"plan":"light"}`).want(t, http.StatusUnauthorized, `{"error":"unauthorized"}`)
	}
}

func TestPlanList(t *testing.T) {
	t.Parallel()
	s := start(t, nil)
	s.user("ada@example.com", 0)
	got := decode[api.PlanList](t, s.signedIn("ada@example.com").get("/api/plans"), http.StatusOK).Plans
	if len(got) != 6 {
		t.Fatalf("%d plans", len(got))
	}
	if diff := cmp.Diff(api.Plan{Name: "plus-quarterly", Title: "Plus Quarterly", Credits: 2700, Cents: 7999, Period: "quarter"}, got[3]); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
