package billing

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"

	"github.com/stripe/stripe-go/v85"

	"github.com/bgremove/bgremove/internal/service/store"
)

// loss is money of a payment that is gone again.
type loss struct {
	id        string // ch_… refunded, du_… disputed
	paymentID string
	accountID string // of the customer; empty where the payment is known
	amount    int64  // in all, not since the last time
	final     bool   // nothing comes after it
}

// readRefund takes back the same share of a payment's credits as of its money.
func (s *Service) readRefund(ctx context.Context, e stripe.Event) (change, error) {
	charge, err := decodeObject[stripe.Charge](e)
	if err != nil {
		return nil, err
	}
	l := loss{id: charge.ID, amount: charge.AmountRefunded}
	return s.readLoss(ctx, e, l, charge.PaymentIntent, func() (*stripe.Customer, error) { return charge.Customer, nil })
}

// readDispute takes back the credits while the money is withheld, and grants
// them again when it has returned.
func (s *Service) readDispute(ctx context.Context, e stripe.Event) (change, error) {
	dispute, err := decodeObject[stripe.Dispute](e)
	if err != nil {
		return nil, err
	}
	l := loss{id: dispute.ID, amount: dispute.Amount}
	if e.Type == stripe.EventTypeChargeDisputeFundsReinstated {
		l.amount, l.final = 0, true
	}
	return s.readLoss(ctx, e, l, dispute.PaymentIntent, func() (*stripe.Customer, error) {
		if dispute.Charge == nil {
			return nil, nil
		}
		params, charge := &stripe.ChargeRetrieveParams{}, &stripe.Charge{}
		params.Context = ctx
		err := s.call("look up a charge", http.MethodGet, stripe.FormatURLPath("/v1/charges/%s", dispute.Charge.ID), params, charge)
		return charge.Customer, err
	})
}

// readLoss finds the purchase of an intent: a pack directly, a period through
// its invoice. customer is used if the payment is unknown.
func (s *Service) readLoss(ctx context.Context, e stripe.Event, l loss, intent *stripe.PaymentIntent, customer func() (*stripe.Customer, error)) (change, error) {
	if intent == nil {
		s.ignore(ctx, e, "it has no payment intent", slog.String("object", l.id))
		return nil, nil
	}
	l.paymentID = intent.ID
	known, err := exists(ctx, s.DB, "SELECT 1 FROM payments WHERE id = $1", l.paymentID)
	if err != nil {
		return nil, err
	}
	if !known {
		payer, err := customer()
		if err != nil {
			return nil, err
		}
		if l.accountID, err = s.owner(ctx, payer); err != nil {
			return nil, err
		}
		if l.accountID == "" {
			s.ignore(ctx, e, "the customer is not ours", slog.String("object", l.id))
			return nil, nil
		}
		if l.paymentID, err = s.invoiceOf(ctx, intent.ID); err != nil {
			return nil, err
		}
	}
	return func(ctx context.Context, tx *store.Tx) error { return s.recordLoss(ctx, tx, l) }, nil
}

// invoiceOf is the invoice that an intent paid, or the intent if there is none.
// Neither charges nor intents name their invoice.
func (s *Service) invoiceOf(ctx context.Context, intent string) (string, error) {
	wanted := url.Values{"payment[type]": {"payment_intent"}, "payment[payment_intent]": {intent}}
	found := &stripe.InvoicePaymentList{}
	err := s.stripe.CallRaw(http.MethodGet, "/v1/invoice_payments", s.Key, []byte(wanted.Encode()), &stripe.Params{Context: ctx}, found)
	if err != nil {
		return "", &Error{"look up an invoice", err}
	}
	for _, p := range found.Data {
		if p.Invoice != nil {
			return p.Invoice.ID, nil
		}
	}
	return intent, nil
}

// recordLoss records a loss and takes back its value. The payment may still be
// unknown; then nothing has been granted so far.
func (s *Service) recordLoss(ctx context.Context, tx *store.Tx, l loss) error {
	if l.accountID != "" {
		_, err := tx.ExecContext(ctx, `
			INSERT INTO payments (id, account_id, plan, credits, amount, taken, forgiven, created_at)
			VALUES ($1, $2, '', 0, 0, 0, 0, now_ms()) ON CONFLICT (id) DO NOTHING`, l.paymentID, l.accountID)
		if err != nil {
			return fmt.Errorf("note a payment: %w", err)
		}
	}
	_, err := tx.ExecContext(ctx, `
		INSERT INTO payment_losses (id, payment_id, amount, final) VALUES ($1, $2, $3, $4)
		ON CONFLICT (id) DO UPDATE SET amount = excluded.amount, final = excluded.final
		WHERE payment_losses.final = 0 AND (excluded.final = 1 OR excluded.amount > payment_losses.amount)`,
		l.id, l.paymentID, l.amount, boolToInt(l.final))
	if err != nil {
		return fmt.Errorf("note a loss: %w", err)
	}
	return s.reconcile(ctx, tx, l.paymentID)
}

func boolToInt(b bool) int {
	if b {
		return 1
	}
	return 0
}

// reconcile makes the credits taken back from a payment match its losses.
func (s *Service) reconcile(ctx context.Context, tx *store.Tx, paymentID string) error {
	var (
		p                     payment
		taken, forgiven, lost int64
	)
	// It locks the payment, so that the sum is that of all losses.
	err := tx.QueryRowContext(ctx, "UPDATE payments SET id = id WHERE id = $1 RETURNING account_id, credits, amount, taken, forgiven", paymentID).
		Scan(&p.accountID, &p.credits, &p.amount, &taken, &forgiven)
	if err == nil {
		err = tx.QueryRowContext(ctx, "SELECT CAST(COALESCE(SUM(amount), 0) AS BIGINT) FROM payment_losses WHERE payment_id = $1", paymentID).Scan(&lost)
	}
	if err != nil {
		return fmt.Errorf("settle a payment: %w", err)
	}
	switch missing := lostCredits(p.credits, lost, p.amount) - taken - forgiven; {
	case missing > 0:
		got, err := s.ledger.Reverse(ctx, tx, p.accountID, missing, "payment refunded or disputed ("+paymentID+")")
		if err != nil {
			return err
		}
		taken, forgiven = taken+got, forgiven+missing-got
	case missing < 0:
		back := min(-missing, taken)
		if err := s.restoreCredits(ctx, tx, p.accountID, paymentID, back); err != nil {
			return err
		}
		taken, forgiven = taken-back, forgiven-(-missing-back)
	}
	_, err = tx.ExecContext(ctx, "UPDATE payments SET taken = $1, forgiven = $2 WHERE id = $3", taken, forgiven, paymentID)
	if err != nil {
		return fmt.Errorf("settle a payment: %w", err)
	}
	return nil
}

func (s *Service) restoreCredits(ctx context.Context, tx *store.Tx, accountID, paymentID string, credits int64) error {
	if credits == 0 {
		return nil
	}
	_, err := s.ledger.GrantTx(ctx, tx, accountID, credits, "dispute won ("+paymentID+")")
	return err
}

// lostCredits is the credits that go with lost money, rounded in the customer's
// favour.
func lostCredits(credits, lost, amount int64) int64 {
	if amount == 0 {
		return 0
	}
	return credits * min(lost, amount) / amount
}
