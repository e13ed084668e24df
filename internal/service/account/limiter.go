package account

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/bgremove/bgremove/internal/service/store"
)

// Rate is how often something may be done: PerMinute over time, and Burst at
// once. Both are at least 1; PerMinute is at most MaxPerMinute.
type Rate struct{ PerMinute, Burst int }

// MaxPerMinute is what a Rate can count: intervals are whole microseconds.
const MaxPerMinute = int(time.Minute / time.Microsecond)

// interval is between two requests of an even flow, in microseconds.
func (r Rate) interval() int64 { return int64(MaxPerMinute / r.PerMinute) }

// longest is the largest tolerance, in microseconds: a hundred years.
const longest = int64(100 * 365 * 24 * time.Hour / time.Microsecond)

// tolerance is how far the theoretical arrival time of a request may lie ahead.
func (r Rate) tolerance() int64 { return min(int64(r.Burst-1), longest/r.interval()) * r.interval() }

// Decision is a limiter's answer.
type Decision struct {
	Allowed   bool
	Limit     int           // the rate, per minute
	Remaining int           // the rest of the burst, in whole requests
	Reset     time.Duration // until the whole burst is there again
	// RetryAfter is until the next request will be allowed; 0 if this one was.
	RetryAfter time.Duration
}

// Limiter counts by the generic cell rate algorithm (ITU-T I.371): a bucket is
// one number, the theoretical arrival time of the next request. With
// PostgreSQL the buckets are the same for all nodes and go by the database's
// clock; with SQLite they are in the memory of this process. It is safe for
// concurrent use.
type Limiter struct{ buckets buckets }

// buckets keep theoretical arrival times, in microseconds of a clock of their
// own.
type buckets interface {
	// take advances the bucket by a request if that is allowed, and returns
	// its arrival time and the clock.
	take(ctx context.Context, name string, r Rate) (allowed bool, tat, now int64, err error)
	// peek returns the arrival time and the clock.
	peek(ctx context.Context, name string) (tat, now int64, err error)
	// sweep removes expired buckets.
	sweep(ctx context.Context) (int64, error)
}

// NewLimiter makes a limiter; buckets that nobody has used are full.
func NewLimiter(db *store.DB) *Limiter {
	if db.Shared() {
		return &Limiter{databaseBuckets{db}}
	}
	return &Limiter{newMemoryBuckets()}
}

// Take takes one request out of the bucket called name, such as "key:" and an
// id, if there is one. When the database cannot be asked the error is its.
func (l *Limiter) Take(ctx context.Context, name string, r Rate) (Decision, error) {
	allowed, tat, now, err := l.buckets.take(ctx, name, r)
	if err != nil {
		return Decision{}, wrap("rate limit", err)
	}
	return decide(r, allowed, tat-now), nil
}

// LimitedError is one request too many.
type LimitedError struct{ RetryAfter time.Duration }

func (e *LimitedError) Error() string {
	return fmt.Sprintf("too many requests, wait %v", e.RetryAfter)
}

// Allow is Take for callers that only need a decision. The error is a
// *LimitedError if the request is refused.
func (l *Limiter) Allow(ctx context.Context, name string, r Rate) error {
	d, err := l.Take(ctx, name, r)
	if err == nil && !d.Allowed {
		err = &LimitedError{d.RetryAfter}
	}
	return err
}

// Sweep forgets the buckets that are full and returns their number.
func (l *Limiter) Sweep(ctx context.Context) (int64, error) {
	n, err := l.buckets.sweep(ctx)
	return n, wrap("rate limit", err)
}

// decide describes a bucket with ahead microseconds in use.
func decide(r Rate, allowed bool, ahead int64) Decision {
	ahead = max(0, ahead)
	free := r.tolerance() + r.interval() - ahead
	d := Decision{Allowed: allowed, Limit: r.PerMinute, Reset: time.Duration(ahead) * time.Microsecond}
	d.Remaining = int(max(0, free/r.interval()))
	if !allowed {
		d.RetryAfter = time.Duration(max(1, ahead-r.tolerance())) * time.Microsecond
	}
	return d
}

// databaseBuckets are a table of PostgreSQL.
type databaseBuckets struct{ db *store.DB }

func (b databaseBuckets) take(ctx context.Context, name string, r Rate) (allowed bool, tat, now int64, err error) {
	err = b.db.QueryRowContext(ctx, `
		INSERT INTO rates (name, tat) VALUES ($1, now_ms() * 1000 + CAST($2 AS BIGINT))
		ON CONFLICT (name) DO UPDATE SET tat = CASE WHEN rates.tat > now_ms() * 1000 THEN rates.tat ELSE now_ms() * 1000 END + $2
		WHERE rates.tat <= now_ms() * 1000 + CAST($3 AS BIGINT)
		RETURNING tat, now_ms() * 1000`, name, r.interval(), r.tolerance()).Scan(&tat, &now)
	if errors.Is(err, sql.ErrNoRows) {
		tat, now, err = b.peek(ctx, name)
		return false, tat, now, err
	}
	return true, tat, now, err
}

func (b databaseBuckets) peek(ctx context.Context, name string) (tat, now int64, err error) {
	err = b.db.QueryRowContext(ctx, "SELECT COALESCE((SELECT tat FROM rates WHERE name = $1), 0), now_ms() * 1000", name).Scan(&tat, &now)
	return tat, now, err
}

func (b databaseBuckets) sweep(ctx context.Context) (int64, error) {
	done, err := b.db.ExecContext(ctx, "DELETE FROM rates WHERE tat <= now_ms() * 1000")
	if err != nil {
		return 0, err
	}
	return done.RowsAffected()
}
