package webhook

import (
	"cmp"
	"context"
	"database/sql"
	"time"

	"github.com/bgremove/bgremove/internal/service/id"
	"github.com/bgremove/bgremove/internal/service/store"
)

// topic wakes the processes that send.
const topic = "webhooks"

// State is where a delivery is.
type State string

// The states of deliveries.
const (
	Waiting   State = "waiting" // to be sent, perhaps again
	Delivered State = "delivered"
	Failed    State = "failed" // given up
)

// Delivery is a message to one address about the end of one job.
type Delivery struct {
	ID         string // msg_…; the webhook-id
	EndpointID string // empty: the submission's webhookUrl
	AccountID  string
	JobID      string
	URL        string
	Event      string // such as job.done
	State      State
	Attempts   int64
	Status     int    // of the last answer; 0: there was none
	Error      string // of the last attempt; empty: it succeeded, or there was none
	CreatedAt  time.Time
	NextAt     time.Time // when waiting
	EndedAt    time.Time // zero: not yet
}

const prefix = "msg_"

// IsID reports whether text can be the id of a delivery.
func IsID(text string) bool { return id.Valid(prefix, text) }

// Enqueue makes the deliveries about a job that has just ended. It is part of the
// transaction that ends the job.
func (s *Service) Enqueue(ctx context.Context, tx *store.Tx, jobID string) error {
	type target struct {
		account, state, url string
		endpoint            sql.NullString
	}
	rows, err := tx.QueryContext(ctx, `SELECT j.account_id, j.state, e.id, e.url FROM jobs j
			JOIN webhook_endpoints e ON e.account_id = j.account_id AND e.url <> '' WHERE j.id = $1
		UNION ALL SELECT account_id, state, NULL, webhook_url FROM jobs WHERE id = $1 AND webhook_url IS NOT NULL`, jobID)
	if err != nil {
		return wrap("webhooks", err)
	}
	defer rows.Close()
	var targets []target
	for rows.Next() {
		var t target
		if err := rows.Scan(&t.account, &t.state, &t.endpoint, &t.url); err != nil {
			return wrap("webhooks", err)
		}
		targets = append(targets, t)
	}
	if err := rows.Err(); err != nil {
		return wrap("webhooks", err)
	}
	for _, t := range targets {
		tx.Notify(topic)
		if _, err := tx.ExecContext(ctx, `INSERT INTO webhook_deliveries
			(id, account_id, job_id, endpoint_id, url, event, state, attempts, next_at, created_at)
			VALUES ($1, $2, $3, $4, $5, $6, 'waiting', 0, now_ms(), now_ms())`,
			id.New(prefix), t.account, jobID, t.endpoint, t.url, "job."+t.state); err != nil {
			return wrap("webhooks", err)
		}
	}
	return nil
}

// columns are what scan reads.
const columns = "id, endpoint_id, account_id, job_id, url, event, state, attempts, status, error, created_at, next_at, ended_at"

func scan(row store.Row) (d Delivery, err error) {
	var (
		endpoint, reason sql.NullString
		status, ended    sql.NullInt64
		created, next    int64
	)
	err = row.Scan(&d.ID, &endpoint, &d.AccountID, &d.JobID, &d.URL, &d.Event, &d.State, &d.Attempts, &status, &reason, &created, &next, &ended)
	d.EndpointID, d.Error, d.Status = endpoint.String, reason.String, int(status.Int64)
	d.CreatedAt, d.NextAt, d.EndedAt = store.Time(created), store.Time(next), store.OptionalTime(ended)
	return d, err
}

// Deliveries are an account's, the newest first: at most limit before the id before,
// from the newest if that is empty.
func (s *Service) Deliveries(ctx context.Context, accountID, before string, limit int) ([]Delivery, error) {
	rows, err := s.db.QueryContext(ctx, "SELECT "+columns+" FROM webhook_deliveries WHERE account_id = $1 AND id < $2 ORDER BY id DESC LIMIT $3",
		accountID, cmp.Or(before, id.AfterAll), limit)
	if err != nil {
		return nil, wrap("deliveries", err)
	}
	defer rows.Close()
	var all []Delivery
	for rows.Next() {
		d, err := scan(rows)
		if err != nil {
			return nil, wrap("deliveries", err)
		}
		all = append(all, d)
	}
	return all, wrap("deliveries", rows.Err())
}

// Redeliver sends a delivery that has ended once more, with all its tries. One that
// waits is sent now.
func (s *Service) Redeliver(ctx context.Context, accountID, delivery string) error {
	return s.db.Tx(ctx, func(tx *store.Tx) error {
		tx.Notify(topic)
		// One that is being sent now is left alone.
		err := tx.QueryRowContext(ctx, `UPDATE webhook_deliveries SET
				attempts = CASE WHEN state = 'waiting' THEN attempts ELSE 0 END,
				next_at = CASE WHEN state = 'waiting' AND status IS NULL AND error IS NULL AND attempts > 0 THEN next_at ELSE now_ms() END,
				state = 'waiting', ended_at = NULL
			WHERE id = $1 AND account_id = $2 AND (endpoint_id IS NULL OR endpoint_id IN (SELECT id FROM webhook_endpoints)) RETURNING id`, delivery, accountID).Scan(&delivery)
		return wrap("deliver again", err)
	})
}

// keep is how long deliveries are known.
const keep = 30 * 24 * time.Hour

// Sweep removes old deliveries that have ended. One that waits was asked for again.
func (s *Service) Sweep(ctx context.Context) (int64, error) {
	done, err := s.db.ExecContext(ctx, "DELETE FROM webhook_deliveries WHERE created_at < now_ms() - CAST($1 AS BIGINT) AND state <> 'waiting'", store.Millis(keep))
	if err != nil {
		return 0, wrap("old deliveries", err)
	}
	return done.RowsAffected()
}
