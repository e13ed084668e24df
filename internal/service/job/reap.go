package job

import (
	"context"
	"fmt"
	"time"
)

// reapAtOnce bounds the leases of one pass.
const reapAtOnce = 100

// lapsed returns some jobs with expired leases.
func (s *Service) lapsed(ctx context.Context) ([]Job, error) {
	jobs, err := scanJobs(s.db.QueryContext(ctx, "SELECT "+columns+` FROM jobs
		WHERE state = 'processing' AND lease_until < now_ms() ORDER BY lease_until LIMIT $1`, reapAtOnce))
	if err != nil {
		return nil, fmt.Errorf("look at the leases: %w", err)
	}
	return jobs, nil
}

// reapAll returns jobs whose leases have expired to the queue, and returns their number. A job that
// has lost its worker MaxAttempts times fails and is refunded. Any number of nodes may call it.
func (s *Service) reapAll(ctx context.Context, jobs []Job) (n int, err error) {
	for _, j := range jobs {
		expired, failed, err := s.expire(ctx, j)
		if err != nil {
			return n, err
		}
		if !expired {
			continue
		}
		n++
		s.config.Observer.Ended("lost", time.Since(j.StartedAt))
		s.config.Log.WarnContext(ctx, "job worker lost", "job", j.ID, "request", j.RequestID, "attempt", j.Attempt, "failed", failed)
	}
	return n, nil
}

// reap looks for expired leases every third of one until ctx ends, also while the queue
// is busy. After an outage of the database all leases have expired. Living
// workers then have a lease's time to renew them, because their finished work
// must not be repeated.
func (s *Service) reap(ctx context.Context) {
	ticker := time.NewTicker(max(time.Millisecond, s.config.Lease/3))
	defer ticker.Stop()
	patience := time.Now().Add(s.config.Lease) // the past is unknown at the start
	for {
		asked := time.Now()
		jobs, err := s.lapsed(ctx)
		if err != nil || time.Since(asked) > s.config.Lease/3 {
			patience = time.Now().Add(s.config.Lease)
		}
		if err == nil && time.Now().After(patience) {
			_, err = s.reapAll(ctx, jobs)
		}
		if err != nil && ctx.Err() == nil {
			s.config.Log.ErrorContext(ctx, "expire leases", "error", err)
		}
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
	}
}
