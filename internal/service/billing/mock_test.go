package billing_test

import (
	"bufio"
	"context"
	"net/url"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/bgremove/bgremove/internal/service/account"
	"github.com/bgremove/bgremove/internal/service/billing"
	"github.com/bgremove/bgremove/internal/service/store/storetest"
)

// TestStripeMock uses Stripe's own mock, which checks every request against
// Stripe's specification.
func TestStripeMock(t *testing.T) {
	t.Parallel()
	db := storetest.Open(t, storetest.SQLite(t))
	ann, err := account.New(db).Register(t.Context(), "ann@example.com", "correct horse")
	if err != nil {
		t.Fatal(err)
	}
	s, err := billing.New(billing.Config{
		DB: db, Key: "sk_test_123", WebhookSecret: secret, Prices: prices, API: stripeMock(t), PublicURL: &url.URL{Scheme: "https", Host: "clips.example"},
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, plan := range []string{"light", "pro-monthly"} {
		if _, err := s.Checkout(t.Context(), ann, plan); err != nil {
			t.Errorf("%s: %v", plan, err)
		}
	}
	if to, err := s.Portal(t.Context(), ann); !strings.HasPrefix(to, "https://") || err != nil {
		t.Errorf("the portal is %q, %v", to, err)
	}
	// A dispute of an unknown payment requests its charge. The mock's customer
	// of the charge is unknown here.
	payload := event("evt_1", withdrawn, 1, dispute("du_1", "pi_1", 999))
	if err := s.Webhook(t.Context(), payload, sign(payload, secret, time.Now())); err != nil {
		t.Error(err)
	}
	var customer string
	if err := db.QueryRow("SELECT id FROM stripe_customers").Scan(&customer); err != nil {
		t.Fatal(err)
	}
	// A refund of an unknown payment requests the invoice that it paid.
	payload = event("evt_2", refunded, 1, charge("ch_1", "pi_1", customer, 999, 999))
	if err := s.Webhook(t.Context(), payload, sign(payload, secret, time.Now())); err != nil {
		t.Error(err)
	}
}

// stripeMock runs the mock until the test ends and returns its address.
func stripeMock(t *testing.T) string {
	t.Helper()
	program := os.Getenv("BGREMOVE_TEST_STRIPE_MOCK")
	if program == "" {
		t.Skip("BGREMOVE_TEST_STRIPE_MOCK does not name stripe-mock; make test brings it")
	}
	ctx, cancel := context.WithCancel(t.Context())
	cmd := exec.CommandContext(ctx, program, "-http-addr", "127.0.0.1:0", "-https-addr", "127.0.0.1:0")
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cancel(); _ = cmd.Wait() })
	for lines := bufio.NewScanner(out); lines.Scan(); {
		if _, at, ok := strings.Cut(lines.Text(), "Listening for HTTP at address: "); ok {
			return "http://" + at
		}
	}
	t.Fatal("stripe-mock does not listen")
	return ""
}
