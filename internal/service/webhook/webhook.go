// Package webhook tells other services of the ends of jobs, by Standard Webhooks
// (https://www.standardwebhooks.com). A message is a row that is written in the
// transaction that ends the job. Any process sends it, one at a time, again and
// again for a day until it is taken.
package webhook

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"time"

	"github.com/bgremove/bgremove/internal/service/account"
	"github.com/bgremove/bgremove/internal/service/id"
	"github.com/bgremove/bgremove/internal/service/outbound"
	"github.com/bgremove/bgremove/internal/service/store"
)

// MaxEndpoints is how many an account may have, secrets for submissions included.
const MaxEndpoints = 10

// Errors of endpoints and deliveries.
var (
	// ErrNotFound is an endpoint or a delivery that the account does not have.
	ErrNotFound = errors.New("not found")
	// ErrGone is an endpoint or a job that is not there any more, so nothing is to be sent.
	ErrGone = errors.New("the webhook or its job was removed")
	// ErrTooMany is an account with MaxEndpoints.
	ErrTooMany = fmt.Errorf("there are %d already: remove one first", MaxEndpoints)
	// ErrNoSecret is an account that has nothing to sign a webhookUrl with.
	ErrNoSecret = errors.New("needs a signing secret: create one on the page Webhooks, or with POST /api/account/webhooks")
)

// Config says how messages are sent.
type Config struct {
	// Guard decides where messages may go; nil is outbound.Public.
	Guard *outbound.Guard
	// Body is the JSON of a message about a job's end. It fails with ErrGone if the job is not
	// there any more; after other errors it is asked again.
	Body func(ctx context.Context, accountID, jobID, event string) ([]byte, error)
	// Log gets what operators should know; nil discards it.
	Log *slog.Logger
}

// Service has the endpoints and deliveries of one database. It is safe for concurrent
// use.
type Service struct {
	db     *store.DB
	config Config
	client *http.Client
}

// New makes a Service. It sends nothing until Run is called.
func New(db *store.DB, c Config) *Service {
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	if c.Guard == nil {
		c.Guard = outbound.Public()
	}
	return &Service{db: db, config: c, client: c.Guard.Client(sendTimeout)}
}

// Endpoint is where the ends of an account's jobs are sent. Without a URL it is a
// secret that signs what submissions ask for by webhookUrl.
type Endpoint struct {
	ID        string // whe_…
	URL       string
	CreatedAt time.Time
}

// secretBytes is the length of a secret before its encoding.
const secretBytes = 32

func newSecret() string {
	var random [secretBytes]byte
	_, _ = rand.Read(random[:]) // it never fails
	return "whsec_" + base64.StdEncoding.EncodeToString(random[:])
}

// Create makes an endpoint, and its secret, which is shown only now. The error is a
// *outbound.URLError or ErrTooMany.
func (s *Service) Create(ctx context.Context, accountID, url string) (e Endpoint, secret string, err error) {
	if url != "" {
		if err := s.config.Guard.CheckURL(ctx, url); err != nil {
			return Endpoint{}, "", err
		}
	}
	secret = newSecret()
	err = s.db.Tx(ctx, func(tx *store.Tx) error {
		if err := account.Lock(ctx, tx, accountID); err != nil { // or two requests would both find room
			return err
		}
		var n int
		if err := tx.QueryRowContext(ctx, "SELECT COUNT(*) FROM webhook_endpoints WHERE account_id = $1", accountID).Scan(&n); err != nil {
			return err
		}
		if n >= MaxEndpoints {
			return ErrTooMany
		}
		e = Endpoint{ID: id.New("whe_"), URL: url}
		var created int64
		err := tx.QueryRowContext(ctx, "INSERT INTO webhook_endpoints (id, account_id, url, secret, created_at) VALUES ($1, $2, $3, $4, now_ms()) RETURNING created_at",
			e.ID, accountID, url, secret).Scan(&created)
		e.CreatedAt = store.Time(created)
		return err
	})
	return e, secret, wrap("create a webhook", err)
}

// List is an account's endpoints, the oldest first.
func (s *Service) List(ctx context.Context, accountID string) ([]Endpoint, error) {
	rows, err := s.db.QueryContext(ctx, "SELECT id, url, created_at FROM webhook_endpoints WHERE account_id = $1 ORDER BY id", accountID)
	if err != nil {
		return nil, wrap("webhooks", err)
	}
	defer rows.Close()
	var all []Endpoint
	for rows.Next() {
		var (
			e       Endpoint
			created int64
		)
		if err := rows.Scan(&e.ID, &e.URL, &created); err != nil {
			return nil, wrap("webhooks", err)
		}
		e.CreatedAt = store.Time(created)
		all = append(all, e)
	}
	return all, wrap("webhooks", rows.Err())
}

// Delete removes an endpoint. What was not delivered to it is not sent any more.
func (s *Service) Delete(ctx context.Context, accountID, endpoint string) error {
	return s.db.Tx(ctx, func(tx *store.Tx) error {
		err := tx.QueryRowContext(ctx, "DELETE FROM webhook_endpoints WHERE id = $1 AND account_id = $2 RETURNING id", endpoint, accountID).Scan(&endpoint)
		if err != nil {
			return wrap("delete a webhook", err)
		}
		_, err = tx.ExecContext(ctx, "UPDATE webhook_deliveries SET state = 'failed', error = 'the webhook was removed', ended_at = now_ms() WHERE endpoint_id = $1 AND state = 'waiting'", endpoint)
		return wrap("delete a webhook", err)
	})
}

// CheckSubmission refuses a submission's webhookUrl that cannot be used. The error is a
// *outbound.URLError or ErrNoSecret.
func (s *Service) CheckSubmission(ctx context.Context, accountID, url string) error {
	if err := s.config.Guard.CheckURL(ctx, url); err != nil {
		return err
	}
	var signed bool
	err := s.db.QueryRowContext(ctx, "SELECT EXISTS (SELECT 1 FROM webhook_endpoints WHERE account_id = $1 AND url = '')", accountID).Scan(&signed)
	if err == nil && !signed {
		err = ErrNoSecret
	}
	return wrap("webhooks", err)
}

// wrap names the failed operation. A missing row becomes ErrNotFound.
func wrap(what string, err error) error { return store.Wrap(what, err, ErrNotFound) }
