package pipeline

import (
	"context"
	"errors"
	"fmt"
	"image"
	"io"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/bgremove/bgremove/internal/canvas"
	"github.com/bgremove/bgremove/internal/media"
)

// render runs the last pass: every kept frame is cut out, laid out and
// written.
func (r *runner) render(ctx context.Context, p plan) error {
	src, err := r.open(ctx)
	if err != nil {
		return err
	}
	defer src.Close()
	behind, err := r.openScene(ctx, p.layout)
	if err != nil {
		return err
	}
	defer behind.Close()
	kept := &keptItems{runner: r, src: src, plan: p, behind: behind}
	var first *item
	if p.mattes == nil {
		first, err = kept.next(ctx)
		if errors.Is(err, io.EOF) {
			return ErrNoFrames
		}
		if err != nil {
			return err
		}
		p.origin, p.end = src.first, src.end-src.first
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	r.report.Start = p.start
	sink, err := r.Open(ctx, Output{Size: p.layout.Size, First: p.origin + p.start, End: p.end, Pool: r.pool, Workers: r.Workers})
	if err != nil {
		return err
	}
	w := &writer{runner: r, sink: sink, offset: p.start}
	w.wantsPreview.Store(r.Preview != nil)
	if err := r.renderStages(ctx, kept, first, w, p); err != nil {
		sink.Abort()
		return err
	}
	if want := p.keep.last - p.keep.first + 1; p.mattes != nil && r.report.Frames != want {
		sink.Abort()
		return fmt.Errorf("the clip gave %d frames at first and %d when read again", want, r.report.Frames)
	}
	defer r.clock.start("encode")()
	if err := sink.Close(); err != nil {
		sink.Abort()
		return err
	}
	if p.mattes == nil { // else the first pass, which saw all frames, has said so
		r.report.Dropped = src.dropped
	}
	return nil
}

// renderStages moves the frames of the last pass from the source to w. The first
// may have been read already.
func (r *runner) renderStages(ctx context.Context, kept *keptItems, first *item, w *writer, p plan) error {
	renderer := canvas.NewRenderer(p.layout, r.source, r.pool)
	g, gctx := errgroup.WithContext(ctx)
	items := produce(gctx, g, func(ctx context.Context) (*item, error) {
		if it := first; it != nil {
			first = nil
			return it, nil
		}
		return kept.next(ctx)
	})
	var steps []step
	if p.mattes == nil {
		steps = r.estimateSteps()
	}
	steps = append(steps, step{name: "cut out", run: func(_ context.Context, it *item) error {
		if w.wantsPreview.Load() {
			it.before = clone(it.Image)
		}
		if it.before != nil || r.firstCut.wanted.Load() {
			it.box = subjectBox(it.Image, it.Matte)
		}
		it.see()
		r.decontaminate(it)
		it.stats = r.frameStats(it)
		r.multiply(it)
		r.mattePool.Put(it.Matte)
		it.Matte = nil
		return nil
	}}, step{name: "lay out", run: func(_ context.Context, it *item) error {
		r.layOut(it, renderer)
		return nil
	}})
	done := r.chain(gctx, g, items, steps)
	consume(gctx, g, done, w.write)
	if err := g.Wait(); err != nil {
		return err
	}
	w.lastPreview()
	r.report.Quality = w.stats.quality()
	r.firstCut.end()
	return nil
}

// keptItems reads the frames of a plan, with their mattes where there was a
// first pass.
type keptItems struct {
	*runner
	src  *timedSource
	plan plan
	n    int

	behind *behind
}

func (k *keptItems) next(ctx context.Context) (*item, error) {
	for {
		if last := k.plan.keep.last; last >= 0 && k.n > last {
			return nil, io.EOF
		}
		it, err := k.read(ctx, k.src, k.n)
		if err != nil {
			return nil, err
		}
		k.n++
		if k.plan.mattes != nil {
			it.Matte = k.newMatte()
			if it.Foreground, err = k.plan.mattes.read(it.index, it.Matte); err != nil {
				return nil, err
			}
			if k.plan.volume != nil {
				k.plan.volume.Clean(it.index, it.Matte)
			}
		}
		if it.index >= k.plan.keep.first {
			return it, k.behind.place(ctx, it, k.plan.start)
		}
		k.pool.Put(it.frame.Image)
		k.mattePool.Put(it.Matte)
		k.flight.leave()
	}
}

// writer is the last stage of the last pass.
type writer struct {
	*runner
	sink   media.Sink
	offset time.Duration // PTS of the first frame written
	stats  clipStats
	// wantsPreview makes the workers keep source pictures. The first frame is
	// kept in case none has a subject.
	wantsPreview            atomic.Bool
	firstBefore, firstAfter *image.NRGBA
}

func (w *writer) write(ctx context.Context, it *item) error {
	f := it.frame
	f.PTS -= w.offset
	w.showPreview(it)
	w.firstCut.add(f.Image, it.box)
	stop := w.clock.start("encode")
	w.report.Frames++
	w.stats.add(it.stats)
	w.report.Duration = max(w.report.Duration, f.PTS+f.Duration)
	err := w.sink.Write(ctx, f)
	stop()
	w.flight.leave()
	if err != nil {
		return err
	}
	w.progress(w.report.Frames, w.Timing.expected(w.info))
	return nil
}

func (w *writer) showPreview(it *item) {
	if it.before == nil || !w.wantsPreview.Load() {
		return
	}
	if it.box.Empty() {
		if w.firstBefore == nil {
			w.firstBefore, w.firstAfter = it.before, clone(it.frame.Image)
		}
		return
	}
	w.wantsPreview.Store(false)
	w.Preview(it.before, clone(it.frame.Image))
}

func (w *writer) lastPreview() {
	if w.wantsPreview.Load() && w.firstBefore != nil {
		w.Preview(w.firstBefore, w.firstAfter)
	}
}
