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
	if err := s.refundWaiting(ctx, accountID); err != nil {
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

// refundWaiting ends the jobs of an account that wait for a worker.
func (s *Service) refundWaiting(ctx context.Context, accountID string) error {
	err := s.db.Tx(ctx, func(tx *store.Tx) error {
		jobs, err := scanJobs(tx.QueryContext(ctx, "SELECT "+columns+" FROM jobs WHERE account_id = $1 AND state IN ('queued', 'processing')", accountID))
		if err != nil {
			return err
		}
		for _, j := range jobs {
			if j.State == Processing {
				return ErrBusy
			}
			ended, err := tx.ExecContext(ctx, "UPDATE jobs SET state = 'failed', error = $2, ended_at = now_ms() WHERE id = $1 AND state = 'queued'", j.ID, ProcessingFailed)
			if err != nil {
				return err
			}
			if n, err := ended.RowsAffected(); n == 0 || err != nil {
				return errors.Join(err, ErrBusy) // a worker was faster
			}
			if err := s.refund(ctx, tx, accountID, j); err != nil {
				return err
			}
		}
		_, err = tx.ExecContext(ctx, "UPDATE queues SET queued = 0 WHERE account_id = $1", accountID)
		return err
	})
	return wrap("refund what waits", err)
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
