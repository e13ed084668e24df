package billing

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/http"
	"net/url"

	"github.com/stripe/stripe-go/v85"

	"github.com/bgremove/bgremove/internal/service/account"
)

// Checkout begins a purchase and returns the address of its page. The error is
// an *account.FieldError of plan, ErrSubscribed or an *Error. Nothing is
// granted before Stripe says that it was paid.
func (s *Service) Checkout(ctx context.Context, who account.Account, plan string) (string, error) {
	p, known := account.PlanNamed(plan)
	switch {
	case !known:
		return "", &account.FieldError{Field: "plan", Reason: "is none of the plans"}
	case !s.Sells(plan):
		return "", &account.FieldError{Field: "plan", Reason: "is not sold here"}
	}
	if err := s.checkUnsubscribed(ctx, who.ID, p); err != nil {
		return "", err
	}
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	made := &stripe.CheckoutSession{}
	err := s.withCustomer(ctx, who, func(customer string) error {
		params := s.checkoutParams(who, p, customer)
		params.Context = ctx
		return s.call("begin a purchase", http.MethodPost, "/v1/checkout/sessions", params, made)
	})
	if err != nil {
		return "", err
	}
	return made.URL, nil
}

// checkUnsubscribed refuses a second subscription: it would be paid beside the first.
func (s *Service) checkUnsubscribed(ctx context.Context, accountID string, p account.Plan) error {
	if p.Period == account.Once {
		return nil
	}
	subscribed, err := hasSubscription(ctx, s.DB, accountID)
	if err == nil && subscribed {
		return ErrSubscribed
	}
	return err
}

// checkoutParams are what Checkout asks of the buyer.
func (s *Service) checkoutParams(who account.Account, p account.Plan, customer string) *stripe.CheckoutSessionCreateParams {
	facts := map[string]string{"account": who.ID, "plan": p.Name}
	c := &stripe.CheckoutSessionCreateParams{
		Customer:          &customer,
		ClientReferenceID: &who.ID,
		Metadata:          facts,
		LineItems:         []*stripe.CheckoutSessionCreateLineItemParams{{Price: stripe.String(s.sold[p.Name]), Quantity: stripe.Int64(1)}},
		SuccessURL:        stripe.String(s.returnURL("bought=" + url.QueryEscape(p.Name))),
		CancelURL:         stripe.String(s.returnURL("")),
	}
	// The payment carries the facts too, for people who look at it.
	if p.Period == account.Once {
		c.Mode = stripe.String(stripe.CheckoutSessionModePayment)
		c.PaymentIntentData = &stripe.CheckoutSessionCreatePaymentIntentDataParams{Metadata: facts}
	} else {
		c.Mode = stripe.String(stripe.CheckoutSessionModeSubscription)
		c.SubscriptionData = &stripe.CheckoutSessionCreateSubscriptionDataParams{Metadata: facts}
	}
	return c
}

// returnURL is where browsers come back to.
func (s *Service) returnURL(query string) string {
	u := s.PublicURL.JoinPath("credits")
	u.RawQuery = query
	return u.String()
}

// Portal begins a visit of the pages where customers see invoices and end
// subscriptions, and returns its address. The error is ErrNoCustomer or an
// *Error.
func (s *Service) Portal(ctx context.Context, who account.Account) (string, error) {
	customer, err := s.customer(ctx, who.ID)
	if err != nil {
		return "", err
	}
	if customer == "" {
		return "", ErrNoCustomer
	}
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	params := &stripe.BillingPortalSessionCreateParams{Customer: &customer, ReturnURL: stripe.String(s.returnURL(""))}
	params.Context = ctx
	made := &stripe.BillingPortalSession{}
	err = s.call("open the customer portal", http.MethodPost, "/v1/billing_portal/sessions", params, made)
	if isCustomerMissing(err) {
		return "", ErrNoCustomer
	}
	if err != nil {
		return "", err
	}
	return made.URL, nil
}

// HasCustomer reports whether an account has bought something, or began to: it
// has a portal.
func (s *Service) HasCustomer(ctx context.Context, accountID string) (bool, error) {
	customer, err := s.customer(ctx, accountID)
	return customer != "", err
}

// withCustomer gives f the customer of an account, and another one where
// Stripe does not know it: it was deleted there, or belongs to another key.
func (s *Service) withCustomer(ctx context.Context, who account.Account, f func(customer string) error) error {
	customer, err := s.customer(ctx, who.ID)
	if err == nil && customer == "" {
		customer, err = s.newCustomer(ctx, who, "")
	}
	if err != nil {
		return err
	}
	if err = f(customer); !isCustomerMissing(err) {
		return err
	}
	if customer, err = s.newCustomer(ctx, who, customer); err != nil {
		return err
	}
	return f(customer)
}

// isCustomerMissing reports whether Stripe does not know the customer it was asked about.
func isCustomerMissing(err error) bool {
	var e *stripe.Error
	return errors.As(err, &e) && e.Code == stripe.ErrorCodeResourceMissing && e.Param == "customer"
}

// customer is the one of an account that was made last, or empty.
func (s *Service) customer(ctx context.Context, accountID string) (id string, err error) {
	err = s.DB.QueryRowContext(ctx, "SELECT id FROM stripe_customers WHERE account_id = $1 ORDER BY created_at DESC, id DESC LIMIT 1",
		accountID).Scan(&id)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return "", fmt.Errorf("find a customer: %w", err)
	}
	return id, nil
}

// newCustomer replaces one customer by a new one. Concurrent callers get the
// same one.
func (s *Service) newCustomer(ctx context.Context, who account.Account, former string) (string, error) {
	params := &stripe.CustomerCreateParams{Email: &who.Email, Metadata: map[string]string{"account": who.ID}}
	params.SetIdempotencyKey("bgremove-customer-" + who.ID + "-" + former)
	params.Context = ctx
	made := &stripe.Customer{}
	if err := s.call("make a customer", http.MethodPost, "/v1/customers", params, made); err != nil {
		return "", err
	}
	_, err := s.DB.ExecContext(ctx, "INSERT INTO stripe_customers (id, account_id, created_at) VALUES ($1, $2, now_ms()) ON CONFLICT (id) DO NOTHING",
		made.ID, who.ID)
	if err != nil {
		return "", fmt.Errorf("keep a customer: %w", err)
	}
	return made.ID, nil
}

// owner is the account of a customer, or empty: it is not ours.
func (s *Service) owner(ctx context.Context, customer *stripe.Customer) (accountID string, err error) {
	if customer == nil {
		return "", nil
	}
	err = s.DB.QueryRowContext(ctx, "SELECT account_id FROM stripe_customers WHERE id = $1", customer.ID).Scan(&accountID)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return "", fmt.Errorf("find a customer: %w", err)
	}
	return accountID, nil
}
