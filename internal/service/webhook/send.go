package webhook

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"strings"
	"sync"
	"time"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"github.com/bgremove/bgremove/internal/service/outbound"
	"github.com/bgremove/bgremove/internal/service/store"
)

// pauses are those between the attempts at a delivery, a day in all. They vary by a
// tenth, so that an endpoint that comes back is not sent everything at once.
var pauses = []time.Duration{
	5 * time.Second, 30 * time.Second, 2 * time.Minute, 10 * time.Minute, 30 * time.Minute,
	time.Hour, 2 * time.Hour, 4 * time.Hour, 7 * time.Hour, 9 * time.Hour,
}

// Bounds of an attempt. An endpoint should take a message at once and work on it
// later.
const (
	sendTimeout = 10 * time.Second
	maxAnswer   = 16 << 10 // bytes of an answer's body that are read
)

// How much one process sends at once, in all and for one account, so that slow
// endpoints of one do not delay the others.
const (
	atOnce           = 16
	atOnceForAccount = 4
)

// claimFor is how long nobody else sends a delivery that a process has begun to send:
// longer than an attempt.
const claimFor = 6 * sendTimeout

// pollEvery is how often deliveries are looked for without a wake-up.
const pollEvery = time.Second

// sender is a process that sends.
type sender struct {
	*Service
	wake    chan struct{}
	slots   chan struct{}
	sending sync.WaitGroup

	mu   sync.Mutex
	busy map[string]int // deliveries under way, by account
}

// Run sends until ctx ends. Any number of processes may.
func (s *Service) Run(ctx context.Context) {
	n := &sender{Service: s, wake: make(chan struct{}, 1), slots: make(chan struct{}, atOnce), busy: make(map[string]int)}
	var listener sync.WaitGroup
	defer listener.Wait()
	defer n.sending.Wait()
	listener.Go(func() { _ = s.db.Listen(ctx, topic, n.signal) }) // until ctx ends
	for {
		if err := n.sendDue(ctx); err != nil && ctx.Err() == nil {
			s.config.Log.ErrorContext(ctx, "send webhooks", "error", err)
		}
		timer := time.NewTimer(pollEvery)
		select {
		case <-ctx.Done():
			timer.Stop()
			return
		case <-n.wake:
		case <-timer.C:
		}
		timer.Stop()
	}
}

func (n *sender) signal() {
	select {
	case n.wake <- struct{}{}:
	default: // a wake-up waits already
	}
}

// sendDue begins to send what is due, as long as there is a place.
func (n *sender) sendDue(ctx context.Context) error {
	for {
		select {
		case n.slots <- struct{}{}:
		default:
			return nil
		}
		d, found, err := n.claim(ctx, n.full())
		if !found || err != nil {
			<-n.slots
			return err
		}
		n.count(d.AccountID, 1)
		n.sending.Go(func() {
			n.deliver(ctx, d)
			n.count(d.AccountID, -1)
			<-n.slots
			n.signal()
		})
	}
}

func (n *sender) count(accountID string, more int) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.busy[accountID] += more; n.busy[accountID] == 0 {
		delete(n.busy, accountID)
	}
}

// full are the accounts that have no place here.
func (n *sender) full() (accounts []any) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for accountID, under := range n.busy {
		if under >= atOnceForAccount {
			accounts = append(accounts, accountID)
		}
	}
	return accounts
}

// claim takes the delivery that has been due for longest, but none of some accounts.
func (s *Service) claim(ctx context.Context, without []any) (d Delivery, found bool, err error) {
	due := "FROM webhook_deliveries WHERE state = 'waiting' AND next_at <= now_ms()"
	if len(without) > 0 {
		places, _ := store.List(without)
		due += " AND account_id NOT IN (" + places + ")"
	}
	// Most often there is none, and looking locks nothing.
	if err := s.db.QueryRowContext(ctx, "SELECT EXISTS (SELECT 1 "+due+")", without...).Scan(&found); err != nil || !found {
		return Delivery{}, false, wrap("look for deliveries", err)
	}
	err = s.db.Tx(ctx, func(tx *store.Tx) (err error) {
		d, err = scan(tx.QueryRowContext(ctx, fmt.Sprintf(`UPDATE webhook_deliveries SET attempts = attempts + 1, status = NULL, error = NULL, next_at = now_ms() + %d
			WHERE id = (SELECT id %s ORDER BY next_at LIMIT 1%s) RETURNING %s`, claimFor.Milliseconds(), due, s.db.SkipLocked(), columns), without...))
		return err
	})
	if errors.Is(err, sql.ErrNoRows) { // another process was faster
		return Delivery{}, false, nil
	}
	return d, err == nil, wrap("claim a delivery", err)
}

// recordTimeout bounds how long the outcome of an attempt waits for the database.
const recordTimeout = 10 * time.Second

// deliver makes an attempt and writes its outcome. An attempt that fails because ctx ends does
// not count.
func (s *Service) deliver(ctx context.Context, d Delivery) {
	status, err := s.send(ctx, d)
	after, cancel := context.WithTimeout(context.WithoutCancel(ctx), recordTimeout)
	defer cancel()
	if err != nil && ctx.Err() != nil {
		err = s.giveBack(after, d)
		s.config.Log.InfoContext(after, "webhook given back", "delivery", d.ID, "job", d.JobID, "error", err)
		return
	}
	if lost := s.record(after, d, status, err); lost != nil {
		s.config.Log.ErrorContext(after, "record delivery", "delivery", d.ID, "error", lost) // it is sent again
		return
	}
	s.config.Log.InfoContext(after, "webhook sent", "delivery", d.ID, "job", d.JobID, "attempt", d.Attempts, "status", status, "error", err)
}

// What the service itself cannot do for now.
var (
	errUnread   = errors.New("the job could not be read")
	errUnsigned = errors.New("the message could not be signed")
)

// answerError is the status of an answer that refuses a message.
type answerError int

func (e answerError) Error() string { return fmt.Sprintf("it answered %d", int(e)) }

// send makes an attempt. Its error is for users.
func (s *Service) send(ctx context.Context, d Delivery) (status int, err error) {
	body, err := s.config.Body(ctx, d.AccountID, d.JobID, d.Event)
	switch {
	case errors.Is(err, ErrGone):
		return 0, err
	case err != nil:
		return 0, fmt.Errorf("%w: %w", errUnread, err)
	}
	at := time.Now()
	signature, err := s.sign(ctx, d, at, body)
	switch {
	case errors.Is(err, ErrGone):
		return 0, err
	case err != nil:
		return 0, fmt.Errorf("%w: %w", errUnsigned, err)
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, d.URL, bytes.NewReader(body))
	if err != nil {
		return 0, err
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("User-Agent", "bgremove-webhooks")
	r.Header.Set(standardwebhooks.HeaderWebhookID, d.ID)
	r.Header.Set(standardwebhooks.HeaderWebhookTimestamp, fmt.Sprint(at.Unix()))
	r.Header.Set(standardwebhooks.HeaderWebhookSignature, signature)
	answer, err := s.client.Do(r)
	if err != nil {
		return 0, err
	}
	defer answer.Body.Close()
	_, _ = io.Copy(io.Discard, io.LimitReader(answer.Body, maxAnswer)) // for the connection's next use
	if answer.StatusCode < 200 || answer.StatusCode > 299 {
		return answer.StatusCode, answerError(answer.StatusCode)
	}
	return answer.StatusCode, nil
}

// sign signs a message with each secret that the receiver may know.
func (s *Service) sign(ctx context.Context, d Delivery, at time.Time, body []byte) (string, error) {
	rows, err := s.db.QueryContext(ctx, "SELECT secret FROM webhook_endpoints WHERE account_id = $1 AND (id = $2 OR $2 = '' AND url = '') ORDER BY id",
		d.AccountID, d.EndpointID)
	if err != nil {
		return "", wrap("secrets", err)
	}
	defer rows.Close()
	var all []string
	for rows.Next() {
		var secret string
		if err := rows.Scan(&secret); err != nil {
			return "", wrap("secrets", err)
		}
		signer, err := standardwebhooks.NewWebhook(secret)
		if err != nil {
			return "", err
		}
		signature, err := signer.Sign(d.ID, at, body)
		if err != nil {
			return "", err
		}
		all = append(all, signature)
	}
	if len(all) == 0 && rows.Err() == nil {
		return "", ErrGone
	}
	return strings.Join(all, " "), rows.Err()
}

// record writes the outcome of an attempt: an answer, and what was wrong with it.
func (s *Service) record(ctx context.Context, d Delivery, status int, failure error) error {
	state, pause := Waiting, time.Duration(0)
	switch {
	case failure == nil:
		state = Delivered
	case int(d.Attempts) > len(pauses), status == http.StatusGone, errors.Is(failure, ErrGone):
		state = Failed
	default:
		pause = pauses[d.Attempts-1]
		pause += time.Duration((rand.Float64() - 0.5) / 5 * float64(pause))
	}
	_, err := s.db.ExecContext(ctx, `UPDATE webhook_deliveries SET state = $1, next_at = now_ms() + CAST($2 AS BIGINT), status = $3, error = $4,
			ended_at = CASE WHEN $1 = 'waiting' THEN NULL ELSE now_ms() END
		WHERE id = $5 AND attempts = $6 AND state = 'waiting'`,
		string(state), store.Millis(pause), sql.NullInt64{Int64: int64(status), Valid: status > 0},
		sql.NullString{String: reason(failure), Valid: failure != nil}, d.ID, d.Attempts)
	return wrap("delivery", err)
}

// giveBack lets others send a delivery at once, as if it had not been claimed.
func (s *Service) giveBack(ctx context.Context, d Delivery) error {
	_, err := s.db.ExecContext(ctx, `UPDATE webhook_deliveries SET attempts = attempts - 1, next_at = now_ms()
		WHERE id = $1 AND attempts = $2 AND state = 'waiting'`, d.ID, d.Attempts)
	return wrap("delivery", err)
}

// reason is an error in words for the account, without what the service knows of its
// own network.
func reason(err error) string {
	var (
		timeout interface{ Timeout() bool }
		answer  answerError
	)
	for _, own := range []error{ErrGone, errUnread, errUnsigned} {
		if errors.Is(err, own) {
			return own.Error()
		}
	}
	switch {
	case err == nil:
		return ""
	case outbound.Refused(err):
		return "it leads to a private or reserved address"
	case errors.As(err, &timeout) && timeout.Timeout():
		return fmt.Sprintf("no answer within %v", sendTimeout)
	case errors.As(err, &answer):
		return answer.Error()
	}
	return "no connection"
}
