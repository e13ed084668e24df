package job

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/bgremove/bgremove/internal/service/blob"
	"github.com/bgremove/bgremove/internal/service/store"
)

// Swept counts the removals of a sweep.
type Swept struct {
	Inputs, Outputs int   // jobs with expired files
	Orphans         int   // objects that no job names
	Parts           int   // files of parts of jobs that have ended
	Leftovers       int   // of interrupted writes
	Answers         int64 // to Idempotency-Keys
	Events          int64
	Jobs            int64 // rows
}

// Sweep removes expired files, objects that no job refers to, answers kept for
// Idempotency-Keys, and old events and rows. It never removes a file of a job
// that is queued or processing. A failed removal does not stop the others. Any
// number of nodes may sweep at once.
func (s *Service) Sweep(ctx context.Context) (done Swept, err error) {
	believed, err := s.trustsClock(ctx)
	if err == nil && !believed {
		err = errClock
	}
	if err != nil {
		return Swept{}, err
	}
	var errs [8]error
	done.Inputs, errs[0] = s.sweepInputs(ctx)
	done.Outputs, errs[1] = s.sweepOutputs(ctx)
	done.Orphans, errs[2] = s.sweepOrphans(ctx)
	done.Leftovers, errs[3] = s.blobs.Sweep(ctx, time.Now().Add(-s.config.KeepOrphans))
	done.Answers, errs[4] = s.sweepAnswers(ctx)
	done.Events, errs[5] = s.sweepEvents(ctx)
	done.Parts, errs[6] = s.sweepParts(ctx)
	done.Jobs, errs[7] = s.sweepJobs(ctx)
	return done, errors.Join(errs[:]...)
}

// The shortest retention sets the sweeper's pauses.
const (
	maxSweepEvery = 5 * time.Minute
	minSweepEvery = time.Second
)

func (s *Service) sweepEvery() time.Duration {
	return max(minSweepEvery, min(maxSweepEvery, s.config.KeepInputs/4, s.config.KeepOutputs/4))
}

// RunSweeper sweeps at once and then again and again until ctx ends.
func (s *Service) RunSweeper(ctx context.Context) {
	ticker := time.NewTicker(s.sweepEvery())
	defer ticker.Stop()
	for {
		done, err := s.Sweep(ctx)
		if ctx.Err() != nil {
			return
		}
		s.config.Observer.Swept(done, err)
		if err != nil {
			s.config.Log.ErrorContext(ctx, "sweep incomplete", "removed", done, "error", err)
		} else if done != (Swept{}) {
			s.config.Log.InfoContext(ctx, "swept", "inputs", done.Inputs, "outputs", done.Outputs, "orphans", done.Orphans,
				"leftovers", done.Leftovers, "answers", done.Answers, "events", done.Events, "parts", done.Parts, "jobs", done.Jobs)
		}
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
	}
}

// sweepAtOnce is how many jobs or objects are looked at together.
const sweepAtOnce = 100

func (s *Service) sweepInputs(ctx context.Context) (int, error) {
	return s.dropExpired(ctx, s.config.KeepInputs, "input_key IS NOT NULL AND ended_at IS NOT NULL", s.dropInput)
}

// dropInput forgets the input of a job, and then removes it if no other job
// names it. Forgetting comes first, since from then on nobody can take the
// input for another job; after a crash between the two it is an orphan.
func (s *Service) dropInput(ctx context.Context, j Job) error {
	shared := false
	err := s.db.Tx(ctx, func(tx *store.Tx) error {
		if _, err := tx.ExecContext(ctx, "UPDATE jobs SET input_key = NULL WHERE id = $1 AND ended_at IS NOT NULL", j.ID); err != nil {
			return err
		}
		if _, err := tx.ExecContext(ctx, "DELETE FROM backup_objects WHERE key = $1", j.Input.Key); err != nil {
			return err
		}
		return tx.QueryRowContext(ctx, "SELECT EXISTS (SELECT 1 FROM jobs WHERE input_key = $1)", j.Input.Key).Scan(&shared)
	})
	if err != nil || shared {
		return err
	}
	return s.blobs.Delete(ctx, j.Input.Key)
}

func (s *Service) sweepOutputs(ctx context.Context) (int, error) {
	return s.dropExpired(ctx, s.config.KeepOutputs, "(output_key IS NOT NULL OR preview_key IS NOT NULL)", s.dropOutputs)
}

// dropOutputs removes a job's outputs, and then their names. After a crash
// between the two, the next sweep continues.
func (s *Service) dropOutputs(ctx context.Context, j Job) error {
	for _, f := range []*File{j.Output, j.Preview} {
		if f == nil {
			continue
		}
		if err := s.blobs.Delete(ctx, f.Key); err != nil {
			return err
		}
	}
	_, err := s.db.ExecContext(ctx, "UPDATE jobs SET output_key = NULL, preview_key = NULL WHERE id = $1 AND ended_at IS NOT NULL", j.ID)
	return err
}

// dropExpired drops files of jobs that ended a while ago, the oldest first.
func (s *Service) dropExpired(ctx context.Context, keep time.Duration, which string, drop func(context.Context, Job) error) (n int, err error) {
	var last Job
	failures := failures{blobs: s.blobs}
	for {
		jobs, err := scanJobs(s.db.QueryContext(ctx, "SELECT "+columns+" FROM jobs WHERE "+which+
			" AND ended_at < now_ms() - CAST($1 AS BIGINT) AND (ended_at, id) > ($2, $3) ORDER BY ended_at, id LIMIT $4",
			store.Millis(keep), last.EndedAt.UnixMilli(), last.ID, sweepAtOnce))
		if err != nil {
			return n, fmt.Errorf("expired files: %w", err)
		}
		for _, j := range jobs {
			err := drop(ctx, j)
			if err == nil {
				n++
			}
			if failures.record(ctx, err) {
				return n, failures.err("expired files")
			}
			last = j
		}
		if len(jobs) < sweepAtOnce {
			return n, failures.err("expired files")
		}
	}
}

// failures are what could not be removed.
type failures struct {
	blobs       *blob.Store
	count       int
	consecutive int // one after the other
	first       error
}

// failuresBeforePing is after how many failures the storage is asked whether it is
// there at all.
const failuresBeforePing = 10

// record records the outcome of a removal. It reports whether the sweep should
// stop: the context has ended, or the database or the storage is unreachable.
func (f *failures) record(ctx context.Context, err error) (stop bool) {
	if err == nil {
		f.consecutive = 0
		return false
	}
	f.count++
	f.consecutive++
	if f.first == nil {
		f.first = err
	}
	return ctx.Err() != nil || store.Unavailable(err) || f.consecutive%failuresBeforePing == 0 && f.blobs.Ping(ctx) != nil
}

// err is all of them.
func (f *failures) err(what string) error {
	switch f.count {
	case 0:
		return nil
	case 1:
		return fmt.Errorf("%s: %w", what, f.first)
	}
	return fmt.Errorf("%s: %d failures, the first: %w", what, f.count, f.first)
}

func (s *Service) sweepAnswers(ctx context.Context) (int64, error) {
	done, err := s.db.ExecContext(ctx, "DELETE FROM idempotency WHERE expires_at <= now_ms()")
	if err != nil {
		return 0, fmt.Errorf("expired answers: %w", err)
	}
	return done.RowsAffected()
}

// sweepJobs removes the rows of jobs that ended long ago and have no files left,
// and of batches without jobs.
func (s *Service) sweepJobs(ctx context.Context) (n int64, err error) {
	for {
		var jobs []Job
		err := s.db.Tx(ctx, func(tx *store.Tx) (err error) {
			jobs, err = scanJobs(tx.QueryContext(ctx, "SELECT "+columns+` FROM jobs WHERE ended_at < now_ms() - CAST($1 AS BIGINT)
				AND input_key IS NULL AND output_key IS NULL AND preview_key IS NULL ORDER BY ended_at LIMIT $2`,
				store.Millis(s.config.KeepJobs), sweepAtOnce))
			for _, j := range jobs {
				err = errors.Join(err, removeJob(ctx, tx, j))
			}
			return err
		})
		if err != nil {
			return n, wrap("old jobs", err)
		}
		if n += int64(len(jobs)); len(jobs) < sweepAtOnce {
			return n, nil
		}
	}
}

// removeJob removes the row of a job, with what refers to it.
func removeJob(ctx context.Context, tx *store.Tx, j Job) error {
	for _, query := range []string{"DELETE FROM job_events WHERE job_id = $1", "DELETE FROM job_parts WHERE job_id = $1", "DELETE FROM jobs WHERE id = $1"} {
		if _, err := tx.ExecContext(ctx, query, j.ID); err != nil {
			return err
		}
	}
	if j.BatchID == "" {
		return nil
	}
	_, err := tx.ExecContext(ctx, "DELETE FROM batches WHERE id = $1 AND NOT EXISTS (SELECT 1 FROM jobs WHERE batch_id = $1)", j.BatchID)
	return err
}
