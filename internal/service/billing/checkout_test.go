package billing_test

import (
	"errors"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/bgremove/bgremove/internal/service/account"
	"github.com/bgremove/bgremove/internal/service/billing"
)

func TestCheckout(t *testing.T) {
	each(t, func(t *testing.T, s *shop) {
		to, err := s.Checkout(t.Context(), s.ann, "light")
		if to != "https://checkout.example/cs_1" || err != nil {
			t.Fatalf("%q, %v", to, err)
		}
		want := url.Values{
			"mode": {"payment"}, "customer": {customer}, "client_reference_id": {s.ann.ID},
			"line_items[0][price]": {"price_light"}, "line_items[0][quantity]": {"1"},
			"metadata[account]": {s.ann.ID}, "metadata[plan]": {"light"},
			"payment_intent_data[metadata][account]": {s.ann.ID}, "payment_intent_data[metadata][plan]": {"light"},
			"success_url": {"https://clips.example/credits?bought=light"}, "cancel_url": {"https://clips.example/credits"},
		}
		got := s.stripe.asked("/v1/checkout/sessions")
		got.Del("idempotency")
		if diff := cmp.Diff(want, got); diff != "" {
			t.Error(diff)
		}
		made := s.stripe.asked("/v1/customers")
		if made.Get("email") != s.ann.Email || made.Get("metadata[account]") != s.ann.ID || !strings.Contains(made.Get("idempotency"), s.ann.ID) {
			t.Errorf("the customer is %v", made)
		}

		if _, err := s.Checkout(t.Context(), s.ann, "pro-monthly"); err != nil {
			t.Fatal(err)
		}
		got = s.stripe.asked("/v1/checkout/sessions")
		if got.Get("mode") != "subscription" || got.Get("line_items[0][price]") != "price_month" || got.Get("customer") != customer ||
			got.Get("subscription_data[metadata][plan]") != "pro-monthly" || got.Has("payment_intent_data[metadata][plan]") {
			t.Errorf("asked for %v", got)
		}
		if s.stripe.customers != 1 {
			t.Errorf("%d customers of one account", s.stripe.customers)
		}
	})
}

func TestCheckoutRefuses(t *testing.T) {
	each(t, func(t *testing.T, s *shop) {
		for _, plan := range []string{"", "gold", "heavy"} {
			var field *account.FieldError
			if _, err := s.Checkout(t.Context(), s.ann, plan); !errors.As(err, &field) || field.Field != "plan" {
				t.Errorf("%q: %v", plan, err)
			}
		}
		s.known().tell(event("evt_1", created, 1, subscription("past_due", "price_month")))
		if _, err := s.Checkout(t.Context(), s.ann, "plus-quarterly"); !errors.Is(err, billing.ErrSubscribed) {
			t.Errorf("a second subscription: %v", err)
		}
		if _, err := s.Checkout(t.Context(), s.ann, "light"); err != nil {
			t.Errorf("a pack beside a subscription: %v", err)
		}
		s.tell(event("evt_2", deleted, 2, subscription("canceled", "price_month")))
		if _, err := s.Checkout(t.Context(), s.ann, "plus-quarterly"); err != nil {
			t.Errorf("after the end of the first: %v", err)
		}
	})
}

// Stripe may not know the customer, for example with a key of another shop.
func TestCustomerGone(t *testing.T) {
	each(t, func(t *testing.T, s *shop) {
		s.known()
		s.stripe.set(func() { s.stripe.missing = []string{customer} })
		if _, err := s.Portal(t.Context(), s.ann); !errors.Is(err, billing.ErrNoCustomer) {
			t.Errorf("the portal of nobody: %v", err)
		}
		for range 2 {
			if _, err := s.Checkout(t.Context(), s.ann, "light"); err != nil {
				t.Fatal(err)
			}
		}
		if got := s.stripe.asked("/v1/checkout/sessions").Get("customer"); got != customer+"_again" || s.stripe.customers != 2 {
			t.Errorf("bought by %q, one of %d", got, s.stripe.customers)
		}
	})
}

func TestPortal(t *testing.T) {
	each(t, func(t *testing.T, s *shop) {
		has := func(want bool) {
			t.Helper()
			if got, err := s.HasCustomer(t.Context(), s.ann.ID); got != want || err != nil {
				t.Errorf("has a customer: %v, %v", got, err)
			}
		}
		has(false)
		if _, err := s.Portal(t.Context(), s.ann); !errors.Is(err, billing.ErrNoCustomer) {
			t.Errorf("before a purchase: %v", err)
		}
		s.known()
		has(true)
		to, err := s.Portal(t.Context(), s.ann)
		if to != "https://portal.example/bps_1" || err != nil {
			t.Fatalf("%q, %v", to, err)
		}
		got := s.stripe.asked("/v1/billing_portal/sessions")
		if got.Get("customer") != customer || got.Get("return_url") != "https://clips.example/credits" {
			t.Errorf("asked for %v", got)
		}
	})
}

func TestStripeAway(t *testing.T) {
	each(t, func(t *testing.T, s *shop) {
		for status, temporary := range map[int]bool{http.StatusServiceUnavailable: true, http.StatusTooManyRequests: true, http.StatusForbidden: false} {
			s.stripe.set(func() { s.stripe.broken = status })
			_, err := s.Checkout(t.Context(), s.ann, "light")
			var failed *billing.Error
			if !errors.As(err, &failed) || failed.Temporary() != temporary {
				t.Errorf("%d: %v", status, err)
			}
		}
		s.stripe.Close()
		_, err := s.Checkout(t.Context(), s.ann, "light")
		var failed *billing.Error
		if !errors.As(err, &failed) || !failed.Temporary() {
			t.Errorf("away: %v", err)
		}
	})
}

func TestPrices(t *testing.T) {
	t.Parallel()
	err := billing.CheckPrices([]billing.Price{{Plan: "gold", ID: "price_1"}, {Plan: "light", ID: ""}, {Plan: "micro", ID: "price_2"}, {Plan: "heavy", ID: "price_2"}})
	want := "\"gold\" is no plan\nlight has no price\nprice_2 is the price of two plans"
	if err == nil || err.Error() != want {
		t.Errorf("got %v", err)
	}
	if err := billing.CheckPrices(nil); err == nil {
		t.Error("nothing is sold")
	}
	if err := billing.CheckPrices(prices); err != nil {
		t.Error(err)
	}
}
