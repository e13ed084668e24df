package job

import (
	"cmp"
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/bgremove/bgremove/internal/service/account"
	"github.com/bgremove/bgremove/internal/service/blob"
	"github.com/bgremove/bgremove/internal/service/store"
)

// Config configures how jobs are kept and run. Zero fields have the values of
// DefaultConfig.
type Config struct {
	// Unlimited charges nothing.
	Unlimited bool
	// Lease is how long a worker may be silent before its jobs are given to
	// others; it renews them each third of it. It is at least MinLease.
	Lease time.Duration
	// MaxAttempts is how often the lease of a job may run out, or its machine
	// have no room, before it has failed.
	MaxAttempts int
	// MaxRunning is how many jobs of one account run at once.
	MaxRunning int
	// TimeLimit is the fixed part of what bounds an attempt, beside TimePerDuration
	// times the clip's duration.
	TimeLimit time.Duration
	// KeepInputs and KeepOutputs are how long files stay after a job has ended.
	KeepInputs, KeepOutputs time.Duration
	// KeepOrphans is how long an object stays that no job names: longer than
	// the longest upload, see MaxUpload, and its probing.
	KeepOrphans time.Duration
	// KeepJobs is how long a job is known after it has ended, once its files are
	// gone.
	KeepJobs time.Duration
	// KeepAnswers is how long an Idempotency-Key is remembered.
	KeepAnswers time.Duration
	// Ended, if set, is called in the transaction that ends a job, to tell others of it.
	Ended func(ctx context.Context, tx *store.Tx, jobID string) error
	// Log gets what operators should know; nil discards it.
	Log *slog.Logger
	// Observer, if set, gets the measurements.
	Observer Observer
}

const day = 24 * time.Hour

// DefaultConfig has the default of each number and time.
func DefaultConfig() Config {
	return Config{
		Lease: 15 * time.Second, MaxAttempts: 3, MaxRunning: 4, TimeLimit: 10 * time.Minute,
		KeepInputs: day, KeepOutputs: 7 * day, KeepOrphans: day, KeepJobs: 90 * day, KeepAnswers: day,
	}
}

// MinLease leaves time for heartbeats.
const MinLease = 100 * time.Millisecond

// MaxUpload is how long an upload may take, so that no sweep takes it for an
// orphan.
func (c Config) MaxUpload() time.Duration { return c.KeepOrphans / 2 }

func (c Config) withDefaults() Config {
	d := DefaultConfig()
	c.Lease, c.TimeLimit = cmp.Or(c.Lease, d.Lease), cmp.Or(c.TimeLimit, d.TimeLimit)
	c.MaxAttempts, c.MaxRunning = cmp.Or(c.MaxAttempts, d.MaxAttempts), cmp.Or(c.MaxRunning, d.MaxRunning)
	c.KeepInputs, c.KeepOutputs = cmp.Or(c.KeepInputs, d.KeepInputs), cmp.Or(c.KeepOutputs, d.KeepOutputs)
	c.KeepOrphans, c.KeepJobs = cmp.Or(c.KeepOrphans, d.KeepOrphans), cmp.Or(c.KeepJobs, d.KeepJobs)
	c.KeepAnswers = cmp.Or(c.KeepAnswers, d.KeepAnswers)
	if c.Ended == nil {
		c.Ended = func(context.Context, *store.Tx, string) error { return nil }
	}
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	if c.Observer == nil {
		c.Observer = unobserved{}
	}
	return c
}

// Observer receives measurements. Its methods are called from many goroutines
// and must not block.
type Observer interface {
	// Claimed says how long a job had waited since it was submitted.
	Claimed(wait time.Duration)
	// Stage says how long a stage of an attempt took: fetch, process, store, or one
	// that the Processor reports.
	Stage(name string, took time.Duration)
	// Ended says what became of an attempt: done, cancelled, a Code, "lost" (the lease
	// ran out) or "returned" (given back to the queue).
	Ended(outcome string, ran time.Duration)
	// Credits says how many were charged or refunded; amount is above 0.
	Credits(kind account.Kind, amount int64)
	// Swept counts what a sweep removed, and has the reason if it stopped.
	Swept(done Swept, err error)
}

type unobserved struct{}

func (unobserved) Claimed(time.Duration)       {}
func (unobserved) Stage(string, time.Duration) {}
func (unobserved) Ended(string, time.Duration) {}
func (unobserved) Credits(account.Kind, int64) {}
func (unobserved) Swept(Swept, error)          {}

// Service is the jobs of one database and one blob store. It is safe for
// concurrent use.
type Service struct {
	db     *store.DB
	blobs  *blob.Store
	ledger *account.Ledger
	config Config
	shown  string // columns of jobs, for readers

	clockMu sync.Mutex
	clock   clockGuard
}

// Kept is how long uploads and results stay after their job has ended.
func (s *Service) Kept() (inputs, outputs time.Duration) {
	return s.config.KeepInputs, s.config.KeepOutputs
}

// Unlimited reports whether jobs cost nothing.
func (s *Service) Unlimited() bool { return s.config.Unlimited }

// MaxRunning is how many jobs of one account run at once.
func (s *Service) MaxRunning() int { return s.config.MaxRunning }

// New makes a Service.
func New(db *store.DB, blobs *blob.Store, c Config) *Service {
	c = c.withDefaults()
	return &Service{db: db, blobs: blobs, ledger: account.NewLedger(db), config: c, shown: shownColumns(c)}
}
