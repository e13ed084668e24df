// Package billing sells plans through Stripe. It sends browsers to Checkout and
// to the customer portal, and turns Stripe's payment events into credits.
//
// Stripe delivers events at least once and in any order. An event, its grants
// and its reversals are one transaction. A payment grants once, however many
// events report it.
package billing

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"time"

	"github.com/stripe/stripe-go/v85"

	"github.com/bgremove/bgremove/internal/service/account"
	"github.com/bgremove/bgremove/internal/service/store"
)

// Errors without further facts.
var (
	// ErrSubscribed is an account that has a subscription already.
	ErrSubscribed = errors.New("the account has a subscription; change or cancel it first")
	// ErrNoCustomer is an account that has bought nothing yet.
	ErrNoCustomer = errors.New("the account has bought nothing yet")
	// ErrSignature is an event that is not Stripe's, or too old to be believed.
	ErrSignature = errors.New("no valid signature")
)

// Error is a failed request to Stripe.
type Error struct {
	Op  string
	Err error
}

func (e *Error) Error() string { return e.Op + ": " + e.Err.Error() }

func (e *Error) Unwrap() error { return e.Err }

// Temporary reports whether the same may succeed later: Stripe was away or
// busy, and did not refuse.
func (e *Error) Temporary() bool {
	var refusal *stripe.Error
	if !errors.As(e.Err, &refusal) {
		return true // no answer
	}
	return refusal.HTTPStatusCode >= http.StatusInternalServerError || refusal.HTTPStatusCode == http.StatusTooManyRequests
}

// Price is a price of Stripe, by which a plan is paid.
type Price struct{ Plan, ID string }

// Config has the plans for sale and the access to Stripe. All but API and Log
// are required.
type Config struct {
	DB *store.DB
	// Key is the secret or restricted key of Stripe's API, WebhookSecret signs
	// what Stripe sends.
	Key, WebhookSecret string
	// Prices are what plans are paid by. Of several of a plan the first is
	// sold, the others are known from earlier subscriptions.
	Prices []Price
	// PublicURL is where browsers reach the service.
	PublicURL *url.URL
	// API is where Stripe is; empty is https://api.stripe.com.
	API string
	// Log gets what operators should see of events; nil discards it.
	Log *slog.Logger
}

// Service sells plans. It is safe for concurrent use.
type Service struct {
	Config
	accounts *account.Accounts
	ledger   *account.Ledger
	stripe   stripe.Backend
	sold     map[string]string       // price by plan
	plans    map[string]account.Plan // by price
}

// timeout bounds Stripe's time for one request.
const timeout = 20 * time.Second

// New makes a Service. The error joins all that is wrong with the prices.
func New(c Config) (*Service, error) {
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	s := &Service{Config: c, accounts: account.New(c.DB), ledger: account.NewLedger(c.DB)}
	var err error
	if s.sold, s.plans, err = indexPrices(c.Prices); err != nil {
		return nil, err
	}
	b := &stripe.BackendConfig{
		HTTPClient:        &http.Client{Timeout: timeout},
		LeveledLogger:     &stripe.LeveledLogger{Level: stripe.LevelNull},
		MaxNetworkRetries: stripe.Int64(1),
		EnableTelemetry:   stripe.Bool(false),
	}
	if c.API != "" {
		b.URL = &c.API
	}
	s.stripe = stripe.GetBackendWithConfig(stripe.APIBackend, b)
	return s, nil
}

// call calls Stripe's API; op is what for. It goes past stripe.Client, which
// would bring the whole of that API into the program, 9 MB for five calls.
func (s *Service) call(op, method, path string, params stripe.ParamsContainer, answer stripe.LastResponseSetter) error {
	if err := s.stripe.Call(method, path, s.Key, params, answer); err != nil {
		return &Error{op, err}
	}
	return nil
}

// CheckPrices joins all that is wrong with prices.
func CheckPrices(prices []Price) error {
	_, _, err := indexPrices(prices)
	return err
}

func indexPrices(prices []Price) (sold map[string]string, plans map[string]account.Plan, err error) {
	sold, plans = map[string]string{}, map[string]account.Plan{}
	var errs []error
	for _, p := range prices {
		plan, ok := account.PlanNamed(p.Plan)
		switch _, twice := plans[p.ID]; {
		case !ok:
			errs = append(errs, fmt.Errorf("%q is no plan", p.Plan))
		case p.ID == "":
			errs = append(errs, fmt.Errorf("%s has no price", p.Plan))
		case twice:
			errs = append(errs, fmt.Errorf("%s is the price of two plans", p.ID))
		}
		plans[p.ID] = plan
		if sold[p.Plan] == "" {
			sold[p.Plan] = p.ID
		}
	}
	if len(prices) == 0 {
		errs = append(errs, errors.New("no plan has a price"))
	}
	return sold, plans, errors.Join(errs...)
}

// Sells reports whether a plan can be bought.
func (s *Service) Sells(plan string) bool { return s.sold[plan] != "" }

// keepEvents is how long processed events are remembered. Stripe retries for
// three days, and resends events of a month on request.
const keepEvents = 90 * 24 * time.Hour

// Sweep forgets old events and returns their number. Their payments are known
// for ever.
func (s *Service) Sweep(ctx context.Context) (int64, error) {
	done, err := s.DB.ExecContext(ctx, "DELETE FROM stripe_events WHERE created_at < now_ms() - CAST($1 AS BIGINT)", store.Millis(keepEvents))
	if err != nil {
		return 0, fmt.Errorf("sweep events: %w", err)
	}
	return done.RowsAffected()
}
