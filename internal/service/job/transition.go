package job

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/bgremove/bgremove/internal/service/account"
	"github.com/bgremove/bgremove/internal/service/store"
)

// Every change of a job's state is in this file, except the insertion in
// submit.go and the end in cancel.go. It leaves an event, see event.go. A
// worker's change names the attempt of its claim. If the job has another attempt
// by now, nothing changes and the error is errLost.
//
// Transactions lock in one order, so that they never deadlock: the job's row,
// the account's, the queue's. A claim begins with the queue's row and takes a
// queued job that nobody else holds the row of.

// jobsTopic wakes workers that wait for a job, and cancelledTopic those that run one.
const (
	jobsTopic      = "jobs"
	cancelledTopic = "jobs_cancelled"
)

// errLost is a lease that ran out and was taken over, or whose job was cancelled.
var errLost = errors.New("the lease was lost")

// claimableQueue is the condition on a row of queues that has work and a free place, $1
// being how many jobs of an account run at once. Each job of the last day that
// timed out divides that by one more: such jobs give back their credits, but not
// the time that they have held a worker for. One place is always left.
const claimableQueue = `queued > 0 AND (running = 0 OR running < CAST($1 AS BIGINT) / (1 + (SELECT COUNT(*) FROM jobs
		WHERE jobs.account_id = queues.account_id AND error = 'timed_out' AND ended_at > now_ms() - 86400000)))
	AND NOT EXISTS (` + suspended + ` queues.account_id)`

// suspended selects the account, named after it, that may not act.
const suspended = "SELECT 1 FROM accounts WHERE suspended_at IS NOT NULL AND id ="

// leastVTime is the least virtual time of the accounts in the queue, if there are
// any. Suspended accounts are not in the queue.
const leastVTime = "(SELECT MIN(vtime) FROM queues WHERE (queued > 0 OR running > 0) AND NOT EXISTS (" + suspended + " queues.account_id))"

// overtime is how much of a job's time, in seconds, its price has not covered.
const overtime = "CASE WHEN now_ms() - started_at > cost * 1000 THEN (now_ms() - started_at) / 1000 - cost ELSE 0 END"

// claim takes the next job in turn, if there is one: of the accounts with work
// and a free place the one of the least virtual time, which then moves on by
// the price and, in the end, by the overtime. It is start-time fair queueing
// (Goyal, Vin, Cheng 1996, section 2) with credits, or seconds, for bytes.
func (s *Service) claim(ctx context.Context) (j Job, found bool, err error) {
	err = s.db.Tx(ctx, func(tx *store.Tx) error {
		found = false
		var account string
		err := tx.QueryRowContext(ctx, `SELECT account_id FROM queues WHERE `+claimableQueue+`
			ORDER BY vtime, account_id LIMIT 1`+s.db.SkipLocked(), s.config.MaxRunning).Scan(&account)
		if errors.Is(err, sql.ErrNoRows) {
			return nil
		}
		if err != nil {
			return err
		}
		j, err = scanJob(tx.QueryRowContext(ctx, `
			UPDATE jobs SET state = 'processing', attempt = attempt + 1, started_at = now_ms(), lease_until = now_ms() + CAST($1 AS BIGINT)
			WHERE id = (SELECT id FROM jobs WHERE account_id = $2 AND state = 'queued' ORDER BY id LIMIT 1`+s.db.SkipLocked()+`)
			RETURNING `+columns, store.Millis(s.config.Lease), account))
		if errors.Is(err, sql.ErrNoRows) {
			return nil // those that wait are being cancelled
		}
		if err != nil {
			return err
		}
		found = true
		_, err = updateQueue(ctx, tx, j.ID, ", queued = queued - 1, running = running + 1, vtime = vtime + $2", account, j.Cost)
		return err
	})
	if err != nil {
		return Job{}, false, fmt.Errorf("claim: %w", err)
	}
	return j, found, nil
}

// claimable reports whether claim would find a job if no other transaction
// were in its way. It locks nothing.
func (s *Service) claimable(ctx context.Context) (yes bool, err error) {
	err = s.db.QueryRowContext(ctx, "SELECT EXISTS (SELECT 1 FROM queues WHERE "+claimableQueue+")", s.config.MaxRunning).Scan(&yes)
	if err != nil {
		return false, fmt.Errorf("look for work: %w", err)
	}
	return yes, nil
}

// renew extends the lease of a claim.
func (s *Service) renew(ctx context.Context, j Job) error {
	done, err := s.db.ExecContext(ctx, `UPDATE jobs SET lease_until = now_ms() + CAST($1 AS BIGINT)
		WHERE id = $2 AND attempt = $3 AND state = 'processing'`, store.Millis(s.config.Lease), j.ID, j.Attempt)
	if err != nil {
		return fmt.Errorf("renew the lease: %w", err)
	}
	if n, err := done.RowsAffected(); err != nil || n == 1 {
		return err
	}
	return errLost
}

// preview notes that there is a preview.
func (s *Service) preview(ctx context.Context, j Job, f File) error {
	return s.transition(ctx, "note the preview", func(tx *store.Tx) error {
		account, _, err := updateClaimed(ctx, tx, j, "preview_key = $3, preview_size = $4, preview_sha = $5", f.Key, f.Size, f.SHA256)
		if err != nil {
			return err
		}
		_, err = updateQueue(ctx, tx, j.ID, "", account)
		return err
	})
}

// finish makes a job done.
func (s *Service) finish(ctx context.Context, j Job, output File, p Product) error {
	place, err := toColumn(p.Placement)
	if err != nil {
		return err
	}
	quality, err := toColumn(p.Quality)
	if err != nil {
		return err
	}
	return s.transition(ctx, "finish", func(tx *store.Tx) error {
		account, over, err := updateClaimed(ctx, tx, j, `state = 'done', lease_until = NULL, ended_at = now_ms(),
			output_key = $3, output_size = $4, output_sha = $5, placement = $6, quality = $7`, output.Key, output.Size, output.SHA256, place, quality)
		if err != nil {
			return err
		}
		return s.countEnded(ctx, tx, account, j.ID, over)
	})
}

// fail ends a job without an output and refunds it.
func (s *Service) fail(ctx context.Context, j Job, code Code) error {
	err := s.transition(ctx, "fail", func(tx *store.Tx) error {
		account, over, err := updateClaimed(ctx, tx, j, "state = 'failed', error = $3, lease_until = NULL, ended_at = now_ms()", string(code))
		if err != nil {
			return err
		}
		if err := s.refund(ctx, tx, account, j); err != nil {
			return err
		}
		return s.countEnded(ctx, tx, account, j.ID, over)
	})
	s.observeRefund(j, err == nil)
	return err
}

// returnJob returns a job to the queue; the attempt does not count.
func (s *Service) returnJob(ctx context.Context, j Job) error {
	return s.transition(ctx, "give back", func(tx *store.Tx) error {
		account, _, err := updateClaimed(ctx, tx, j, "state = 'queued', lease_until = NULL")
		if err != nil {
			return err
		}
		return requeue(ctx, tx, account, j)
	})
}

// expire takes a job from a worker with an expired lease. It reports whether it
// did, and whether the job has ended.
func (s *Service) expire(ctx context.Context, j Job) (expired, failed bool, err error) {
	return s.countLost(ctx, j, "AND lease_until < now_ms()")
}

// countLost counts an attempt that failed on its machine, if condition holds
// for the job. The job returns to the queue, or fails if that has happened too
// often.
func (s *Service) countLost(ctx context.Context, j Job, condition string) (lost, failed bool, err error) {
	err = s.transition(ctx, "count as lost", func(tx *store.Tx) error {
		var state State
		err := tx.QueryRowContext(ctx, `
			UPDATE jobs SET lost = lost + 1, lease_until = NULL,
				state    = CASE WHEN lost + 1 >= CAST($3 AS BIGINT) THEN 'failed' ELSE 'queued' END,
				error    = CASE WHEN lost + 1 >= CAST($3 AS BIGINT) THEN 'processing_failed' END,
				ended_at = CASE WHEN lost + 1 >= CAST($3 AS BIGINT) THEN now_ms() END
			WHERE id = $1 AND attempt = $2 AND state = 'processing' `+condition+` RETURNING state`,
			j.ID, j.Attempt, s.config.MaxAttempts).Scan(&state)
		lost, failed = err == nil, state == Failed
		switch {
		case errors.Is(err, sql.ErrNoRows):
			return nil // it was renewed, or another node was faster
		case err != nil:
			return err
		case !failed:
			return requeue(ctx, tx, j.AccountID, j)
		}
		if err := s.refund(ctx, tx, j.AccountID, j); err != nil {
			return err
		}
		return s.countEnded(ctx, tx, j.AccountID, j.ID, 0)
	})
	s.observeRefund(j, err == nil && failed)
	return lost, failed, err
}

func (s *Service) observeRefund(j Job, refunded bool) {
	if refunded && j.Charged > 0 {
		s.config.Observer.Credits(account.Refund, j.Charged)
	}
}

// transition changes a job in a transaction.
func (s *Service) transition(ctx context.Context, what string, f func(*store.Tx) error) error {
	if err := s.db.Tx(ctx, f); err != nil {
		return fmt.Errorf("%s: %w", what, err)
	}
	return nil
}

// updateClaimed sets columns of a claimed job, by values from $3 on, and returns its
// account and its overtime.
func updateClaimed(ctx context.Context, tx *store.Tx, j Job, set string, values ...any) (accountID string, over int64, err error) {
	err = tx.QueryRowContext(ctx, "UPDATE jobs SET "+set+" WHERE id = $1 AND attempt = $2 AND state = 'processing' RETURNING account_id, "+overtime,
		append([]any{j.ID, j.Attempt}, values...)...).Scan(&accountID, &over)
	if errors.Is(err, sql.ErrNoRows) {
		return "", 0, errLost
	}
	return accountID, over, err
}

// refund returns a job's charge to the account, if there was one.
func (s *Service) refund(ctx context.Context, tx *store.Tx, accountID string, j Job) error {
	if j.Charged == 0 {
		return nil
	}
	_, err := s.ledger.Refund(ctx, tx, accountID, account.Item{JobID: j.ID, Credits: j.Charged})
	return err
}

// enqueue counts new jobs, in total and queued ones, of which there may be
// none. It returns the number of the last job's event. An idle account starts
// level with the active ones: it has saved no turns.
func enqueue(ctx context.Context, tx *store.Tx, accountID string, jobs, waiting int64) (event int64, err error) {
	err = tx.QueryRowContext(ctx, `
		INSERT INTO queues (account_id, vtime, queued, running, events) VALUES ($1,
			COALESCE(`+leastVTime+`, (SELECT MAX(vtime) FROM queues), 0), $2, 0, $3)
		ON CONFLICT (account_id) DO UPDATE SET queued = queues.queued + excluded.queued, events = queues.events + excluded.events,
			vtime = CASE WHEN queues.queued > 0 OR queues.running > 0 OR queues.vtime > excluded.vtime THEN queues.vtime ELSE excluded.vtime END
		RETURNING events`, accountID, waiting, jobs).Scan(&event)
	return event, err
}

// CatchUp puts an account beside the others in the queue, before it is resumed: it
// has saved no turns while it was suspended.
func (s *Service) CatchUp(ctx context.Context, accountID string) error {
	_, err := s.db.ExecContext(ctx, "UPDATE queues SET vtime = "+leastVTime+" WHERE account_id = $1 AND vtime < "+leastVTime, accountID)
	return wrap("catch up", err)
}

// requeue counts a job that goes back, and its turn too.
func requeue(ctx context.Context, tx *store.Tx, accountID string, j Job) error {
	tx.Notify(jobsTopic)
	_, err := updateQueue(ctx, tx, j.ID, ", queued = queued + 1, running = running - 1, vtime = vtime - $2", accountID, j.Cost)
	return err
}

// countEnded counts a running job that has ended, which frees a slot in the account's
// running limit. Its overtime delays the account's next turn.
func (s *Service) countEnded(ctx context.Context, tx *store.Tx, accountID, jobID string, over int64) error {
	if err := s.config.Ended(ctx, tx, jobID); err != nil {
		return err
	}
	queued, err := updateQueue(ctx, tx, jobID, ", running = running - 1, vtime = vtime + $2", accountID, over)
	if queued > 0 {
		tx.Notify(jobsTopic)
	}
	return err
}

// updateQueue changes an account's row of the queue, $1 being the account, and makes
// the event of a job's change. It comes last in a transaction, since the others
// of the account wait for the row. It returns how many jobs wait.
func updateQueue(ctx context.Context, tx *store.Tx, jobID, change string, args ...any) (queued int64, err error) {
	var event int64
	err = tx.QueryRowContext(ctx, "UPDATE queues SET events = events + 1"+change+" WHERE account_id = $1 RETURNING events, queued", args...).
		Scan(&event, &queued)
	if err != nil {
		return 0, err
	}
	return queued, recordEvents(ctx, tx, event-1, "id = $2", jobID)
}
