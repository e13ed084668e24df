package job

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"sync"
	"syscall"
	"time"

	"github.com/bgremove/bgremove/internal/service/blob"
	"github.com/bgremove/bgremove/internal/service/store"
)

// Why an attempt ends without an output.
var (
	errTimedOut = errors.New("the time limit is over")
	errNoFolder = errors.New("no folder to work in")
)

// attempt is one claim of a job, from its first heartbeat to the state it leaves.
type attempt struct {
	*Worker
	job   Job
	began time.Time
	// lease ends when the job is not ours any more.
	lease context.Context
	lose  context.CancelCauseFunc
	// previews are on their way.
	previews   sync.WaitGroup
	shown      sync.Once
	previewErr error
	divided    bool // into parts
	// helps is the claim of the part that it does for another worker; 0: it does a job.
	helps int64
}

// runAttempt runs a claimed job. When running ends the job is given back. It returns for how
// long the place is to stay empty.
func (w *Worker) runAttempt(running context.Context, j Job, scratch string, claimed *claims) (rest time.Duration) {
	t := &attempt{Worker: w, job: j, began: time.Now()}
	t.lease, t.lose = context.WithCancelCause(context.WithoutCancel(running))
	defer t.lose(nil)
	defer claimed.add(t)()
	if j.Attempt == 1 {
		w.Service.config.Observer.Claimed(j.StartedAt.Sub(j.CreatedAt))
	}
	var beats sync.WaitGroup
	beats.Go(func() { t.heartbeat(running) })
	defer func() { t.lose(nil); beats.Wait() }()

	limit := timeLimit(w.Service.config.TimeLimit, j.Media.Duration)
	work, cancel := context.WithTimeoutCause(t.lease, limit, errTimedOut)
	defer cancel()
	work, stop := context.WithCancelCause(work)
	defer stop(nil)
	defer context.AfterFunc(running, func() { stop(context.Cause(running)) })()

	output, product, err := t.work(work, scratch)
	if err != nil && work.Err() != nil {
		err = context.Cause(work)
	}
	t.recordOutcome(running, output, product, err)
	if errors.Is(err, ErrMachine) {
		return unfitLeases * w.Service.config.Lease
	}
	return 0
}

// heartbeat renews the lease until it is lost. While the database is unreachable
// nobody else can claim the job, so the work continues, and its result is kept
// for later. Only a stopping worker does not wait longer than one lease.
func (t *attempt) heartbeat(running context.Context) {
	t.Service.keep(running, hold{t.lease, t.lose}, func(ctx context.Context) error { return t.Service.renew(ctx, t.job) })
}

// hold is a lease: a context that ends with it, and what ends that.
type hold struct {
	lease context.Context
	lose  context.CancelCauseFunc
}

// keep renews a lease until it ends or is lost, as heartbeat says.
func (s *Service) keep(running context.Context, h hold, renew func(context.Context) error) {
	lease := s.config.Lease
	ticker := time.NewTicker(max(time.Millisecond, lease/3))
	defer ticker.Stop()
	for renewed := time.Now(); ; {
		select {
		case <-h.lease.Done():
			return
		case <-ticker.C:
		}
		at := time.Now()
		ctx, cancel := context.WithTimeout(h.lease, lease)
		err := renew(ctx)
		cancel()
		switch {
		case err == nil:
			renewed = at
		case errors.Is(err, errLost), running.Err() != nil && time.Since(renewed) > lease:
			h.lose(errLost)
			return
		}
	}
}

// work fetches, processes and stores.
func (t *attempt) work(ctx context.Context, scratch string) (output File, product Product, err error) {
	err = t.withInput(ctx, scratch, func(task Task) error {
		began := time.Now()
		if product, err = t.process(ctx, task); err != nil {
			return err
		}
		t.stage("process", began)
		for name, busy := range product.Stages {
			t.Service.config.Observer.Stage(name, busy)
		}
		began = time.Now()
		if output, err = t.storeFile(ctx, t.objectKey("out", t.job.OutputFormat.Extension()), product.Path); err != nil {
			return err
		}
		t.stage("store", began)
		t.previews.Wait()
		return t.previewErr
	})
	return output, product, err
}

// withInput fetches the input and calls f, which has a folder.
func (t *attempt) withInput(ctx context.Context, scratch string, f func(Task) error) error {
	if t.job.Input == nil { // a restored backup may know of jobs whose files are gone
		return blob.ErrNotFound
	}
	dir, err := os.MkdirTemp(scratch, "job-*")
	if err != nil {
		return fmt.Errorf("%w: %w", errNoFolder, err)
	}
	defer os.RemoveAll(dir)
	defer t.previews.Wait()
	began := time.Now()
	input, release, err := t.Service.blobs.Local(ctx, t.job.Input.Key)
	if err != nil {
		return err
	}
	defer release()
	t.stage("fetch", began)
	return f(Task{Job: t.job, Input: input, Dir: dir, Preview: func(path string) { t.showPreview(ctx, path) }})
}

func (t *attempt) stage(name string, began time.Time) {
	t.Service.config.Observer.Stage(name, time.Since(began))
}

// objectKey is where a file of this attempt lies: no other attempt writes there, and no helper.
func (t *attempt) objectKey(what, extension string) string {
	if t.helps != 0 {
		what = fmt.Sprintf("%s-%d", what, t.helps)
	}
	return fmt.Sprintf("%s%s/%s-%d.%s", outputPrefix, t.job.ID, what, t.job.Attempt, extension)
}

func (t *attempt) storeFile(ctx context.Context, key, path string) (File, error) {
	o, err := t.Service.blobs.PutFile(ctx, key, path)
	return File{Key: key, Size: o.Size, SHA256: o.SHA256}, err
}

// showPreview stores a preview beside the work: the first one, where a part is done again or
// the clip as a whole after its parts.
func (t *attempt) showPreview(ctx context.Context, path string) {
	t.shown.Do(func() {
		t.previews.Go(func() {
			f, err := t.storeFile(ctx, t.objectKey("preview", "png"), path)
			if err == nil {
				err = t.persist(ctx, func(ctx context.Context) error { return t.Service.preview(ctx, t.job, f) })
			}
			t.previewErr = err
		})
	})
}

// recordOutcome leaves the job in the state that the work ended in. It may wait until
// running ends.
func (t *attempt) recordOutcome(running context.Context, output File, product Product, err error) {
	s, outcome := t.Service, string(Done)
	log := s.config.Log.With("job", t.job.ID, "request", t.job.RequestID, "attempt", t.job.Attempt)
	var change func(context.Context) error
	switch code := codeOf(err); {
	case err == nil:
		change = func(ctx context.Context) error { return s.finish(ctx, t.job, output, product) }
	case errors.Is(err, errLost):
		t.recordLost(log)
		return
	case errors.Is(err, errDrained):
		outcome, change = "returned", func(ctx context.Context) error { return s.returnJob(ctx, t.job) }
	case errors.Is(err, ErrMachine):
		log.Error("job left for another node", "error", err)
		return
	case outOfSpace(err):
		log.Error("job attempt lost: out of space", "error", err)
		t.pause(running, unfitLeases*s.config.Lease)
		outcome, change = "returned", func(ctx context.Context) error {
			lost, failed, err := s.countLost(ctx, t.job, "")
			switch {
			case err == nil && !lost:
				return errLost
			case failed:
				outcome = string(ProcessingFailed)
			}
			return err
		}
	case code == "":
		log.Error("job returned: machine or storage at fault", "error", err)
		// The place stays taken meanwhile: other jobs would fare no better.
		t.pause(running, s.config.Lease)
		outcome, change = "returned", func(ctx context.Context) error { return s.returnJob(ctx, t.job) }
	default:
		outcome, change = string(code), func(ctx context.Context) error { return s.fail(ctx, t.job, code) }
	}
	switch lost := t.persist(t.lease, change); {
	case errors.Is(lost, errLost):
		t.recordLost(log)
		return
	case lost != nil:
		log.Error("end job", "outcome", outcome, "error", lost)
		return
	}
	if err == nil && t.divided {
		t.dropParts(log)
	}
	s.config.Observer.Ended(outcome, time.Since(t.began))
	log.Info("job ended", "outcome", outcome, "took", time.Since(t.began), "details", product.Details, "error", err)
}

// lostWithin bounds what an attempt does when it has no claim any more.
const lostWithin = 10 * time.Second

// dropParts removes what this attempt's parts have left. It comes after the job's end: an
// attempt that has lost its lease does not reach it, or it would take the next one's parts.
func (t *attempt) dropParts(log *slog.Logger) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(t.lease), lostWithin)
	defer cancel()
	if _, err := t.Service.dropParts(ctx, t.job.ID); err != nil {
		log.Warn("parts left to the sweeper", "error", err)
	}
}

// recordLost ends an attempt without a claim: its job was cancelled, or was given to
// another worker.
func (t *attempt) recordLost(log *slog.Logger) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(t.lease), lostWithin)
	defer cancel()
	if gone, _ := t.Service.cancelled(ctx, []*attempt{t}); !gone[t.job.ID] {
		log.Warn("job lease lost")
		return // reapAll has counted it
	}
	t.discard(ctx)
	t.Service.config.Observer.Ended(string(Cancelled), time.Since(t.began))
	log.Info("job cancelled", "took", time.Since(t.began))
}

// pause keeps the place for a time, unless the worker stops or the job is cancelled.
func (t *attempt) pause(running context.Context, d time.Duration) {
	ctx, stop := context.WithCancel(t.lease)
	defer stop()
	defer context.AfterFunc(running, stop)()
	sleep(ctx, d, nil)
}

// codeOf returns the error code of a failure for the user. It is empty if the
// machine or the storage is at fault and another attempt may succeed.
func codeOf(err error) Code {
	var storage *blob.Error
	switch {
	case errors.Is(err, ErrUnreadable):
		return UnreadableFile
	case errors.Is(err, errTimedOut):
		return TimedOut
	case errors.As(err, &storage), errors.Is(err, errNoFolder):
		return ""
	}
	return ProcessingFailed
}

// unfitLeases is how many leases a place stays taken after a job that the machine cannot do.
// Otherwise it would take the jobs behind from machines that can, and fail them.
const unfitLeases = 4

// outOfSpace reports whether the machine has no room for the work. It may be
// another's fault, and another attempt help, but not for ever: a clip can need more
// than there is. A storage that is full is nobody's clip's fault.
func outOfSpace(err error) bool {
	var storage *blob.Error
	return errors.Is(err, blob.ErrNoTempSpace) || errors.Is(err, syscall.ENOSPC) && !errors.As(err, &storage)
}

// persist changes the database, again while it is away and the lease holds. After the end of
// ctx the error is its cause, too: a change that was under way only knows that it was stopped.
func (t *attempt) persist(ctx context.Context, change func(context.Context) error) error {
	for wait := retryFirst; ; wait = min(2*wait, pollEvery) {
		err := change(ctx)
		if err == nil || errors.Is(err, errLost) || ctx.Err() == nil && !store.Unavailable(err) {
			return err
		}
		if !sleep(ctx, wait, nil) {
			return errors.Join(context.Cause(ctx), err)
		}
	}
}
