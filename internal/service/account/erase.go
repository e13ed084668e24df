package account

import (
	"context"

	"github.com/bgremove/bgremove/internal/service/store"
)

// Erase removes an account's personal data: its address, password, keys and
// tokens. Its row and ledger stay, so all sums stay right. Nobody can use the
// account any more.
func (a *Accounts) Erase(ctx context.Context, id string) error {
	err := a.db.Tx(ctx, func(tx *store.Tx) error {
		for _, query := range []string{
			"DELETE FROM mail_tokens WHERE account_id = $1",
			"DELETE FROM webhook_deliveries WHERE account_id = $1",
			"DELETE FROM webhook_endpoints WHERE account_id = $1",
			"UPDATE api_keys SET name = '', prefix = '', hash = id, revoked_at = COALESCE(revoked_at, now_ms()) WHERE account_id = $1",
		} {
			if _, err := tx.ExecContext(ctx, query, id); err != nil {
				return err
			}
		}
		_, err := scanAccount(tx.QueryRowContext(ctx, `UPDATE accounts SET email = 'erased ' || id, password = '', epoch = epoch + 1, plan = '',
			confirmed_at = NULL, suspended_at = COALESCE(suspended_at, now_ms()) WHERE id = $1 RETURNING `+columns, id))
		return err
	})
	return wrap("erase an account", err)
}
