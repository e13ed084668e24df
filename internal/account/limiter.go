package account

import (
	"context"
	"errors"
	"time"

	"github.com/bgremove/bgremove/internal/store"
)

// Rate is how often something may be done: PerMinute over time, and Burst at
// once. Both are at least 1; PerMinute is at most 60 million.
type Rate struct{ PerMinute, Burst int }

// Decision is a limiter's answer.
type Decision struct {
	Allowed   bool
	Limit     int           // the rate, per minute
	Remaining int           // what is left of the burst, in whole requests
	Reset     time.Duration // until the whole burst is there again
	// RetryAfter is until the next request will be allowed; 0 if this one was.
	RetryAfter time.Duration
}

// Limiter counts by the generic cell rate algorithm (ITU-T I.371): a bucket is
// one time. With PostgreSQL the buckets are the same for all nodes and go by
// the database's clock; with SQLite they are in the memory of this process. It
// is safe for concurrent use.
type Limiter struct{ db *store.DB }

// NewLimiter makes a limiter whose buckets are all full.
func NewLimiter(db *store.DB) *Limiter { return &Limiter{db: db} }

// Take takes one request out of the bucket called name, such as "key:" and an
// id, if there is one. When the database cannot be asked the error is its.
func (l *Limiter) Take(ctx context.Context, name string, r Rate) (Decision, error) {
	return Decision{}, errors.ErrUnsupported
}

// Peek is what Take would answer, and takes nothing. For failures that are
// limited: Peek before trying, Take after a failure.
func (l *Limiter) Peek(ctx context.Context, name string, r Rate) (Decision, error) {
	return Decision{}, errors.ErrUnsupported
}

// Sweep forgets the buckets that are full and returns their number.
func (l *Limiter) Sweep(ctx context.Context) (int64, error) {
	return 0, errors.ErrUnsupported
}
