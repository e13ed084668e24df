package pipeline

import (
	"context"
	"errors"
	"fmt"
	"image"
	"io"
	"sync/atomic"

	"golang.org/x/sync/errgroup"

	"github.com/bgremove/bgremove/internal/canvas"
)

// render runs a last pass: every frame of the plan is cut out, laid out and
// written.
func (r *runner) render(ctx context.Context, p plan) error {
	r.flight = make(flight, cap(r.flight)) // a pass that failed left its frames in their seats
	kept, err := r.openKept(ctx, p)
	if err != nil {
		return err
	}
	defer kept.close()
	var first *item
	if p.mattes == nil {
		first, err = kept.next(ctx)
		if errors.Is(err, io.EOF) {
			return ErrNoFrames
		}
		if err != nil {
			return err
		}
		p.origin, p.end = kept.src.first, kept.src.end-kept.src.first
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	r.report.Start = p.origin + p.start
	sink, err := r.openSinks(ctx, p)
	if err != nil {
		return err
	}
	w := &writer{runner: r, sink: sink, preview: p.variant.Preview, quiet: p.variant.Sample != nil}
	w.wantsPreview.Store(w.preview != nil)
	if err := r.renderStages(ctx, kept, first, w, p); err != nil {
		sink.Abort()
		return err
	}
	if want := len(p.picks); p.mattes != nil && r.report.Frames != want {
		sink.Abort()
		return fmt.Errorf("the clip gave %d frames at first and %d when read again", want, r.report.Frames)
	}
	defer r.clock.start("encode")()
	if err := sink.Close(); err != nil {
		sink.Abort()
		return err
	}
	if p.mattes == nil { // else the first pass, which saw all frames, has said so
		r.report.Dropped = kept.src.dropped
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
		it.harmony = p.harmony
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

// writer is the last stage of the last pass.
type writer struct {
	*runner
	sink    *sinks
	preview func(before, after *image.NRGBA) // may be nil
	quiet   bool                             // makes no progress
	stats   clipStats
	// wantsPreview makes the workers keep source pictures. The first frame is
	// kept in case none has a subject.
	wantsPreview            atomic.Bool
	firstBefore, firstAfter *image.NRGBA
}

func (w *writer) write(ctx context.Context, it *item) error {
	f := it.frame
	w.showPreview(it)
	w.firstCut.add(f.Image, it.box)
	stop := w.clock.start("encode")
	w.report.Frames++
	w.stats.add(it.stats)
	w.report.Duration = max(w.report.Duration, f.PTS+f.Duration)
	err := w.sink.write(ctx, f, it.grey)
	stop()
	w.flight.leave()
	if err != nil {
		return err
	}
	if !w.quiet {
		w.progress(w.report.Frames, w.Timing.expected(w.info))
	}
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
	w.preview(it.before, clone(it.frame.Image))
}

func (w *writer) lastPreview() {
	if w.wantsPreview.Load() && w.firstBefore != nil {
		w.preview(w.firstBefore, w.firstAfter)
	}
}
