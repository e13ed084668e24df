package job

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/bgremove/bgremove/internal/service/id"
	"github.com/bgremove/bgremove/internal/service/store"
)

// Errors of an Idempotency-Key.
var (
	// ErrRunning is a first request with the key that has not ended: try again
	// in a while.
	ErrRunning = errors.New("the first request with this key is still running")
	// ErrConflict is a key that was used for another request.
	ErrConflict = errors.New("the key was used for another request")
)

// Reservation holds an Idempotency-Key for one request, on all nodes. It is a
// lease: should the process die, the key is free when it runs out.
type Reservation struct {
	service            *Service
	scope, name, token string
	// earlier is set where the key was used before.
	earlier     *Receipt
	fingerprint string
	stop        func() // ends the renewal and waits for it
	free        func() // gives the key back
	done        sync.Once
}

// Reserve begins a request with an Idempotency-Key, before its body is read.
// Keys of different owners are different. The error is ErrRunning while
// another request holds it. Close the reservation when the request has ended.
func (s *Service) Reserve(ctx context.Context, owner Owner, key string) (*Reservation, error) {
	r := &Reservation{service: s, scope: owner.AccountID + "/" + owner.KeyID, name: key, token: id.New(""), stop: func() {}, free: func() {}}
	var answer, holder string
	// Takes the place of a reservation or an answer that has expired, and
	// changes nothing where there is a live one.
	err := s.db.QueryRowContext(ctx, `
		INSERT INTO idempotency (scope, name, token, fingerprint, answer, expires_at)
		VALUES ($1, $2, $3, '', '', now_ms() + CAST($4 AS BIGINT))
		ON CONFLICT (scope, name) DO UPDATE SET
			token       = CASE WHEN idempotency.expires_at <= now_ms() THEN excluded.token ELSE idempotency.token END,
			fingerprint = CASE WHEN idempotency.expires_at <= now_ms() THEN '' ELSE idempotency.fingerprint END,
			answer      = CASE WHEN idempotency.expires_at <= now_ms() THEN '' ELSE idempotency.answer END,
			expires_at  = CASE WHEN idempotency.expires_at <= now_ms() THEN excluded.expires_at ELSE idempotency.expires_at END
		RETURNING token, fingerprint, answer`,
		r.scope, r.name, r.token, store.Millis(s.config.Lease)).Scan(&holder, &r.fingerprint, &answer)
	switch {
	case err != nil:
		return nil, fmt.Errorf("reserve the idempotency key: %w", err)
	case answer != "":
		r.earlier = &Receipt{Replayed: true}
		if err := json.Unmarshal([]byte(answer), r.earlier); err != nil {
			return nil, fmt.Errorf("answer of an idempotency key: %w", err)
		}
		return r, nil
	case holder != r.token:
		return nil, ErrRunning
	}
	r.renew(ctx)
	r.free = func() { r.remove(context.WithoutCancel(ctx)) }
	return r, nil
}

// renew keeps the lease until stop.
func (r *Reservation) renew(ctx context.Context) {
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	var wait sync.WaitGroup
	wait.Go(func() {
		ticker := time.NewTicker(r.service.config.Lease / 3)
		defer ticker.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-ticker.C:
			}
			// A failure is made good by the next; saveAnswer sees a lost lease.
			_, _ = r.service.db.ExecContext(ctx, `UPDATE idempotency SET expires_at = now_ms() + CAST($1 AS BIGINT)
				WHERE scope = $2 AND name = $3 AND token = $4 AND answer = ''`,
				store.Millis(r.service.config.Lease), r.scope, r.name, r.token)
		}
	})
	r.stop = func() { cancel(); wait.Wait() }
}

// Answered reports whether there is an Answer, to this request or another one.
func (r *Reservation) Answered() bool { return r.earlier != nil }

// Answer is the answer to an earlier, successful request with the key; nil if
// this is the first. The error is ErrConflict if that request was different. Of
// an uploaded file Name and SHA256 count, of a fetched one the URL, and of one
// that is used again its job. Submit asks, too. Asking before the files are
// probed puts refusals in order.
func (r *Reservation) Answer(sub Submission) (*Receipt, error) {
	if r.earlier != nil && r.fingerprint != sub.fingerprint() {
		return nil, ErrConflict
	}
	return r.earlier, nil
}

// fingerprint identifies a request by its content, not by the layout of its
// body.
func (sub Submission) fingerprint() string {
	type file struct {
		Name, SHA256 string
		URL          string `json:",omitempty"`
	}
	request := struct {
		Batch      bool
		Options    Options
		Files      []file
		Again      string `json:",omitempty"`
		WebhookURL string `json:",omitempty"`
	}{Batch: sub.Batch, Options: sub.Options, Again: sub.Again, WebhookURL: sub.WebhookURL}
	files := sub.Files
	if sub.Again != "" {
		files = nil // the job stands for its file
	}
	for _, f := range files {
		if f.URL != "" {
			request.Files = append(request.Files, file{URL: f.URL})
			continue
		}
		request.Files = append(request.Files, file{Name: f.Name, SHA256: f.SHA256})
	}
	text, _ := json.Marshal(request) // of strings, numbers and booleans, which cannot fail
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}

// saveAnswer writes the answer in the transaction that it is about.
func (r *Reservation) saveAnswer(ctx context.Context, tx *store.Tx, sub Submission, receipt Receipt) error {
	answer, err := json.Marshal(receipt)
	if err != nil {
		return err
	}
	done, err := tx.ExecContext(ctx, `UPDATE idempotency SET fingerprint = $1, answer = $2, expires_at = now_ms() + CAST($3 AS BIGINT)
		WHERE scope = $4 AND name = $5 AND token = $6 AND answer = ''`,
		sub.fingerprint(), string(answer), store.Millis(r.service.config.KeepAnswers), r.scope, r.name, r.token)
	if err != nil {
		return err
	}
	if n, err := done.RowsAffected(); err != nil || n == 1 {
		return err
	}
	return ErrRunning // the lease ran out and another request has it
}

// complete ends the reservation and keeps its answer.
func (r *Reservation) complete() { r.done.Do(r.stop) }

// Close gives the key back unless it was used up by Submit. It may be called
// again.
func (r *Reservation) Close() {
	r.done.Do(func() {
		r.stop()
		r.free()
	})
}

// removeWithin bounds the last statement of a reservation.
const removeWithin = 5 * time.Second

// remove gives the key back. Should it fail, the lease runs out.
func (r *Reservation) remove(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, removeWithin)
	defer cancel()
	_, _ = r.service.db.ExecContext(ctx, "DELETE FROM idempotency WHERE scope = $1 AND name = $2 AND token = $3 AND answer = ''",
		r.scope, r.name, r.token)
}
