package job

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/bgremove/bgremove/internal/service/store"
)

// errClock is a sweep that waits, since the clock may be wrong.
var errClock = errors.New("the clock has jumped ahead: nothing is removed until it is trusted again")

// A clock that is more than clockLeap ahead of where it should be is believed
// after clockHold; after clockHoldAtStart where nobody has looked at it for a
// while, since a service that was down sees the same.
const (
	clockLeap        = time.Hour
	clockHold        = time.Hour
	clockHoldAtStart = 10 * time.Minute
)

// clockGuard detects a clock that jumps ahead, which would make everything
// expire at once. It compares the database's clock with this process's
// monotonic clock.
type clockGuard struct {
	seen, at time.Time // the last look, by the database's clock and by this process's
	hold     time.Time // until then, by this process's, the clock is not believed
}

// trusts looks at the clock: now is the database's, last when it was believed
// last, zero if never, and here this process's.
func (g *clockGuard) trusts(now, last, here time.Time) bool {
	due, hold := last, clockHoldAtStart
	if !g.at.IsZero() {
		due, hold = g.seen.Add(here.Sub(g.at)), clockHold
	}
	g.seen, g.at = now, here
	switch ahead := now.Sub(due); {
	case due.IsZero():
	case ahead > clockLeap:
		g.hold = here.Add(hold)
	case ahead < -clockLeap: // it was put right
		g.hold = time.Time{}
	}
	return !here.Before(g.hold)
}

// sweptAt is the fact of when the clock was believed last.
const sweptAt = "swept_at"

// trustsClock reports whether data that has expired by the clock may be
// removed.
func (s *Service) trustsClock(ctx context.Context) (bool, error) {
	last, err := s.db.TimeFact(ctx, sweptAt)
	if err != nil {
		return false, err
	}
	var now int64
	if err := s.db.QueryRowContext(ctx, "SELECT now_ms()").Scan(&now); err != nil {
		return false, fmt.Errorf("clock: %w", err)
	}
	s.clockMu.Lock()
	defer s.clockMu.Unlock()
	if !s.clock.trusts(store.Time(now), last, time.Now()) {
		return false, nil
	}
	return true, s.db.SetTimeFact(ctx, sweptAt, store.Time(now))
}
