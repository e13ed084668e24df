package account

import (
	"cmp"
	"context"
)

// Entries are an account's, the newest first: at most limit before the id
// before, from the newest if that is empty.
func (l *Ledger) Entries(ctx context.Context, accountID, before string, limit int) ([]Entry, error) {
	rows, err := l.db.QueryContext(ctx, `SELECT `+entryColumns+` FROM ledger
		WHERE account_id = $1 AND id < $2 ORDER BY id DESC LIMIT $3`, accountID, cmp.Or(before, afterAllIDs), limit)
	if err != nil {
		return nil, wrap("ledger", err)
	}
	defer rows.Close()
	var entries []Entry
	for rows.Next() {
		e, err := scanEntry(rows)
		if err != nil {
			return nil, wrap("ledger", err)
		}
		entries = append(entries, e)
	}
	return entries, wrap("ledger", rows.Err())
}

// Discrepancy is an account whose balance differs from the sum of its entries.
type Discrepancy struct {
	AccountID    string
	Balance, Sum int64
}

// Verify compares every balance with the sum of its entries, in one snapshot,
// and returns those that differ.
func (l *Ledger) Verify(ctx context.Context) ([]Discrepancy, error) {
	rows, err := l.db.QueryContext(ctx, `
		SELECT a.id, a.credits, CAST(COALESCE(s.total, 0) AS BIGINT) FROM accounts a
		LEFT JOIN (SELECT account_id, SUM(amount) AS total FROM ledger GROUP BY account_id) s ON s.account_id = a.id
		WHERE a.credits <> COALESCE(s.total, 0) ORDER BY a.id`)
	if err != nil {
		return nil, wrap("verify the ledger", err)
	}
	defer rows.Close()
	var wrong []Discrepancy
	for rows.Next() {
		var d Discrepancy
		if err := rows.Scan(&d.AccountID, &d.Balance, &d.Sum); err != nil {
			return nil, wrap("verify the ledger", err)
		}
		wrong = append(wrong, d)
	}
	return wrong, wrap("verify the ledger", rows.Err())
}
