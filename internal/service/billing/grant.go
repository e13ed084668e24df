package billing

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"

	"github.com/stripe/stripe-go/v85"

	"github.com/bgremove/bgremove/internal/service/account"
	"github.com/bgremove/bgremove/internal/service/store"
)

// payment is an amount and its purpose.
type payment struct {
	id           string // pi_… or in_…
	accountID    string
	plan         string
	credits      int64
	amount       int64  // in the currency's smallest unit
	subscription string // empty for a pack
}

// readSession grants a pack that was paid. A subscription's periods are paid
// by invoices.
func (s *Service) readSession(ctx context.Context, e stripe.Event) (change, error) {
	session, err := decodeObject[stripe.CheckoutSession](e)
	if err != nil {
		return nil, err
	}
	name, ours := session.Metadata["plan"]
	if session.Mode != stripe.CheckoutSessionModePayment || session.PaymentStatus != stripe.CheckoutSessionPaymentStatusPaid || !ours {
		return nil, nil // a subscription, or not paid yet, or another shop's
	}
	who, err := s.accounts.Get(ctx, session.ClientReferenceID)
	if errors.Is(err, account.ErrNotFound) {
		s.logMissingAccount(ctx, e, session.ClientReferenceID)
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	plan, known := account.PlanNamed(name)
	if !known || plan.Period != account.Once {
		return nil, fmt.Errorf("%q is no pack", name)
	}
	p := payment{id: session.ID, accountID: who.ID, plan: plan.Name, credits: plan.Credits, amount: session.AmountTotal}
	if session.PaymentIntent != nil {
		p.id = session.PaymentIntent.ID
	}
	return func(ctx context.Context, tx *store.Tx) error { return s.grant(ctx, tx, p) }, nil
}

// logMissingAccount reports a payment without an account to the operators: a retry would not
// help.
func (s *Service) logMissingAccount(ctx context.Context, e stripe.Event, accountID string) {
	s.Log.ErrorContext(ctx, "payment for an account that does not exist", "event", e.ID, "account", accountID)
}

// readInvoice grants the periods of a subscription that an invoice is for.
func (s *Service) readInvoice(ctx context.Context, e stripe.Event) (change, error) {
	invoice, err := decodeObject[stripe.Invoice](e)
	if err != nil {
		return nil, err
	}
	accountID, err := s.owner(ctx, invoice.Customer)
	if err != nil {
		return nil, err
	}
	if accountID == "" {
		s.ignore(ctx, e, "the customer is not ours", slog.String("invoice", invoice.ID))
		return nil, nil
	}
	p := payment{id: invoice.ID, accountID: accountID, amount: invoice.AmountPaid}
	var unknown []error
	due := int64(0)
	for _, line := range periods(invoice) {
		due += line.amount
		plan, known := s.plans[line.price]
		if !known {
			unknown = append(unknown, fmt.Errorf("price %s is no plan's: it is missing in the setting stripe-price", line.price))
			continue
		}
		p.plan, p.subscription = plan.Name, line.subscription
		p.credits += plan.Credits * line.quantity
	}
	if due > 0 && creditsTime(invoice) {
		p.credits = p.credits * min(invoice.AmountPaid, due) / due
	}
	if len(unknown) > 0 || p.credits == 0 { // a part would never be made whole: an invoice grants once
		return nil, errors.Join(unknown...) // none, where no period was paid
	}
	return func(ctx context.Context, tx *store.Tx) error { return s.grant(ctx, tx, p) }, nil
}

// creditsTime reports whether an invoice pays back the unused time of another
// plan, whose credits stay. It then grants credits only for the amount paid.
// Otherwise switching plans to and fro would give credits for nothing.
func creditsTime(invoice *stripe.Invoice) bool {
	return invoice.Lines != nil && slices.ContainsFunc(invoice.Lines.Data, func(line *stripe.InvoiceLineItem) bool {
		return line.Amount < 0 && line.Parent != nil && line.Parent.SubscriptionItemDetails != nil && line.Parent.SubscriptionItemDetails.Proration
	})
}

// period is a line of an invoice that pays for one.
type period struct {
	price, subscription string
	quantity, amount    int64
}

// periods are the lines of an invoice that pay for whole periods. Partial
// periods and free lines, such as trials, are left out.
func periods(invoice *stripe.Invoice) (all []period) {
	if invoice.Lines == nil {
		return nil
	}
	for _, line := range invoice.Lines.Data {
		if line.Amount <= 0 || line.Parent == nil || line.Parent.SubscriptionItemDetails == nil || line.Parent.SubscriptionItemDetails.Proration ||
			line.Pricing == nil || line.Pricing.PriceDetails == nil || line.Pricing.PriceDetails.Price == nil {
			continue
		}
		all = append(all, period{line.Pricing.PriceDetails.Price.ID, line.Parent.SubscriptionItemDetails.Subscription, max(1, line.Quantity), line.Amount})
	}
	return all
}

// grant adds the credits of a payment, once, and takes back losses that were
// reported before it.
func (s *Service) grant(ctx context.Context, tx *store.Tx, p payment) error {
	done, err := tx.ExecContext(ctx, `
		INSERT INTO payments (id, account_id, plan, credits, amount, taken, forgiven, created_at)
		VALUES ($1, $2, $3, $4, $5, 0, 0, now_ms())
		ON CONFLICT (id) DO UPDATE SET account_id = excluded.account_id, plan = excluded.plan, credits = excluded.credits, amount = excluded.amount
		WHERE payments.credits = 0`, p.id, p.accountID, p.plan, p.credits, p.amount)
	if err != nil {
		return fmt.Errorf("note a payment: %w", err)
	}
	if n, err := done.RowsAffected(); n == 0 || err != nil {
		return err // another event has granted it
	}
	if _, err := s.ledger.GrantTx(ctx, tx, p.accountID, p.credits, fmt.Sprintf("plan %s (%s)", p.plan, p.id)); err != nil {
		return err
	}
	if err := s.updatePlan(ctx, tx, p); err != nil {
		return err
	}
	return s.reconcile(ctx, tx, p.id)
}

// updatePlan stores the bought plan as the account's. An active subscription
// takes precedence over packs; an ended one is no plan.
func (s *Service) updatePlan(ctx context.Context, tx *store.Tx, p payment) error {
	hides := func() (bool, error) { return hasSubscription(ctx, tx, p.accountID) }
	if p.subscription != "" {
		hides = func() (bool, error) { return hasEnded(ctx, tx, p.subscription) }
	}
	if hidden, err := hides(); hidden || err != nil {
		return err
	}
	return account.SetPlan(ctx, tx, p.accountID, p.plan)
}
