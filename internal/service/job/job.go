// Package job owns jobs: their options, price and states, the queue with its
// leases, the worker that runs them, and how long files are kept.
//
// The queue is the jobs table. A submission debits the account, writes the jobs
// and queues them in one transaction. A worker claims a job with a lease and
// renews it. Every change names the claim's attempt, so a worker that lost its
// lease cannot change the job. A failed job is refunded in the transaction that
// marks it failed, exactly once. A cancelled job likewise: its worker hears that
// the claim is gone, and stops.
package job

import (
	"errors"
	"time"

	"github.com/bgremove/bgremove/internal/service/id"
	"github.com/bgremove/bgremove/pkg/option"
)

// State is where a job is.
type State string

// The states of jobs. A new one needs a line in States, too: tests name what else it
// needs.
const (
	Queued     State = "queued"
	Processing State = "processing"
	Done       State = "done"
	Failed     State = "failed"
	Cancelled  State = "cancelled"
)

// States are all states, in the order in which people are shown them.
func States() []State { return []State{Queued, Processing, Done, Failed, Cancelled} }

// Ended reports whether a job in the state changes no more.
func (s State) Ended() bool { return s == Done || s == Failed || s == Cancelled }

// Refunded reports whether the credits of a job in the state were given back.
func (s State) Refunded() bool { return s == Failed || s == Cancelled }

// Code says why a job failed.
type Code string

// The codes of failed jobs. All are refunded.
const (
	UnreadableFile   Code = "unreadable_file"
	ProcessingFailed Code = "processing_failed"
	TimedOut         Code = "timed_out"
)

// ErrNotFound is a job, a batch or a file of a job that does not exist, has
// expired, or is not the asker's.
var ErrNotFound = errors.New("not found")

// Owner decides which jobs are visible. An API key sees the jobs that it made.
// An account itself, with an empty KeyID, sees all jobs of its keys and its
// dashboard.
type Owner struct{ AccountID, KeyID string }

// Media describes a clip: upright, as it decodes. It is zero where a file
// could not be read.
type Media struct {
	Type                      string // media type by the content, such as video/mp4
	FrameCount, Width, Height int
	Duration                  time.Duration // whole milliseconds
}

// pixels are those of all frames.
func (m Media) pixels() int64 { return int64(m.Width) * int64(m.Height) * int64(m.FrameCount) }

// File is something of a job that can be fetched from the blob store.
type File struct {
	Key    string
	Size   int64
	SHA256 string // in hex
}

// jobPrefix begins the ids of jobs.
const jobPrefix = "job_"

// IsID reports whether text can be the id of a job.
func IsID(text string) bool { return id.Valid(jobPrefix, text) }

// Job is one file on its way.
type Job struct {
	ID        string // job_…
	AccountID string
	KeyID     string // empty: made in the dashboard
	BatchID   string // empty: submitted alone
	RequestID string // of the submission, for the log
	State     State
	Error     Code // only when failed
	Options   Options
	// OutputFormat is the effective one, see option.Options.
	OutputFormat option.Format
	OriginalName string
	InputSize    int64
	Media        Media
	Cost         int64 // price in credits
	Charged      int64 // the credits charged, 0 with unlimited credits
	Attempt      int64 // claims so far
	Input        *File // nil: expired
	Preview      *File // nil: not yet, or expired
	Output       *File // nil: not done, or expired
	// Placement is where the input is in the output; nil before it is done.
	Placement *Placement
	// Quality is how the output looks; nil before it is done.
	Quality *Quality
	// OutputSize stays when the output has expired; 0 before it is done.
	OutputSize                    int64
	CreatedAt, StartedAt, EndedAt time.Time // zero: not yet
}

// BatchState sums up the states of a batch's jobs.
type BatchState string

// The states of batches.
const (
	BatchProcessing BatchState = "processing" // some job is queued or processing
	BatchDone       BatchState = "done"       // every job is done
	BatchPartial    BatchState = "partial"    // all have ended, some are not done
)

// Batch is several files submitted together.
type Batch struct {
	ID    string // batch_…
	State BatchState
	Jobs  []Job // in the order of the files
}
