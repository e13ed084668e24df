package job

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/bgremove/bgremove/internal/service/blob"
)

// errPart is a part that failed as often as it may, or lost its file. The clip is then done as a
// whole.
var errPart = errors.New("a part of the clip cannot be done by itself")

// process does the work on a clip, in parts if it is long.
func (t *attempt) process(ctx context.Context, task Task) (Product, error) {
	parts, err := t.split(ctx, task)
	if err != nil {
		return Product{}, err
	}
	if len(parts) > 0 {
		t.divided = true
		product, err := t.inParts(ctx, task, parts)
		if !errors.Is(err, errPart) && !errors.Is(err, blob.ErrNoTempSpace) {
			return product, err
		}
		t.Service.config.Log.Warn("clip is done as a whole", "job", t.job.ID, "error", err)
	}
	return t.Processor.Process(ctx, task)
}

// split divides the clip, if it is long enough.
func (t *attempt) split(ctx context.Context, task Task) ([]Part, error) {
	s, ok := t.Processor.(Splitter)
	if !ok || t.SplitOver <= 0 || t.job.Media.Duration <= t.SplitOver {
		return nil, nil
	}
	return s.Split(ctx, task, t.SplitOver)
}

// inParts does a clip in parts, together with workers for whom no job waits.
func (t *attempt) inParts(ctx context.Context, task Task, parts []Part) (Product, error) {
	tasks := make([]partTask, len(parts))
	for i, p := range parts {
		tasks[i].Part = p
	}
	mattes, err := t.doAll(ctx, task, matteStep, tasks)
	if err != nil {
		return Product{}, err
	}
	var box Box
	for i, p := range mattes {
		box = box.around(p.result.Box)
		tasks[i].Mattes = p.key
	}
	for i := range tasks {
		tasks[i].Box = box
	}
	videos, err := t.doAll(ctx, task, renderStep, tasks)
	if err != nil {
		return Product{}, err
	}
	rendered, release, err := t.fetchParts(ctx, videos)
	defer release()
	if err != nil {
		return Product{}, err
	}
	return t.Processor.(Splitter).JoinParts(ctx, task, rendered)
}

// fetchParts fetches the videos of parts, until release is called. The error is errPart if one is
// gone: a restored backup knows parts that were done, and has none of their files.
func (t *attempt) fetchParts(ctx context.Context, videos []part) (parts []RenderedPart, release func(), err error) {
	var releases []func()
	release = func() {
		for _, f := range releases {
			f()
		}
	}
	for _, p := range videos {
		path, f, err := t.Service.blobs.LocalNow(ctx, p.key)
		if errors.Is(err, blob.ErrNotFound) {
			err = fmt.Errorf("%w: %w", errPart, err)
		}
		if err != nil {
			return nil, release, err
		}
		releases = append(releases, f)
		parts = append(parts, RenderedPart{path, p.result.Report})
	}
	return parts, release, nil
}

// around is the smallest box around two, of which empty ones do not count.
func (b Box) around(other Box) Box {
	switch {
	case b.Width == 0:
		return other
	case other.Width == 0:
		return b
	}
	x, y := min(b.X, other.X), min(b.Y, other.Y)
	return Box{x, y, Size{max(b.X+b.Width, other.X+other.Width) - x, max(b.Y+b.Height, other.Y+other.Height) - y}}
}

// doAll does a step of all parts, and waits for those that others do. While the database is
// away it waits for that.
func (t *attempt) doAll(ctx context.Context, task Task, step partStep, tasks []partTask) ([]part, error) {
	s := t.Service
	if err := t.persist(ctx, func(ctx context.Context) error { return s.openParts(ctx, t.job, step, tasks) }); err != nil {
		return nil, err
	}
	wake := make(chan struct{}, 1)
	listening, stop := context.WithCancel(ctx)
	var listener sync.WaitGroup
	defer listener.Wait()
	defer stop()
	listener.Go(func() {
		_ = s.db.Listen(listening, partsTopic, func() { signal(wake) }) // until listening ends
	})
	for {
		var p part
		var found bool
		err := t.persist(ctx, func(ctx context.Context) (err error) {
			p, found, err = s.claimPart(ctx, t.job.ID)
			return err
		})
		if err == nil && found {
			if err = t.doPart(ctx, task, p); err == nil || ctx.Err() == nil && errors.Is(err, errLost) {
				continue
			}
		}
		if err != nil {
			return nil, err
		}
		if all, done, err := t.parts(ctx, step, len(tasks)); done || err != nil {
			return all, err
		}
		if !sleep(ctx, pollEvery, wake) {
			return nil, context.Cause(ctx)
		}
	}
}

// parts are those of a step, and whether all are done. The error is errPart if one failed too
// often, or errLost if there are not so many as this attempt has opened: another one has replaced
// them, or the job has ended.
func (t *attempt) parts(ctx context.Context, step partStep, opened int) (all []part, done bool, err error) {
	err = t.persist(ctx, func(ctx context.Context) (err error) {
		all, err = t.Service.partsOf(ctx, t.job.ID, step)
		return err
	})
	if err == nil && len(all) != opened {
		return nil, false, errLost
	}
	for _, p := range all {
		if p.failed {
			return nil, false, fmt.Errorf("%w: %s %d", errPart, p.step, p.n)
		}
	}
	return all, !slices.ContainsFunc(all, func(p part) bool { return !p.done }), err
}

// doPart does a claimed part, as holdPart says.
func (t *attempt) doPart(ctx context.Context, task Task, p part) error {
	return t.holdPart(ctx, p, func(lease context.Context) error { return t.makePart(lease, task, p) })
}

// holdPart keeps the claim of a part while do works on it. It gives back a part that fails, which
// another may do better. The error is errLost where another has the part, or the job is no more. Other
// errors end the attempt at the job: this machine or the storage is at fault, or ctx has ended.
func (t *attempt) holdPart(ctx context.Context, p part, do func(lease context.Context) error) error {
	s := t.Service
	limited, cancel := context.WithTimeoutCause(ctx, timeLimit(s.config.TimeLimit, t.job.Media.Duration), errTimedOut)
	defer cancel()
	lease, lose := context.WithCancelCause(limited)
	var beats sync.WaitGroup
	defer func() { lose(nil); beats.Wait() }()
	beats.Go(func() {
		s.keep(ctx, hold{lease, lose}, func(ctx context.Context) error { return s.renewPart(ctx, p) })
	})
	err := do(lease)
	if err == nil {
		return nil
	}
	lost := ctx.Err() == nil && errors.Is(context.Cause(lease), errLost) || errors.Is(err, errLost)
	fault := ctx.Err() != nil || errors.Is(err, ErrMachine) || outOfSpace(err) || codeOf(err) == ""
	back := t.givePartBack(ctx, p, !fault && !lost) // also where the job was lost, and not the part
	switch {
	case lost:
		return errLost
	case back != nil && !errors.Is(back, errLost):
		return errors.Join(err, back)
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case fault:
		return err
	}
	s.config.Log.Warn("part failed", "job", p.jobID, "step", p.step, "part", p.n, "error", err)
	return nil
}

// givePartBack returns a part. Like all else it waits for a database that is away, but not for
// long once ctx has ended.
func (t *attempt) givePartBack(ctx context.Context, p part, failed bool) error {
	if ctx.Err() != nil {
		after, cancel := context.WithTimeout(context.WithoutCancel(ctx), lostWithin)
		defer cancel()
		ctx = after
	}
	return t.persist(ctx, func(ctx context.Context) error { return t.Service.returnPart(ctx, p, failed) })
}

// makePart does a step, and makes the part done.
func (t *attempt) makePart(ctx context.Context, task Task, p part) error {
	began := time.Now()
	result, key, err := t.partWork(ctx, task, p)
	if t.previews.Wait(); err == nil { // a part that is done is not shown again
		err = t.previewErr
	}
	if err == nil {
		err = t.persist(ctx, func(ctx context.Context) error { return t.Service.finishPart(ctx, p, result, key) })
	}
	if err == nil {
		t.stage(string(p.step)+"_part", began)
	}
	return err
}

// partWork does a step and stores its file.
func (t *attempt) partWork(ctx context.Context, task Task, p part) (r partResult, key string, err error) {
	s, splitter := t.Service, t.Processor.(Splitter)
	key = fmt.Sprintf("%s%s/%s-%d-%d", partPrefix, p.jobID, p.step, p.n, p.attempt)
	file := filepath.Join(task.Dir, filepath.Base(key))
	defer os.Remove(file)
	if p.step == matteStep {
		r.Box, err = splitter.MattePart(ctx, task, p.task.Part, file)
	} else {
		var mattes string
		var release func()
		if mattes, release, err = s.blobs.LocalNow(ctx, p.task.Mattes); err != nil {
			return r, key, err
		}
		defer release()
		r.Report, err = splitter.RenderPart(ctx, task, p.task.Part, mattes, file, p.task.Box)
	}
	if err == nil {
		_, err = s.blobs.PutFile(ctx, key, file)
	}
	return r, key, err
}

// help does a part of a job that another worker has claimed. It returns for how long the place
// is to stay empty.
func (w *Worker) help(running context.Context, p part, scratch string, claimed *claims) (rest time.Duration) {
	log := w.Service.config.Log.With("job", p.jobID, "step", p.step, "part", p.n)
	j, err := scanJob(w.Service.db.QueryRowContext(running, "SELECT "+columns+" FROM jobs WHERE id = $1", p.jobID))
	if err != nil {
		log.Error("part left for others", "error", err)
		return w.Service.config.Lease
	}
	t := &attempt{Worker: w, job: j, began: time.Now(), helps: p.attempt}
	t.lease, t.lose = context.WithCancelCause(running)
	defer t.lose(nil)
	defer claimed.add(t)()
	err = t.holdPart(t.lease, p, func(lease context.Context) error {
		return t.withInput(lease, scratch, func(task Task) error { return t.makePart(lease, task, p) })
	})
	log = log.With("took", time.Since(t.began))
	switch {
	case err == nil, errors.Is(err, errLost):
		log.Info("help ended", "lost", err != nil)
	case running.Err() != nil:
		log.Info("part given back")
	default:
		log.Error("part given back", "error", err)
		return w.Service.config.Lease
	}
	return 0
}
