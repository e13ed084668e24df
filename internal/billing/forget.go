package billing

import (
	"context"
	"fmt"

	"github.com/bgremove/bgremove/internal/store"
)

// Forget removes the customers that an account is at Stripe. Its payments stay,
// as the ledger does. The error is ErrSubscribed while a subscription goes on
// being paid: it is ended in the customer portal, or by Stripe.
func Forget(ctx context.Context, db *store.DB, accountID string) error {
	var held bool
	err := db.QueryRowContext(ctx, "SELECT EXISTS (SELECT 1 FROM subscriptions WHERE account_id = $1 AND "+isHeld+")", accountID).Scan(&held)
	if err == nil && held {
		return ErrSubscribed
	}
	if err == nil {
		_, err = db.ExecContext(ctx, "DELETE FROM stripe_customers WHERE account_id = $1", accountID)
	}
	if err != nil {
		return fmt.Errorf("forget customers: %w", err)
	}
	return nil
}
