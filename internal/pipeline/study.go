package pipeline

import (
	"context"

	"golang.org/x/sync/errgroup"

	"github.com/bgremove/bgremove/internal/matte"
	"github.com/bgremove/bgremove/internal/scene"
)

// Study runs only the pass in which the job's estimator learns about the clip. It writes
// nothing, and needs neither Open nor Canvas.
func Study(ctx context.Context, job Job) error {
	r := newRunner(job)
	r.passes = 0 // none follows
	return r.study(ctx)
}

// study runs the pass in which the estimator learns about the clip, if it wants one.
func (r *runner) study(ctx context.Context) error {
	e, ok := r.Estimator.(matte.Studier)
	if !ok {
		return nil
	}
	steps := r.steps(e.Study(), false)
	if len(steps) == 0 {
		return nil
	}
	r.passes++
	src, err := r.open(ctx)
	if err != nil {
		return err
	}
	defer src.Close()
	behind := &behind{}
	if r.firstCut.wanted.Load() {
		if behind, err = r.openScene(ctx, scene.Plain(r.source)); err != nil {
			return err
		}
		defer behind.Close()
	}
	g, gctx := errgroup.WithContext(ctx)
	count := 0
	read := produce(gctx, g, func(ctx context.Context) (*item, error) {
		it, err := r.read(ctx, src, count)
		count++
		if err == nil && r.firstCut.wanted.Load() {
			err = behind.place(ctx, it)
		}
		return it, err
	})
	steps = append(steps, step{name: "draft", run: func(ctx context.Context, it *item) error { return r.draft(ctx, e, it) }})
	consume(gctx, g, r.chain(gctx, g, read, steps), func(_ context.Context, it *item) error {
		if it.Matte != nil {
			r.firstCut.add(it.Image, it.box)
			r.mattePool.Put(it.Matte)
		}
		r.pool.Put(it.frame.Image)
		r.flight.leave()
		r.progress(it.index+1, r.Timing.expected(r.info))
		return nil
	})
	if err := g.Wait(); err != nil {
		return err
	}
	return e.Conclude(ctx)
}

// draft cuts a frame out by its first matte, as long as FirstCut waits for a subject.
func (r *runner) draft(ctx context.Context, e matte.Studier, it *item) error {
	if !r.firstCut.wanted.Load() {
		return nil
	}
	it.Matte = r.newMatte()
	if err := e.Draft(ctx, &it.Estimate); err != nil {
		return err
	}
	it.box = subjectBox(it.Image, it.Matte)
	r.prepare(it)
	return nil
}
