package job

import (
	"context"
	"errors"
	"fmt"

	"github.com/bgremove/bgremove/internal/service/store"
)

// ErrBusy means that the account has running jobs.
var ErrBusy = errors.New("the account has running jobs")

// Erase removes an account's jobs with their files, and its batches, events and
// stored answers. Queued jobs are refunded first. The account must be
// suspended, or new jobs may come. The error is ErrBusy while jobs run. After
// any error Erase may be called again.
func (s *Service) Erase(ctx context.Context, accountID string) error {
	if err := s.cancelWaiting(ctx, accountID); err != nil {
		return err
	}
	for {
		jobs, err := scanJobs(s.db.QueryContext(ctx, "SELECT "+columns+" FROM jobs WHERE account_id = $1 ORDER BY id LIMIT $2", accountID, sweepAtOnce))
		if err != nil {
			return wrap("erase jobs", err)
		}
		for _, j := range jobs {
			if err := s.eraseJob(ctx, j); err != nil {
				return fmt.Errorf("erase %s: %w", j.ID, err)
			}
		}
		if len(jobs) == 0 {
			break
		}
	}
	_, err := s.db.ExecContext(ctx, "DELETE FROM idempotency WHERE scope LIKE $1", accountID+"/%")
	return wrap("erase answers", err)
}

// cancelWaiting ends the jobs of an account that wait for a worker.
func (s *Service) cancelWaiting(ctx context.Context, accountID string) error {
	jobs, err := scanJobs(s.db.QueryContext(ctx, "SELECT "+columns+" FROM jobs WHERE account_id = $1 AND state IN ('queued', 'processing')", accountID))
	if err != nil {
		return wrap("refund what waits", err)
	}
	for _, j := range jobs {
		if j.State == Processing {
			return ErrBusy
		}
	}
	for _, j := range jobs {
		if _, err := s.cancel(ctx, j); err != nil {
			return err
		}
	}
	return nil
}

// eraseJob removes the files of a job that has ended, and then its row. Inputs that
// it shares are its account's, and go too.
func (s *Service) eraseJob(ctx context.Context, j Job) error {
	for _, f := range j.files() {
		if err := s.blobs.Delete(ctx, f.Key); err != nil {
			return err
		}
	}
	return s.db.Tx(ctx, func(tx *store.Tx) error { return removeJob(ctx, tx, j) })
}
