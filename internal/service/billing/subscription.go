package billing

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"

	"github.com/stripe/stripe-go/v85"

	"github.com/bgremove/bgremove/internal/service/account"
	"github.com/bgremove/bgremove/internal/service/store"
)

// Conditions on a subscription's status, for SQL: it has ended; it is paid or
// about to be; a second one would be paid beside it.
const (
	isOver  = "status IN ('canceled', 'incomplete_expired')"
	isShown = "status IN ('active', 'trialing', 'past_due')"
	isHeld  = "status IN ('active', 'trialing', 'past_due', 'unpaid', 'paused')"
)

// querier is a database or a transaction.
type querier interface {
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}

// hasSubscription reports whether an account has a subscription.
func hasSubscription(ctx context.Context, q querier, accountID string) (bool, error) {
	return exists(ctx, q, "SELECT 1 FROM subscriptions WHERE account_id = $1 AND "+isHeld+" LIMIT 1", accountID)
}

// hasEnded reports whether a subscription is over.
func hasEnded(ctx context.Context, q querier, id string) (bool, error) {
	return exists(ctx, q, "SELECT 1 FROM subscriptions WHERE id = $1 AND "+isOver, id)
}

func exists(ctx context.Context, q querier, query string, args ...any) (bool, error) {
	var n int
	err := q.QueryRowContext(ctx, query, args...).Scan(&n)
	if errors.Is(err, sql.ErrNoRows) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("look up billing: %w", err)
	}
	return true, nil
}

// subscription is what Stripe said of one, and when.
type subscription struct {
	id, accountID, plan, status string
	toldAt                      int64
}

// readSubscription stores a subscription's state. Credits come with invoices.
func (s *Service) readSubscription(ctx context.Context, e stripe.Event) (change, error) {
	told, err := decodeObject[stripe.Subscription](e)
	if err != nil {
		return nil, err
	}
	sub := subscription{id: told.ID, status: string(told.Status), toldAt: e.Created}
	if sub.accountID, err = s.owner(ctx, told.Customer); err != nil {
		return nil, err
	}
	if sub.accountID == "" {
		s.ignore(ctx, e, "the customer is not ours", slog.String("subscription", told.ID))
		return nil, nil
	}
	if e.Type == stripe.EventTypeCustomerSubscriptionDeleted {
		sub.status = string(stripe.SubscriptionStatusCanceled)
	}
	if told.Items != nil {
		for _, item := range told.Items.Data {
			if item.Price != nil && sub.plan == "" {
				sub.plan = s.plans[item.Price.ID].Name // empty: its invoices will say so
			}
		}
	}
	return func(ctx context.Context, tx *store.Tx) error { return s.saveSubscription(ctx, tx, sub) }, nil
}

// saveSubscription stores the newest state of a subscription and updates the account's
// plan. An ended one never restarts, and every one starts as incomplete. Times
// are whole seconds, so within one second the later event may arrive first.
func (s *Service) saveSubscription(ctx context.Context, tx *store.Tx, sub subscription) error {
	former, err := formerPlan(ctx, tx, sub.id)
	if err != nil {
		return err
	}
	done, err := tx.ExecContext(ctx, `
		INSERT INTO subscriptions (id, account_id, plan, status, told_at) VALUES ($1, $2, $3, $4, $5)
		ON CONFLICT (id) DO UPDATE SET plan = excluded.plan, status = excluded.status, told_at = excluded.told_at
		WHERE NOT subscriptions.`+isOver+` AND (subscriptions.told_at <= excluded.told_at AND excluded.status <> 'incomplete' OR excluded.`+isOver+`)`,
		sub.id, sub.accountID, sub.plan, sub.status, sub.toldAt)
	if err != nil {
		return fmt.Errorf("keep a subscription: %w", err)
	}
	if n, err := done.RowsAffected(); n == 0 || err != nil {
		return err // something newer is known
	}
	return s.showPlan(ctx, tx, sub, former)
}

// showPlan makes the plan of an account that of its subscription, or of another one that it
// has.
func (s *Service) showPlan(ctx context.Context, tx *store.Tx, sub subscription, former string) error {
	if err := account.Lock(ctx, tx, sub.accountID); err != nil { // another event may be about the other one
		return fmt.Errorf("keep a subscription: %w", err)
	}
	var plan string
	err := tx.QueryRowContext(ctx, "SELECT plan FROM subscriptions WHERE account_id = $1 AND plan <> '' AND "+isShown+
		" ORDER BY CASE WHEN id = $2 THEN 0 ELSE 1 END, told_at DESC, id DESC LIMIT 1", sub.accountID, sub.id).Scan(&plan)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return errors.Join(account.EndPlan(ctx, tx, sub.accountID, sub.plan), account.EndPlan(ctx, tx, sub.accountID, former))
	case err != nil:
		return fmt.Errorf("keep a subscription: %w", err)
	}
	return account.SetPlan(ctx, tx, sub.accountID, plan)
}

// formerPlan is the plan of a subscription so far, or empty.
func formerPlan(ctx context.Context, tx *store.Tx, id string) (plan string, err error) {
	err = tx.QueryRowContext(ctx, "SELECT plan FROM subscriptions WHERE id = $1", id).Scan(&plan)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return "", fmt.Errorf("keep a subscription: %w", err)
	}
	return plan, nil
}
