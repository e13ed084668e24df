package job

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/bgremove/bgremove/internal/service/store"
)

// Delete ends a job that owner may see, whatever its state: one that has not ended
// is cancelled and refunded, one that has ended loses its files. It returns the
// job as it is then, or ErrNotFound. It may be called again.
func (s *Service) Delete(ctx context.Context, owner Owner, id string) (Job, error) {
	j, err := s.Get(ctx, owner, id)
	if err == nil && !j.State.Ended() {
		var cancelled bool
		if cancelled, err = s.cancel(ctx, j); cancelled || err != nil {
			return s.reread(ctx, owner, id, err)
		}
	} // otherwise it ended meanwhile
	if err != nil {
		return Job{}, err
	}
	return s.reread(ctx, owner, id, s.dropFiles(ctx, id))
}

// Cancel ends a job that owner may see and refunds it. One that has ended stays as it
// is, with its files. It returns the job as it is then, or ErrNotFound.
func (s *Service) Cancel(ctx context.Context, owner Owner, id string) (Job, error) {
	j, err := s.Get(ctx, owner, id)
	if err != nil {
		return Job{}, err
	}
	_, err = s.cancel(ctx, j)
	return s.reread(ctx, owner, id, err)
}

func (s *Service) reread(ctx context.Context, owner Owner, id string, err error) (Job, error) {
	if err != nil {
		return Job{}, err
	}
	return s.Get(ctx, owner, id)
}

// dropFiles removes the files of a job that has ended.
func (s *Service) dropFiles(ctx context.Context, id string) error {
	j, err := scanJob(s.db.QueryRowContext(ctx, "SELECT "+columns+" FROM jobs WHERE id = $1 AND ended_at IS NOT NULL", id))
	if err != nil {
		return wrap("files", err)
	}
	if j.Input != nil {
		err = s.dropInput(ctx, j)
	}
	if j.Output != nil || j.Preview != nil {
		err = errors.Join(err, s.dropOutputs(ctx, j))
	}
	return err
}

// cancel ends a job and refunds it, unless it has ended. Its worker learns that from
// watchClaims, and cannot change the job any more.
func (s *Service) cancel(ctx context.Context, j Job) (cancelled bool, err error) {
	err = s.transition(ctx, "cancel", func(tx *store.Tx) error {
		cancelled = false
		// Assigned to itself, which locks the row: its state stays what it is.
		err := tx.QueryRowContext(ctx, "UPDATE jobs SET state = state WHERE id = $1 AND ended_at IS NULL AND state IN ('queued', 'processing') RETURNING state", j.ID).Scan(&j.State)
		if errors.Is(err, sql.ErrNoRows) {
			return nil
		}
		if err != nil {
			return err
		}
		cancelled = true
		var over int64
		if err := tx.QueryRowContext(ctx, "UPDATE jobs SET state = 'cancelled', lease_until = NULL, ended_at = now_ms() WHERE id = $1 RETURNING "+overtime, j.ID).Scan(&over); err != nil {
			return err
		}
		if err := s.refund(ctx, tx, j.AccountID, j); err != nil {
			return err
		}
		if j.State == Queued {
			if err := s.config.Ended(ctx, tx, j.ID); err != nil {
				return err
			}
			_, err := updateQueue(ctx, tx, j.ID, ", queued = queued - 1", j.AccountID)
			return err
		}
		tx.Notify(cancelledTopic)
		return s.countEnded(ctx, tx, j.AccountID, j.ID, over)
	})
	s.observeRefund(j, err == nil && cancelled)
	return cancelled, err
}

// claims are the attempts that a worker runs.
type claims struct {
	mu  sync.Mutex
	all map[*attempt]struct{}
}

// add keeps an attempt until remove is called.
func (c *claims) add(t *attempt) (remove func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.all == nil {
		c.all = make(map[*attempt]struct{})
	}
	c.all[t] = struct{}{}
	return func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		delete(c.all, t)
	}
}

func (c *claims) list() (all []*attempt) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for t := range c.all {
		all = append(all, t)
	}
	return all
}

// watchEvery is how often claims are looked at without a wake-up: a cancelled job
// is to stop within a second.
const watchEvery = 500 * time.Millisecond

// watchGap is the least time between two looks, since other processes on a file of
// SQLite are heard at each of their writes.
const watchGap = 20 * time.Millisecond

// watchClaims ends the attempts of cancelled jobs, until ctx ends.
func (w *Worker) watchClaims(ctx context.Context, running *claims) {
	wake := make(chan struct{}, 1)
	var listener sync.WaitGroup
	defer listener.Wait()
	listener.Go(func() {
		_ = w.Service.db.Listen(ctx, cancelledTopic, func() { signal(wake) }) // until ctx ends
	})
	for sleep(ctx, watchEvery, wake) {
		all := running.list()
		lost, err := w.Service.cancelled(ctx, all)
		if err != nil && ctx.Err() == nil {
			w.Service.config.Log.ErrorContext(ctx, "look for cancelled jobs", "error", err)
		}
		for _, t := range all {
			if lost[t.job.ID] {
				t.lose(errLost)
			}
		}
		if !sleep(ctx, watchGap, nil) {
			return
		}
	}
}

// cancelled are the jobs of attempts that were cancelled.
func (s *Service) cancelled(ctx context.Context, attempts []*attempt) (map[string]bool, error) {
	if len(attempts) == 0 {
		return nil, nil
	}
	ids := make([]string, len(attempts))
	for i, t := range attempts {
		ids[i] = t.job.ID
	}
	places, args := store.List(ids)
	rows, err := s.db.QueryContext(ctx, "SELECT id FROM jobs WHERE state = 'cancelled' AND id IN ("+places+")", args...)
	if err != nil {
		return nil, fmt.Errorf("cancelled jobs: %w", err)
	}
	defer rows.Close()
	found := make(map[string]bool)
	for rows.Next() {
		var id string
		if err := rows.Scan(&id); err != nil {
			return nil, fmt.Errorf("cancelled jobs: %w", err)
		}
		found[id] = true
	}
	return found, rows.Err()
}

// discard removes what an attempt at a cancelled job has stored and the job does not
// name. The sweeper removes what it does not.
func (t *attempt) discard(ctx context.Context) {
	keys := []string{t.objectKey("out", t.job.OutputFormat.Extension()), t.objectKey("preview", "png")}
	unknown, err := t.Service.orphanOutputs(ctx, keys)
	for _, key := range unknown {
		err = errors.Join(err, t.Service.blobs.Delete(ctx, key))
	}
	if err != nil {
		t.Service.config.Log.WarnContext(ctx, "files of a cancelled job left to the sweeper", "job", t.job.ID, "error", err)
	}
}
