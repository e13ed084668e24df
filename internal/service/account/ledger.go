package account

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/bgremove/bgremove/internal/service/id"
	"github.com/bgremove/bgremove/internal/service/store"
)

// Kind says why credits moved.
type Kind string

// The kinds of ledger entries.
const (
	Grant  Kind = "grant"  // bought or given
	Charge Kind = "charge" // taken for a job, negative
	Refund Kind = "refund" // given back for a job that failed or was cancelled
	// Reversal is a grant taken back, since its payment was: negative, or 0
	// where all of it had been spent.
	Reversal Kind = "reversal"
)

// entryPrefix begins the ids of entries.
const entryPrefix = "led_"

// IsEntryID reports whether text can be the id of an entry.
func IsEntryID(text string) bool { return id.Valid(entryPrefix, text) }

// Entry is one line of the ledger, never changed once written.
type Entry struct {
	ID        string // led_…
	AccountID string
	Kind      Kind
	Amount    int64  // credits; negative for charges and reversals
	JobID     string // of a charge or a refund
	Note      string // of a grant or a reversal
	CreatedAt time.Time
}

// InsufficientError is a balance that is too low. Nothing was charged.
type InsufficientError struct{ Balance, Cost int64 }

func (e *InsufficientError) Error() string {
	return fmt.Sprintf("too few credits: the cost is %d, the balance is %d", e.Cost, e.Balance)
}

// Ledger is how credits move. The balance of an account is always the sum of
// its entries and never negative. It is safe for concurrent use.
type Ledger struct{ db *store.DB }

// NewLedger gives access to the ledger in db.
func NewLedger(db *store.DB) *Ledger { return &Ledger{db: db} }

// Balance is an account's credits, or ErrNotFound.
func (l *Ledger) Balance(ctx context.Context, accountID string) (credits int64, err error) {
	err = l.db.QueryRowPrepared(ctx, "SELECT credits FROM accounts WHERE id = $1", accountID).Scan(&credits)
	return credits, wrap("balance", err)
}

// Grant adds credits, at least 1, and returns the balance. The error is
// ErrNotFound if the account does not exist.
func (l *Ledger) Grant(ctx context.Context, accountID string, credits int64, note string) (balance int64, err error) {
	err = l.db.Tx(ctx, func(tx *store.Tx) (err error) {
		balance, err = l.GrantTx(ctx, tx, accountID, credits, note)
		return err
	})
	return balance, err
}

// GrantPlan adds the credits of a plan and notes it as the account's plan.
func (l *Ledger) GrantPlan(ctx context.Context, accountID string, p Plan) (balance int64, err error) {
	err = l.db.Tx(ctx, func(tx *store.Tx) (err error) {
		if balance, err = l.GrantTx(ctx, tx, accountID, p.Credits, "plan "+p.Name); err != nil {
			return err
		}
		return SetPlan(ctx, tx, accountID, p.Name)
	})
	return balance, err
}

// MaxGrant is the most that is granted at once: it keeps sums far from the end
// of 64 bits.
const MaxGrant = 1_000_000_000_000

func checkAmount(credits int64) error {
	if credits < 1 || credits > MaxGrant {
		return &FieldError{Field: "credits", Reason: fmt.Sprintf("must be between 1 and %d", int64(MaxGrant))}
	}
	return nil
}

// GrantTx is Grant as part of a caller's transaction.
func (l *Ledger) GrantTx(ctx context.Context, tx *store.Tx, accountID string, credits int64, note string) (balance int64, err error) {
	if err := checkAmount(credits); err != nil {
		return 0, err
	}
	err = tx.QueryRowContext(ctx, "UPDATE accounts SET credits = credits + $1 WHERE id = $2 RETURNING credits", credits, accountID).Scan(&balance)
	if err == nil {
		err = l.addEntry(ctx, tx, Entry{AccountID: accountID, Kind: Grant, Amount: credits, Note: note})
	}
	return balance, wrap("grant credits", err)
}

// Reverse takes back granted credits, at most the balance, and returns how many
// it took. The ledger gets an entry in any case, with the number already spent.
// It is part of a caller's transaction.
func (l *Ledger) Reverse(ctx context.Context, tx *store.Tx, accountID string, credits int64, note string) (reversed int64, err error) {
	var balance int64
	// It locks the row, so that nobody spends these credits meanwhile.
	err = tx.QueryRowContext(ctx, "UPDATE accounts SET credits = credits WHERE id = $1 RETURNING credits", accountID).Scan(&balance)
	if err != nil {
		return 0, wrap("reverse a grant", err)
	}
	if reversed = min(credits, balance); reversed < credits {
		note += fmt.Sprintf(": %d of %d credits had been spent", credits-reversed, credits)
	}
	_, err = tx.ExecContext(ctx, "UPDATE accounts SET credits = credits - $1 WHERE id = $2", reversed, accountID)
	if err == nil {
		err = l.addEntry(ctx, tx, Entry{AccountID: accountID, Kind: Reversal, Amount: -reversed, Note: note})
	}
	return reversed, wrap("reverse a grant", err)
}

// Deduct takes credits back that were granted, all or none: the error is an
// *InsufficientError where fewer are left. It returns the balance.
func (l *Ledger) Deduct(ctx context.Context, accountID string, credits int64, note string) (balance int64, err error) {
	if err := checkAmount(credits); err != nil {
		return 0, err
	}
	err = l.db.Tx(ctx, func(tx *store.Tx) error {
		reversed, err := l.Reverse(ctx, tx, accountID, credits, note)
		if err == nil && reversed < credits {
			err = &InsufficientError{Balance: reversed, Cost: credits}
		}
		if err != nil {
			return err
		}
		return tx.QueryRowContext(ctx, "SELECT credits FROM accounts WHERE id = $1", accountID).Scan(&balance)
	})
	return balance, err
}

// addEntry writes a line. The balance must move in the same transaction.
func (l *Ledger) addEntry(ctx context.Context, tx *store.Tx, e Entry) error {
	_, err := tx.ExecContext(ctx, `INSERT INTO ledger (id, account_id, kind, amount, job_id, note, created_at)
		VALUES ($1, $2, $3, $4, $5, $6, now_ms())`,
		id.New(entryPrefix), e.AccountID, e.Kind, e.Amount, sql.NullString{String: e.JobID, Valid: e.JobID != ""}, e.Note)
	return err
}

// Item is the cost of one job of a submission.
type Item struct {
	JobID   string
	Credits int64 // at least 1
}

// Charge takes what all items cost and returns the balance. It is part of a
// caller's transaction, which must not commit after an error: that is an
// *InsufficientError where the balance is too low, or ErrSuspended.
func (l *Ledger) Charge(ctx context.Context, tx *store.Tx, accountID string, items []Item) (balance int64, err error) {
	var sum int64
	for _, item := range items {
		sum += item.Credits
		// Before the balance: others wait for its row.
		if err := l.addEntry(ctx, tx, Entry{AccountID: accountID, Kind: Charge, Amount: -item.Credits, JobID: item.JobID}); err != nil {
			return 0, wrap("charge", err)
		}
	}
	err = tx.QueryRowContext(ctx, "UPDATE accounts SET credits = credits - $1 WHERE id = $2 AND credits >= $1 AND suspended_at IS NULL RETURNING credits",
		sum, accountID).Scan(&balance)
	if errors.Is(err, sql.ErrNoRows) {
		if balance, err = l.BalanceTx(ctx, tx, accountID); err != nil {
			return 0, err
		}
		return 0, &InsufficientError{Balance: balance, Cost: sum}
	}
	return balance, wrap("charge", err)
}

// BalanceTx is the balance within a caller's transaction. The error is ErrSuspended
// for an account that may not act.
func (l *Ledger) BalanceTx(ctx context.Context, tx *store.Tx, accountID string) (balance int64, err error) {
	var suspended bool
	err = tx.QueryRowContext(ctx, "SELECT credits, suspended_at IS NOT NULL FROM accounts WHERE id = $1", accountID).Scan(&balance, &suspended)
	if err == nil && suspended {
		return 0, ErrSuspended
	}
	return balance, wrap("balance", err)
}

// Refund returns a job's cost to the account and returns the balance. A second
// refund of a job is an error. It is part of a caller's transaction.
func (l *Ledger) Refund(ctx context.Context, tx *store.Tx, accountID string, item Item) (balance int64, err error) {
	err = tx.QueryRowContext(ctx, "UPDATE accounts SET credits = credits + $1 WHERE id = $2 RETURNING credits",
		item.Credits, accountID).Scan(&balance)
	if err != nil {
		return 0, wrap("refund", err)
	}
	err = l.addEntry(ctx, tx, Entry{AccountID: accountID, Kind: Refund, Amount: item.Credits, JobID: item.JobID})
	return balance, wrap("refund", err)
}
