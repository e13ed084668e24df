package account

import "context"

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
