package job

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/bgremove/bgremove/internal/blob"
	"github.com/bgremove/bgremove/internal/store"
)

// Swept is what a sweep removed.
type Swept struct {
	Inputs, Outputs int   // jobs whose files have expired
	Orphans         int   // objects that no job names
	Leftovers       int   // of writes that broke off
	Answers         int64 // to Idempotency-Keys
	Events          int64
}

// Sweep removes the files that have expired, the objects that no job names, the
// answers kept for Idempotency-Keys, and old events. It never removes a file of a job that
// is queued or processing. Any number of nodes may sweep at once.
func (s *Service) Sweep(ctx context.Context) (done Swept, err error) {
	var errs [6]error
	done.Inputs, errs[0] = s.sweepInputs(ctx)
	done.Outputs, errs[1] = s.sweepOutputs(ctx)
	done.Orphans, errs[2] = s.sweepOrphans(ctx)
	done.Leftovers, errs[3] = s.blobs.Sweep(ctx, time.Now().Add(-s.config.KeepOrphans))
	done.Answers, errs[4] = s.sweepAnswers(ctx)
	done.Events, errs[5] = s.sweepEvents(ctx)
	return done, errors.Join(errs[:]...)
}

// RunSweeper sweeps at once and then every interval until ctx ends.
func (s *Service) RunSweeper(ctx context.Context, interval time.Duration) {
	ticker := time.NewTicker(interval)
	defer ticker.Stop()
	for {
		switch done, err := s.Sweep(ctx); {
		case ctx.Err() != nil:
			return
		case err != nil:
			s.config.Log.ErrorContext(ctx, "the sweep is not complete", "swept", done, "error", err)
		case done != Swept{}:
			s.config.Log.InfoContext(ctx, "swept", "inputs", done.Inputs, "outputs", done.Outputs, "orphans", done.Orphans,
				"leftovers", done.Leftovers, "answers", done.Answers, "events", done.Events)
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

// dropOutputs removes what a job has made, and then its names: after a crash
// between the two, the next sweep goes on.
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

// dropExpired drops files of jobs that ended a while ago.
func (s *Service) dropExpired(ctx context.Context, keep time.Duration, which string, drop func(context.Context, Job) error) (n int, err error) {
	for {
		jobs, err := collect(s.db.QueryContext(ctx, "SELECT "+columns+" FROM jobs WHERE "+which+
			" AND ended_at < now_ms() - CAST($1 AS BIGINT) ORDER BY ended_at LIMIT $2", store.Millis(keep), sweepAtOnce))
		if err != nil {
			return n, fmt.Errorf("expired files: %w", err)
		}
		for _, j := range jobs {
			if err := drop(ctx, j); err != nil {
				return n, fmt.Errorf("expired files: %w", err)
			}
			n++
		}
		if len(jobs) < sweepAtOnce {
			return n, nil
		}
	}
}

// sweepOrphans removes the objects that are older than any upload or try takes
// and that no job names: of requests that were refused when the process died,
// and of tries that lost their lease.
func (s *Service) sweepOrphans(ctx context.Context) (n int, err error) {
	before := time.Now().Add(-s.config.KeepOrphans)
	for prefix, orphans := range map[string]func(context.Context, []string) ([]string, error){inputs: s.orphanInputs, outputs: s.orphanOutputs} {
		var keys []string
		flush := func() error {
			found, err := orphans(ctx, keys)
			if err != nil {
				return fmt.Errorf("orphans: %w", err)
			}
			keys = keys[:0]
			for _, key := range found {
				if err := s.blobs.Delete(ctx, key); err != nil {
					return err
				}
				n++
			}
			return nil
		}
		for info, err := range s.blobs.List(ctx, prefix) {
			if err != nil {
				return n, err
			}
			if old(info, before) {
				keys = append(keys, info.Key)
			}
			if len(keys) == sweepAtOnce {
				if err := flush(); err != nil {
					return n, err
				}
			}
		}
		if err := flush(); err != nil {
			return n, err
		}
	}
	return n, nil
}

func old(info blob.Info, before time.Time) bool { return info.ModTime.Before(before) }

func (s *Service) sweepAnswers(ctx context.Context) (int64, error) {
	done, err := s.db.ExecContext(ctx, "DELETE FROM idempotency WHERE expires_at <= now_ms()")
	if err != nil {
		return 0, fmt.Errorf("expired answers: %w", err)
	}
	return done.RowsAffected()
}
