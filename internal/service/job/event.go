package job

import (
	"context"
	"database/sql"
	"fmt"
	"time"

	"github.com/bgremove/bgremove/internal/service/store"
)

// eventsTopic wakes the followers of jobs.
const eventsTopic = "job_events"

// keepEvents is how long events are kept. A later reader lists the jobs
// instead.
const keepEvents = time.Hour

// Event is a change of a job: its state, or that there is a preview.
type Event struct {
	// Seq counts the events of an account, in the order in which they
	// happened, without gaps.
	Seq int64
	// Job has the state of that moment. It lacks later facts, such as the
	// output.
	Job Job
}

// recordEvents writes the events of the jobs that a condition on $2 names, the first
// with the number after one. It is part of the transaction that changes them,
// and that has drawn the numbers from the account's queue.
func recordEvents(ctx context.Context, tx *store.Tx, after int64, which, id string) error {
	tx.Notify(eventsTopic)
	_, err := tx.ExecContext(ctx, `INSERT INTO job_events (account_id, seq, job_id, state, error, preview, at)
		SELECT account_id, CAST($1 AS BIGINT) + ROW_NUMBER() OVER (ORDER BY id), id, state, error,
			CASE WHEN preview_key IS NULL THEN 0 ELSE 1 END, now_ms()
		FROM jobs WHERE `+which, after, id)
	return err
}

// eventsAtOnce is how many are read together.
const eventsAtOnce = 100

// events reads an account's events after one number and up to another, in
// order, at most eventsAtOnce. Missing events are at the start: they were
// swept.
func (s *Service) events(ctx context.Context, accountID string, after, last int64) ([]*Event, error) {
	rows, err := s.db.QueryContext(ctx, `SELECT e.seq, e.state, e.error, e.preview, j.* FROM job_events e
		JOIN (SELECT `+s.shown+` FROM jobs WHERE account_id = $1) j ON j.id = e.job_id
		WHERE e.account_id = $1 AND e.seq > $2 AND e.seq <= $3 ORDER BY e.seq LIMIT $4`, accountID, after, last, eventsAtOnce)
	if err != nil {
		return nil, fmt.Errorf("events: %w", err)
	}
	defer rows.Close()
	var events []*Event
	for rows.Next() {
		e, err := scanEvent(rows)
		if err != nil {
			return nil, fmt.Errorf("events: %w", err)
		}
		events = append(events, e)
	}
	return events, rows.Err()
}

func scanEvent(rows *sql.Rows) (*Event, error) {
	var (
		e       Event
		state   State
		code    sql.NullString
		preview bool
	)
	j, err := scanJob(prefixed{rows, []any{&e.Seq, &state, &code, &preview}})
	if err != nil {
		return nil, err
	}
	if j.State, j.Error = state, Code(code.String); state != Done {
		j.Output, j.OutputSize, j.Placement, j.Quality = nil, 0, nil, nil
	}
	if !state.Ended() {
		j.EndedAt = time.Time{}
	}
	if !preview {
		j.Preview = nil
	}
	e.Job = j
	return &e, nil
}

// prefixed scans some columns before those of its caller.
type prefixed struct {
	rows  *sql.Rows
	first []any
}

func (p prefixed) Scan(dest ...any) error { return p.rows.Scan(append(p.first, dest...)...) }

// latest is the number of the last event of each account that has any.
func (s *Service) latest(ctx context.Context, accounts []string) (map[string]int64, error) {
	places, args := store.List(accounts)
	rows, err := s.db.QueryContext(ctx, "SELECT account_id, events FROM queues WHERE account_id IN ("+places+")", args...)
	if err != nil {
		return nil, fmt.Errorf("latest events: %w", err)
	}
	defer rows.Close()
	latest := make(map[string]int64)
	for rows.Next() {
		var (
			id  string
			seq int64
		)
		if err := rows.Scan(&id, &seq); err != nil {
			return nil, fmt.Errorf("latest events: %w", err)
		}
		latest[id] = seq
	}
	return latest, rows.Err()
}

func (s *Service) sweepEvents(ctx context.Context) (int64, error) {
	done, err := s.db.ExecContext(ctx, "DELETE FROM job_events WHERE at < now_ms() - CAST($1 AS BIGINT)", store.Millis(keepEvents))
	if err != nil {
		return 0, fmt.Errorf("old events: %w", err)
	}
	return done.RowsAffected()
}
