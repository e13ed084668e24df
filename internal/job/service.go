package job

import (
	"log/slog"
	"sync"
	"time"

	"github.com/bgremove/bgremove/internal/account"
	"github.com/bgremove/bgremove/internal/blob"
	"github.com/bgremove/bgremove/internal/store"
)

// Config configures how jobs are kept and run. Zero fields have the defaults.
type Config struct {
	// Unlimited charges nothing.
	Unlimited bool
	// Lease is how long a worker may be silent before its jobs are given to
	// others; it renews them each third of it. 15 s.
	Lease time.Duration
	// MaxAttempts is how often the lease of a job may run out, or its machine
	// have no room, before it has failed. 3.
	MaxAttempts int
	// MaxRunning is how many jobs of one account run at once. 4.
	MaxRunning int
	// TimeLimit is the fixed part of what bounds an attempt, 10 min, beside 20
	// times the clip's duration.
	TimeLimit time.Duration
	// KeepInputs and KeepOutputs are how long files stay after a job has
	// ended. 24 h and 7 days.
	KeepInputs, KeepOutputs time.Duration
	// KeepOrphans is how long an object stays that no job names: longer than
	// the longest upload and its probing. 24 h.
	KeepOrphans time.Duration
	// KeepJobs is how long a job is known after it has ended, once its files are
	// gone. 90 days.
	KeepJobs time.Duration
	// KeepAnswers is how long an Idempotency-Key is remembered. 24 h.
	KeepAnswers time.Duration
	// Log gets what operators should know; nil discards it.
	Log *slog.Logger
	// Observer, if set, gets the measurements.
	Observer Observer
}

func (c Config) withDefaults() Config {
	or := func(d *time.Duration, value time.Duration) {
		if *d == 0 {
			*d = value
		}
	}
	or(&c.Lease, 15*time.Second)
	or(&c.TimeLimit, 10*time.Minute)
	or(&c.KeepInputs, 24*time.Hour)
	or(&c.KeepOutputs, 7*24*time.Hour)
	or(&c.KeepOrphans, 24*time.Hour)
	or(&c.KeepAnswers, 24*time.Hour)
	or(&c.KeepJobs, 90*24*time.Hour)
	if c.MaxAttempts == 0 {
		c.MaxAttempts = 3
	}
	if c.MaxRunning == 0 {
		c.MaxRunning = 4
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
	// Ended says what became of an attempt: done, a Code, "lost" (the lease ran
	// out) or "returned" (given back to the queue).
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

// New makes a Service.
func New(db *store.DB, blobs *blob.Store, c Config) *Service {
	c = c.withDefaults()
	return &Service{db: db, blobs: blobs, ledger: account.NewLedger(db), config: c, shown: shownColumns(c)}
}
