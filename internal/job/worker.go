package job

import (
	"context"
	"errors"
	"time"
)

// Task is one try at a job.
type Task struct {
	Job   Job
	Input string // path of the input
	Dir   string // an empty folder for the try, removed after it
	// Preview takes a PNG of the first cut-out, in Dir, as soon as there is
	// one. It may be called once, and returns at once.
	Preview func(path string)
}

// Product is what a Processor made.
type Product struct {
	Path    string                   // the output, in Task.Dir
	Stages  map[string]time.Duration // busy time, for the Observer
	Details map[string]any           // for the log
}

// ErrUnreadable is an input that cannot be read. A Processor's errors that are
// it end the job as UnreadableFile, others as ProcessingFailed.
var ErrUnreadable = errors.New("unreadable file")

// Processor does the work of jobs. It must end soon after ctx does.
type Processor interface {
	Process(ctx context.Context, t Task) (Product, error)
}

// Worker runs jobs. Fill it in before Run.
type Worker struct {
	Service   *Service
	Processor Processor
	// Slots is how many jobs run at once; 0 is 1.
	Slots int
	// Drain is how long jobs may go on once Run is told to stop; 0 is 30 s.
	Drain time.Duration
	// TempDir is where tries have their folders; empty is the system's.
	TempDir string
}

// Run claims and runs jobs until ctx ends. Then it claims no more, gives those
// that run Drain to end, gives the rest back to the queue, and returns nil.
// Meanwhile it looks after leases that ran out, of all workers. While the
// database is away it waits for it.
func (w *Worker) Run(ctx context.Context) error { return errors.ErrUnsupported }
