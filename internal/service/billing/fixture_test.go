package billing_test

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/stripe/stripe-go/v85"

	"github.com/bgremove/bgremove/internal/service/account"
	"github.com/bgremove/bgremove/internal/service/billing"
	"github.com/bgremove/bgremove/internal/service/store"
	"github.com/bgremove/bgremove/internal/service/store/storetest"
	"github.com/bgremove/bgremove/internal/testlog"
)

const (
	secret   = "whsec_of_the_test"
	customer = "cus_ann"
)

var prices = []billing.Price{
	{Plan: "micro", ID: "price_micro"}, {Plan: "light", ID: "price_light"},
	{Plan: "pro-monthly", ID: "price_month"}, {Plan: "pro-monthly", ID: "price_month_old"}, {Plan: "plus-quarterly", ID: "price_quarter"},
}

// shop is a service that sells, with a Stripe of its own.
type shop struct {
	testing.TB
	*billing.Service
	db     *store.DB
	stripe *fakeStripe
	log    *testlog.Lines
	ann    account.Account
}

// each runs a test on every database.
func each(t *testing.T, f func(t *testing.T, s *shop)) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) { f(t, open(t, db)) })
}

func open(t testing.TB, db *store.DB) *shop {
	t.Helper()
	s := &shop{TB: t, db: db, stripe: newFakeStripe(t), log: &testlog.Lines{}}
	var err error
	if s.ann, err = account.New(db).Register(t.Context(), "ann@example.com", "correct horse"); err != nil {
		t.Fatal(err)
	}
	s.Service, err = billing.New(billing.Config{
		DB: db, Key: "sk_test_ann", WebhookSecret: secret, Prices: prices, API: s.stripe.URL,
		PublicURL: &url.URL{Scheme: "https", Host: "clips.example"}, Log: slog.New(slog.NewTextHandler(s.log, nil)),
	})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// known registers the customer as a purchase would.
func (s *shop) known() *shop {
	s.Helper()
	if _, err := s.Checkout(s.Context(), s.ann, "micro"); err != nil {
		s.Fatal(err)
	}
	return s
}

// sign is Stripe's scheme of signatures, version 1.
func sign(payload []byte, secret string, at time.Time) string {
	mac := hmac.New(sha256.New, []byte(secret))
	fmt.Fprintf(mac, "%d.%s", at.Unix(), payload)
	return fmt.Sprintf("t=%d,v1=%s", at.Unix(), hex.EncodeToString(mac.Sum(nil)))
}

// event is an event in Stripe's form.
func event(id, kind string, created int64, object map[string]any) []byte {
	b, err := json.Marshal(map[string]any{
		"id": id, "object": "event", "type": kind, "api_version": stripe.APIVersion, "created": created,
		"data": map[string]any{"object": object},
	})
	if err != nil {
		panic(err)
	}
	return b
}

// tell sends an event.
func (s *shop) tell(payload []byte) {
	s.Helper()
	if err := s.Webhook(s.Context(), payload, sign(payload, secret, time.Now())); err != nil {
		s.Errorf("%v", err)
	}
}

// refuses checks that an event is refused, so that Stripe sends it again.
func (s *shop) refuses(payload []byte, text string) {
	s.Helper()
	err := s.Webhook(s.Context(), payload, sign(payload, secret, time.Now()))
	if err == nil || !strings.Contains(err.Error(), text) {
		s.Errorf("got %v, want %s", err, text)
	}
}

// has checks the balance and the plan, and that the ledger adds up.
func (s *shop) has(credits int64, plan string) {
	s.Helper()
	who, err := account.New(s.db).Get(s.Context(), s.ann.ID)
	if err != nil || who.Credits != credits || who.Plan != plan {
		s.Errorf("%d credits of plan %q, want %d of %q: %v", who.Credits, who.Plan, credits, plan, err)
	}
	if wrong, err := account.NewLedger(s.db).Verify(context.Background()); len(wrong) > 0 || err != nil {
		s.Errorf("the ledger does not add up: %+v %v", wrong, err)
	}
}

// ledger checks the lines, newest first.
func (s *shop) ledger(want ...account.Entry) {
	s.Helper()
	got, err := account.NewLedger(s.db).Entries(s.Context(), s.ann.ID, "", 100)
	if diff := cmp.Diff(want, got, cmpopts.IgnoreFields(account.Entry{}, "ID", "AccountID", "CreatedAt")); diff != "" || err != nil {
		s.Errorf("%v %s", err, diff)
	}
}

// spend charges for a job.
func (s *shop) spend(credits int64) {
	s.Helper()
	err := s.db.Tx(s.Context(), func(tx *store.Tx) error {
		_, err := account.NewLedger(s.db).Charge(s.Context(), tx, s.ann.ID, []account.Item{{JobID: fmt.Sprint("job_", credits), Credits: credits}})
		return err
	})
	if err != nil {
		s.Fatal(err)
	}
}

// session is a checkout of a pack.
func session(accountID, plan, status string) map[string]any {
	return map[string]any{
		"id": "cs_1", "object": "checkout.session", "mode": "payment", "payment_status": status, "client_reference_id": accountID,
		"payment_intent": "pi_1", "customer": customer, "amount_total": 999, "currency": "usd", "metadata": map[string]any{"account": accountID, "plan": plan},
	}
}

// line is a line of an invoice.
func line(price string, amount int64, proration bool) map[string]any {
	return map[string]any{
		"object": "line_item", "amount": amount, "quantity": 1,
		"parent":  map[string]any{"type": "subscription_item_details", "subscription_item_details": map[string]any{"proration": proration, "subscription": "sub_1"}},
		"pricing": map[string]any{"type": "price_details", "price_details": map[string]any{"price": price, "product": "prod_1"}, "unit_amount_decimal": "7999"},
	}
}

func invoice(id, customer string, paid int64, lines ...map[string]any) map[string]any {
	return map[string]any{
		"id": id, "object": "invoice", "customer": customer, "status": "paid", "amount_paid": paid, "currency": "usd",
		"parent": map[string]any{"type": "subscription_details", "subscription_details": map[string]any{"subscription": "sub_1"}},
		"lines":  map[string]any{"object": "list", "data": lines},
	}
}

func charge(id, intent, customer string, amount, refunded int64) map[string]any {
	return map[string]any{
		"id": id, "object": "charge", "payment_intent": intent, "customer": customer, "amount": amount, "amount_refunded": refunded, "currency": "usd",
	}
}

func dispute(id, intent string, amount int64) map[string]any {
	return map[string]any{"id": id, "object": "dispute", "charge": "ch_1", "payment_intent": intent, "amount": amount, "currency": "usd"}
}

func subscription(status, price string) map[string]any {
	return map[string]any{
		"id": "sub_1", "object": "subscription", "customer": customer, "status": status,
		"items": map[string]any{"object": "list", "data": []any{map[string]any{"id": "si_1", "object": "subscription_item", "price": map[string]any{"id": price, "object": "price"}}}},
	}
}

// fakeStripe answers billing's requests to Stripe's API, and keeps the forms.
type fakeStripe struct {
	*httptest.Server
	mu        sync.Mutex
	forms     map[string][]url.Values // by path
	customers int
	missing   []string          // deleted customers
	invoices  map[string]string // by payment intent
	broken    int               // a status for every answer
}

func newFakeStripe(t testing.TB) *fakeStripe {
	f := &fakeStripe{forms: map[string][]url.Values{}, invoices: map[string]string{"pi_period": "in_1"}}
	f.Server = httptest.NewServer(f)
	t.Cleanup(f.Close)
	return f
}

func (f *fakeStripe) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if err := r.ParseForm(); err != nil || r.Header.Get("Authorization") != "Bearer sk_test_ann" {
		http.Error(w, `{"error":{"type":"invalid_request_error","message":"no key"}}`, http.StatusUnauthorized)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	form := r.Form
	form.Set("idempotency", r.Header.Get("Idempotency-Key"))
	f.forms[r.URL.Path] = append(f.forms[r.URL.Path], form)
	if f.broken != 0 {
		w.WriteHeader(f.broken)
		fmt.Fprint(w, `{"error":{"type":"api_error","message":"broken"}}`)
		return
	}
	if slices.Contains(f.missing, form.Get("customer")) {
		w.WriteHeader(http.StatusBadRequest)
		fmt.Fprintf(w, `{"error":{"type":"invalid_request_error","code":"resource_missing","param":"customer","message":"No such customer"}}`)
		return
	}
	f.answer(w, r)
}

func (f *fakeStripe) answer(w http.ResponseWriter, r *http.Request) {
	switch r.URL.Path {
	case "/v1/customers":
		name := customer
		if f.customers++; len(f.missing) > 0 {
			name += "_again"
		}
		fmt.Fprintf(w, `{"id":%q,"object":"customer"}`, name)
	case "/v1/checkout/sessions":
		fmt.Fprint(w, `{"id":"cs_1","object":"checkout.session","url":"https://checkout.example/cs_1"}`)
	case "/v1/billing_portal/sessions":
		fmt.Fprint(w, `{"id":"bps_1","object":"billing_portal.session","url":"https://portal.example/bps_1"}`)
	case "/v1/charges/ch_1":
		fmt.Fprintf(w, `{"id":"ch_1","object":"charge","customer":%q}`, customer)
	case "/v1/invoice_payments":
		data := "[]"
		if in := f.invoices[r.Form.Get("payment[payment_intent]")]; in != "" {
			data = fmt.Sprintf(`[{"id":"inpay_1","object":"invoice_payment","invoice":%q}]`, in)
		}
		fmt.Fprintf(w, `{"object":"list","has_more":false,"url":"/v1/invoice_payments","data":%s}`, data)
	default:
		http.Error(w, `{"error":{"type":"invalid_request_error","message":"no such path"}}`, http.StatusNotFound)
	}
}

// asked is the last form that was sent to a path.
func (f *fakeStripe) asked(path string) url.Values {
	f.mu.Lock()
	defer f.mu.Unlock()
	if all := f.forms[path]; len(all) > 0 {
		return all[len(all)-1]
	}
	return nil
}

func (f *fakeStripe) set(change func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	change()
}
