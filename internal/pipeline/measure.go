package pipeline

import (
	"context"
	"errors"
	"image"
	"sort"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/bgremove/bgremove/internal/canvas"
	"github.com/bgremove/bgremove/internal/matte/refine"
	"github.com/bgremove/bgremove/internal/matte/tidy"
	"github.com/bgremove/bgremove/internal/scene"
)

// measurements are the results of the first pass.
type measurements struct {
	origin time.Duration // of the frames' times, in the clip's
	frames []frameMeasurement
	idle   idle
	mattes *matteFile
	volume *tidy.Volume // nil without Tidy
	cuts   refine.CutDetector
	tones  tones // with Harmonise
}

// frameMeasurement is the record of one frame: its time and its subject's box.
type frameMeasurement struct {
	start, end time.Duration
	box        image.Rectangle
}

// plan controls the second pass.
type plan struct {
	layout canvas.Layout
	keep   span
	box    image.Rectangle
	mattes *matteFile // nil: there was no first pass
	// harmony is nil without Harmonise, or where no frame has a subject.
	harmony *scene.Harmony
	volume  *tidy.Volume
	// origin is when the first chosen frame begins, in the clip's time, start
	// when the first kept one does, counted from there, and end when the last
	// one ends, counted from the first kept. Without a first pass only reading
	// tells.
	origin, start, end time.Duration
	variant            Variant
	picks              []pick // nil without a first pass
}

// span is a run of frames, both ends included.
type span struct{ first, last int }

func (s span) len() int { return s.last - s.first + 1 }

// measure runs the first pass: mattes are estimated and kept, boxes, idle ends
// and colours are taken down.
func (r *runner) measure(ctx context.Context) (_ *measurements, err error) {
	src, err := r.open(ctx)
	if err != nil {
		return nil, err
	}
	defer src.Close()
	m := &measurements{}
	if r.Tidy || r.Largest {
		m.volume = tidy.New(r.source)
		m.volume.Largest, m.volume.Faint = r.Largest, r.Faint
	}
	if m.mattes, err = newMatteFile(r.TempDir); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, m.mattes.close())
		}
	}()

	behind, err := r.openScene(ctx, r.lookLayout())
	if err != nil {
		return nil, err
	}
	defer behind.Close()

	g, gctx := errgroup.WithContext(ctx)
	count := 0
	read := produce(gctx, g, func(ctx context.Context) (*item, error) {
		it, err := r.read(ctx, src, count)
		if err != nil {
			return nil, err
		}
		count++
		return it, r.observe(ctx, it, m, behind)
	})
	steps := append(append(r.estimateSteps(), r.lookSteps(&m.tones)...), step{name: "measure", run: func(_ context.Context, it *item) error {
		it.box = subjectBox(it.Image, it.Matte)
		if r.prepares() {
			r.prepare(it)
		}
		return nil
	}})
	cut := r.chain(gctx, g, read, steps)
	consume(gctx, g, cut, func(_ context.Context, it *item) error { return r.record(m, it) })
	if err := g.Wait(); err != nil {
		return nil, err
	}
	if len(m.frames) == 0 {
		return nil, ErrNoFrames
	}
	r.report.Dropped = src.dropped
	m.origin = src.first
	r.firstCut.end()
	return m, nil
}

// observe takes down what a frame shows before it is changed.
func (r *runner) observe(ctx context.Context, it *item, m *measurements, behind *behind) error {
	if r.Trim {
		m.idle.add(it.Image)
	}
	if m.volume != nil {
		it.cut = m.cuts.Next(it.Image)
	}
	if r.prepares() || r.Harmonise {
		return behind.place(ctx, it)
	}
	return nil
}

// prepares reports whether frames of the first pass are cut out.
func (r *runner) prepares() bool { return r.Survey != nil || r.firstCut.wanted.Load() }

// prepare prepares a frame for the survey and the first cut-out.
func (r *runner) prepare(it *item) {
	r.cutOut(it)
	r.harmonise(it, it.Image)
	r.Canvas.Rim.Draw(it.Image)
	if bg := r.Canvas.Background; bg != nil {
		canvas.Flatten(it.Image, *bg)
	}
	if it.behind != nil {
		it.behind.Under(it.Image)
	}
}

// record is the last stage of the first pass.
func (r *runner) record(m *measurements, it *item) error {
	defer r.clock.start("measure")()
	f := it.frame
	m.frames = append(m.frames, frameMeasurement{f.PTS, f.PTS + f.Duration, it.box})
	if r.Survey != nil {
		r.Survey(f.Image)
	}
	r.firstCut.add(f.Image, it.box)
	if m.volume != nil {
		if it.cut {
			m.volume.Cut()
		}
		m.volume.Add(it.Matte)
	}
	err := m.mattes.append(it.Matte, it.Foreground)
	r.pool.Put(f.Image)
	r.mattePool.Put(it.Matte)
	r.flight.leave()
	r.progress(it.index+1, r.Timing.expected(r.info))
	return err
}

// within are the frames of a part; there may be none.
func (m *measurements) within(t Timing) span {
	at := func(i int) time.Duration { return m.origin + m.frames[i].start }
	n := len(m.frames)
	first, end := sort.Search(n, func(i int) bool { return at(i) >= t.Start }), n
	if t.End > 0 {
		end = sort.Search(n, func(i int) bool { return at(i) >= t.End })
	}
	return span{first, end - 1}
}

// cutAtEnd cuts the last frame of a part that was read with a margin, as timedSource cuts it
// without one.
func (m *measurements) cutAtEnd(last int, t Timing) {
	if f := &m.frames[last]; t.End > 0 {
		f.end = min(f.end, t.End-m.origin)
	}
}

// plan decides which frames of a part are kept and unites their boxes.
func (m *measurements) plan(keep span, trim bool) plan {
	p := plan{keep: keep, mattes: m.mattes, volume: m.volume, origin: m.origin}
	p.harmony = scene.Harmonise(m.tones.subject, m.tones.behind, nil)
	if m.volume != nil {
		m.volume.Decide()
		for i := range m.frames {
			m.frames[i].box = m.frames[i].box.Intersect(m.volume.Box(i))
		}
	}
	if trim {
		p.keep = m.idle.active()
	}
	kept := m.frames[p.keep.first : p.keep.last+1]
	for _, f := range kept {
		p.box = p.box.Union(f.box)
	}
	p.start = kept[0].start
	p.end = kept[len(kept)-1].end - p.start
	return p
}
