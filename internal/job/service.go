package job

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/bgremove/bgremove/internal/account"
	"github.com/bgremove/bgremove/internal/blob"
	"github.com/bgremove/bgremove/internal/store"
)

// Config says how jobs are kept and run. Zero fields stand for the defaults.
type Config struct {
	// Unlimited charges nothing.
	Unlimited bool
	// Lease is how long a worker may be silent before its jobs are given to
	// others; it renews them each third of it. 15 s.
	Lease time.Duration
	// MaxAttempts is how often the lease of a job may run out before it has
	// failed. 3.
	MaxAttempts int
	// MaxRunning is how many jobs of one account run at once. 4.
	MaxRunning int
	// TimeLimit bounds each try: the fixed part, 10 min, beside 20 times the
	// clip's duration.
	TimeLimit time.Duration
	// KeepInputs and KeepOutputs are how long files stay after a job has
	// ended. 24 h and 7 days.
	KeepInputs, KeepOutputs time.Duration
	// KeepOrphans is how long an object stays that no job names: longer than
	// the longest upload and its probing. 1 h.
	KeepOrphans time.Duration
	// KeepAnswers is how long an Idempotency-Key is remembered. 24 h.
	KeepAnswers time.Duration
	// Log gets what operators should know; nil discards it.
	Log *slog.Logger
	// Observer, if set, is told what is measured.
	Observer Observer
}

// Observer receives measurements. Its methods are called from many goroutines
// and must not block.
type Observer interface {
	// Claimed says how long a job had waited.
	Claimed(wait time.Duration)
	// Stage says how long a stage of a try took: fetch, process, store, or one
	// that the processor reports.
	Stage(name string, took time.Duration)
	// Ended says what became of a try: done, a Code, "lost" or "returned".
	Ended(outcome string, ran time.Duration)
}

// Service is the jobs of one database and one blob store. It is safe for
// concurrent use.
type Service struct {
	db     *store.DB
	blobs  *blob.Store
	ledger *account.Ledger
	config Config
}

// New makes a Service.
func New(db *store.DB, blobs *blob.Store, c Config) *Service {
	return &Service{db: db, blobs: blobs, ledger: account.NewLedger(db), config: c}
}

// Get is a job that owner may see, or ErrNotFound.
func (s *Service) Get(ctx context.Context, owner Owner, id string) (Job, error) {
	return Job{}, errors.ErrUnsupported
}

// List is the jobs that owner may see, the newest first: at most limit that
// come before the job before, from the newest if that is empty.
func (s *Service) List(ctx context.Context, owner Owner, before string, limit int) ([]Job, error) {
	return nil, errors.ErrUnsupported
}

// Batch is a batch that owner may see, with its jobs, or ErrNotFound.
func (s *Service) Batch(ctx context.Context, owner Owner, id string) (Batch, error) {
	return Batch{}, errors.ErrUnsupported
}

// Stats are the queue's, of all nodes.
type Stats struct {
	Queued, Running int64
	OldestWait      time.Duration // of what is queued
}

// Stats counts.
func (s *Service) Stats(ctx context.Context) (Stats, error) { return Stats{}, errors.ErrUnsupported }
