package job

import (
	"cmp"
	"context"
	"errors"
	"sync"
	"time"

	"github.com/bgremove/bgremove/internal/system/cores"
	"github.com/bgremove/bgremove/internal/system/scratch"
)

// Task is one attempt at a job.
type Task struct {
	Job   Job
	Input string // path of the input
	Dir   string // an empty folder for the attempt, removed after it
	// Preview takes a PNG of the first cut-out, in Dir, as soon as there is
	// one. It may be called once, and returns at once.
	Preview func(path string)
}

// Product is the result of a Processor.
type Product struct {
	Path    string                   // the output, in Task.Dir
	Stages  map[string]time.Duration // busy time, for the Observer
	Details map[string]any           // for the log
	// Placement is where the input is in the output; nil if that is not known.
	Placement *Placement
	// Quality is how the output looks; nil if that is not known.
	Quality *Quality
}

// ErrUnreadable is an input that cannot be read. A Processor's errors that are
// it end the job as UnreadableFile, others as ProcessingFailed.
var ErrUnreadable = errors.New("unreadable file")

// ErrMachine is a job that this machine cannot do for lack of a program or a
// model. Another one may have it: the lease is left to run out.
var ErrMachine = errors.New("this machine cannot do it")

// Processor does the work of jobs. It must end soon after ctx does.
type Processor interface {
	Process(ctx context.Context, t Task) (Product, error)
}

// Worker runs jobs. Fill it in before Run.
type Worker struct {
	Service   *Service
	Processor Processor
	// Slots is how many jobs run at once, see DefaultSlots; 0 is 1.
	Slots int
	// Drain is the time that running jobs get after Run is told to stop; 0
	// is DefaultDrain.
	Drain time.Duration
	// SplitOver is the duration from which on a clip is done in parts, which are at most that
	// long, if the Processor is a Splitter; 0 is never.
	SplitOver time.Duration
	// TempDir holds the attempts' folders; empty means the system's.
	TempDir string
}

// DefaultDrain is the time to drain.
const DefaultDrain = 30 * time.Second

// DefaultSlots is half of the cores: one job uses several.
func DefaultSlots() int { return max(1, cores.Count()/2) }

// How often the queue is looked at without a wake-up, and again while other
// transactions are in the way.
const (
	pollEvery  = time.Second
	retryFirst = 2 * time.Millisecond
	retryMax   = 100 * time.Millisecond
)

// errDrained is the end of the time to drain.
var errDrained = errors.New("the worker stops")

// Run claims and runs jobs until ctx ends. Then it claims no more, gives those
// that run Drain to end, gives the rest back to the queue, and returns nil.
// Meanwhile it looks after leases that ran out, of all workers. While the
// database is away it waits for it.
func (w *Worker) Run(ctx context.Context) error {
	dir, err := scratch.Open(w.TempDir)
	if err != nil {
		return err
	}
	defer dir.Close()
	var helpers, tries sync.WaitGroup
	defer helpers.Wait()
	wake := make(chan struct{}, 1)
	helpers.Go(func() { w.Service.reap(ctx) })
	helpers.Go(func() {
		_ = w.Service.db.Listen(ctx, jobsTopic, func() { signal(wake) }) // until ctx ends
	})
	// Jobs outlive ctx by Drain.
	running, stop := context.WithCancelCause(context.WithoutCancel(ctx))
	defer stop(nil)
	watching, unwatch := context.WithCancel(context.WithoutCancel(ctx))
	defer unwatch()
	var claimed claims
	helpers.Go(func() { w.watchClaims(watching, &claimed) })
	w.claimAll(ctx, wake, func(c claim) (rest time.Duration) {
		if c.part != nil {
			return w.help(running, *c.part, dir.Path(), &claimed)
		}
		return w.runAttempt(running, c.job, dir.Path(), &claimed)
	}, &tries)
	w.drain(&tries, func() { stop(errDrained) })
	return nil
}

func signal(wake chan<- struct{}) {
	select {
	case wake <- struct{}{}:
	default: // a wake-up waits already
	}
}

// claim is a job, or a part of one that another worker has claimed.
type claim struct {
	job  Job
	part *part
}

// claimAll starts run for all that it claims, in as many goroutines as there are
// slots, until ctx ends. A slot is free when run has ended, and rest is over.
func (w *Worker) claimAll(ctx context.Context, wake chan struct{}, run func(claim) (rest time.Duration), tries *sync.WaitGroup) {
	slots := make(chan struct{}, max(1, w.Slots))
	for {
		select {
		case <-ctx.Done():
			return
		case slots <- struct{}{}:
		}
		c, ok := w.next(ctx, wake)
		if !ok {
			return
		}
		tries.Go(func() {
			defer func() { <-slots }()
			sleep(ctx, run(c), nil)
		})
	}
}

// next waits for a job, or for a part while no job waits, until ctx ends.
func (w *Worker) next(ctx context.Context, wake <-chan struct{}) (claim, bool) {
	for wait := time.Duration(0); ; {
		c, yes, err := w.claim(ctx)
		switch {
		case c != nil:
			return *c, true
		case ctx.Err() != nil:
			return claim{}, false
		case err != nil:
			w.Service.config.Log.ErrorContext(ctx, "poll queue", "error", err)
			wait = pollEvery
		case yes: // another transaction has the rows
			wait = min(max(retryFirst, 2*wait), retryMax)
		default:
			wait = pollEvery
		}
		if !sleep(ctx, wait, wake) {
			return claim{}, false
		}
	}
}

// claim claims what there is. It reports whether there was something, which another
// transaction may have.
func (w *Worker) claim(ctx context.Context) (c *claim, yes bool, err error) {
	s := w.Service
	// A claim that the database has must not be lost to the end of ctx.
	through := context.WithoutCancel(ctx)
	if yes, err = s.claimable(ctx); err != nil || ctx.Err() != nil {
		return nil, yes, err
	}
	if yes {
		j, found, err := s.claim(through)
		if !found {
			return nil, yes, err
		}
		return &claim{job: j}, yes, nil
	}
	if _, ok := w.Processor.(Splitter); !ok {
		return nil, false, nil
	}
	if yes, err = s.anyPart(ctx); err != nil || !yes || ctx.Err() != nil {
		return nil, yes, err
	}
	p, found, err := s.claimPart(through, "")
	if !found {
		return nil, yes, err
	}
	return &claim{part: &p}, yes, nil
}

// sleep waits for the time, a wake-up or the end of ctx, which it tells.
func sleep(ctx context.Context, d time.Duration, wake <-chan struct{}) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-wake:
	case <-timer.C:
	}
	return true
}

// drain waits for the running attempts, and stops them when their time is over.
func (w *Worker) drain(tries *sync.WaitGroup, stop func()) {
	timer := time.AfterFunc(cmp.Or(w.Drain, DefaultDrain), stop)
	defer timer.Stop()
	tries.Wait()
}
