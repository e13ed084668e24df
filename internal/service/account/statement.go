package account

import (
	"cmp"
	"context"
	"database/sql"
	"iter"

	"github.com/bgremove/bgremove/internal/service/id"
	"github.com/bgremove/bgremove/internal/service/store"
)

// Line is an entry with the balance after it.
type Line struct {
	Entry
	Balance int64
}

// Statement is an account's entries, the newest first, each with the balance
// after it: at most limit before the id before, from the newest if that is
// empty. All is of one moment, so the newest line has the account's balance.
func (l *Ledger) Statement(ctx context.Context, accountID, before string, limit int) ([]Line, error) {
	// The current balance, less the amounts of all newer entries, on the page
	// and after it.
	rows, err := l.db.QueryContext(ctx, `
		WITH page AS (SELECT * FROM ledger WHERE account_id = $1 AND id < $2 ORDER BY id DESC LIMIT $3),
			later AS (SELECT COALESCE(SUM(amount), 0) AS moved FROM ledger WHERE account_id = $1 AND id >= $2)
		SELECT p.id, p.account_id, p.kind, p.amount, p.job_id, p.note, p.created_at, CAST(a.credits - later.moved
			- COALESCE(SUM(p.amount) OVER (ORDER BY p.id DESC ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING), 0) AS BIGINT)
		FROM page p JOIN accounts a ON a.id = p.account_id CROSS JOIN later ORDER BY p.id DESC`, accountID, cmp.Or(before, id.AfterAll), limit)
	if err != nil {
		return nil, wrap("statement", err)
	}
	defer rows.Close()
	var lines []Line
	for rows.Next() {
		var line Line
		if line.Entry, err = scanEntry(rows, &line.Balance); err != nil {
			return nil, wrap("statement", err)
		}
		lines = append(lines, line)
	}
	return lines, wrap("statement", rows.Err())
}

// Entries are an account's, the newest first: at most limit before the id
// before, from the newest if that is empty.
func (l *Ledger) Entries(ctx context.Context, accountID, before string, limit int) ([]Entry, error) {
	rows, err := l.db.QueryContext(ctx, `SELECT `+entryColumns+` FROM ledger
		WHERE account_id = $1 AND id < $2 ORDER BY id DESC LIMIT $3`, accountID, cmp.Or(before, id.AfterAll), limit)
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

// statementPage is the number of entries that All reads at once. A slow reader
// therefore holds no connection to the database.
const statementPage = 500

// All is Statement of everything, read in one pass: only the first page asks for
// the balance, which the entries after it lead on from. It ends after an error.
func (l *Ledger) All(ctx context.Context, accountID string) iter.Seq2[Line, error] {
	return func(yield func(Line, error) bool) {
		lines, err := l.Statement(ctx, accountID, "", statementPage)
		for len(lines) > 0 {
			for _, line := range lines {
				if !yield(line, nil) {
					return
				}
			}
			if lines, err = l.follow(ctx, lines[len(lines)-1]); err != nil {
				break
			}
		}
		if err != nil {
			yield(Line{}, err)
		}
	}
}

// follow is the page after a line.
func (l *Ledger) follow(ctx context.Context, last Line) ([]Line, error) {
	entries, err := l.Entries(ctx, last.AccountID, last.ID, statementPage)
	lines := make([]Line, len(entries))
	for i, e := range entries {
		last = Line{Entry: e, Balance: last.Balance - last.Amount}
		lines[i] = last
	}
	return lines, err
}

// entryColumns are what scanEntry reads.
const entryColumns = "id, account_id, kind, amount, job_id, note, created_at"

// scanEntry reads an entry, and what columns follow.
func scanEntry(row store.Row, more ...any) (e Entry, err error) {
	var (
		job     sql.NullString
		created int64
	)
	err = row.Scan(append([]any{&e.ID, &e.AccountID, &e.Kind, &e.Amount, &job, &e.Note, &created}, more...)...)
	e.JobID, e.CreatedAt = job.String, store.Time(created)
	return e, err
}
