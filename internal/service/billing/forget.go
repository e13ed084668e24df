package billing

import (
	"context"
	"fmt"

	"github.com/bgremove/bgremove/internal/service/store"
)

// MayForget returns ErrSubscribed if a subscription of the account is still
// being paid. The customer portal or Stripe ends it.
func MayForget(ctx context.Context, db *store.DB, accountID string) error {
	held, err := hasSubscription(ctx, db, accountID)
	if held {
		return ErrSubscribed
	}
	return wrapForget(err)
}

// Forget removes the customers that an account is at Stripe, if it MayForget. Its
// payments stay, as the ledger does.
func Forget(ctx context.Context, db *store.DB, accountID string) error {
	if err := MayForget(ctx, db, accountID); err != nil {
		return err
	}
	_, err := db.ExecContext(ctx, "DELETE FROM stripe_customers WHERE account_id = $1", accountID)
	return wrapForget(err)
}

func wrapForget(err error) error {
	if err != nil {
		return fmt.Errorf("forget customers: %w", err)
	}
	return nil
}
