package account

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/bgremove/bgremove/internal/store"
)

// Kind says why credits moved.
type Kind string

// The kinds of ledger entries.
const (
	Grant  Kind = "grant"  // bought or given
	Charge Kind = "charge" // taken for a job, negative
	Refund Kind = "refund" // given back for a job that failed
)

// Entry is one line of the ledger, never changed once written.
type Entry struct {
	ID        string // led_…
	AccountID string
	Kind      Kind
	Amount    int64  // credits; what a charge takes is negative
	JobID     string // empty for a grant
	Note      string // of a grant
	CreatedAt time.Time
}

// InsufficientError is a balance too low for what was asked. Nothing was
// taken.
type InsufficientError struct{ Balance, Cost int64 }

func (e *InsufficientError) Error() string {
	return fmt.Sprintf("%d credits are needed, %d are left", e.Cost, e.Balance)
}

// Discrepancy is an account whose balance is not the sum of its entries.
type Discrepancy struct {
	AccountID    string
	Balance, Sum int64
}

// Ledger is how credits move. The balance of an account is always the sum of
// its entries and never negative. It is safe for concurrent use.
type Ledger struct{ db *store.DB }

// NewLedger gives access to the ledger in db.
func NewLedger(db *store.DB) *Ledger { return &Ledger{db: db} }

// Grant adds credits, at least 1, and returns the balance. The error is
// ErrNotFound if there is no such account.
func (l *Ledger) Grant(ctx context.Context, accountID string, credits int64, note string) (int64, error) {
	return 0, errors.ErrUnsupported
}

// GrantPlan adds the credits of a plan and notes it as the account's plan.
func (l *Ledger) GrantPlan(ctx context.Context, accountID string, p Plan) (int64, error) {
	return 0, errors.ErrUnsupported
}

// Entries are an account's, the newest first: at most limit before the id
// before, from the newest if that is empty.
func (l *Ledger) Entries(ctx context.Context, accountID, before string, limit int) ([]Entry, error) {
	return nil, errors.ErrUnsupported
}

// Verify compares every balance with the sum of its entries, in one snapshot,
// and returns those that differ.
func (l *Ledger) Verify(ctx context.Context) ([]Discrepancy, error) {
	return nil, errors.ErrUnsupported
}

// Item is what one job of a submission costs.
type Item struct {
	JobID   string
	Credits int64 // at least 1
}

// Charge takes what all items cost, or nothing: then the error is an
// *InsufficientError. It returns the balance and is part of a caller's
// transaction.
func (l *Ledger) Charge(ctx context.Context, tx *store.Tx, accountID string, items []Item) (int64, error) {
	return 0, errors.ErrUnsupported
}

// Refund gives back what a job cost and returns the balance. A second refund
// of one job is an error. It is part of a caller's transaction.
func (l *Ledger) Refund(ctx context.Context, tx *store.Tx, accountID string, item Item) (int64, error) {
	return 0, errors.ErrUnsupported
}
