package job

import (
	"context"
	"fmt"
	"time"
)

// reapAtOnce bounds what one look at the leases takes on.
const reapAtOnce = 100

// Reap gives the jobs whose leases ran out back to the queue; one that has
// lost its workers MaxAttempts times has failed and is refunded. It returns
// their number. Workers do it all the time; any number of nodes may.
func (s *Service) Reap(ctx context.Context) (n int, err error) {
	jobs, err := s.lapsed(ctx)
	if err != nil {
		return 0, err
	}
	return s.reapAll(ctx, jobs)
}

// lapsed are some jobs whose leases ran out.
func (s *Service) lapsed(ctx context.Context) ([]Job, error) {
	jobs, err := collect(s.db.QueryContext(ctx, "SELECT "+columns+` FROM jobs
		WHERE state = 'processing' AND lease_until < now_ms() ORDER BY lease_until LIMIT $1`, reapAtOnce))
	if err != nil {
		return nil, fmt.Errorf("look at the leases: %w", err)
	}
	return jobs, nil
}

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

// reap reaps every third of a lease until ctx ends, however busy the queue is.
// When the database has been away all leases have run out, and the workers that
// are still there need a lease's time to say so: what they have finished must not
// be done again.
func (s *Service) reap(ctx context.Context) {
	ticker := time.NewTicker(max(time.Millisecond, s.config.Lease/3))
	defer ticker.Stop()
	patience := time.Now().Add(s.config.Lease) // nobody knows what was before
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
