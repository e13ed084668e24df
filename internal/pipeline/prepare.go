package pipeline

import (
	"context"
	"errors"
	"image"
	"time"

	"github.com/bgremove/bgremove/internal/media"
)

// Variant is one of the ways to write a prepared clip. All but Open may be zero. A
// clip that is to be written in several ways, or with fewer frames than Timing
// chooses, must be prepared with Job.Keep.
type Variant struct {
	// Size is the canvas in place of the job's, see canvas.Spec; zero is the job's.
	Size image.Point
	// Gap is the least time from the start of a frame to the start of the next.
	// Others are left out, and the frame before lasts longer.
	Gap time.Duration
	// MaxFrames bounds the frames by a larger Gap; 0 is no bound.
	MaxFrames int
	// Length cuts the clip off; 0 keeps all of it.
	Length time.Duration
	// Sample, if set, writes parts of the clip only, one after the other.
	Sample *Sampling
	// Box, if set, is where the subject of the whole clip is, of which this is a part: a
	// crop is to it.
	Box image.Rectangle
	// Open starts the output. It is called once all about it is known.
	Open func(context.Context, Output) (media.Sink, error)
	// Preview is as in Job.
	Preview func(before, after *image.NRGBA)
}

// Sampling is parts of one length, spread evenly over the clip.
type Sampling struct {
	Parts int
	Span  time.Duration // of all parts together
}

// Prepared is a clip of which all is known that its first frame needs, with its
// mattes. It is for one goroutine.
type Prepared struct {
	runner   *runner
	measured *measurements // nil where one pass does
	plan     plan
	report   Report
}

// Prepare goes through the clip as often as its first output frame needs. The caller
// closes what it returns. When it fails or ctx ends, nothing is left.
func Prepare(ctx context.Context, job Job) (_ *Prepared, err error) {
	r := newRunner(job)
	r.recording = media.NewRecording(job.TempDir)
	p := &Prepared{runner: r, plan: plan{keep: span{0, -1}}}
	defer func() {
		if err != nil {
			err = errors.Join(err, p.Close())
		}
	}()
	measured := job.Canvas.Crop || job.Trim || job.Tidy || job.Largest || job.Survey != nil || job.Keep || r.Harmonise
	if measured {
		r.passes++
	}
	if err := r.study(ctx); err != nil {
		return nil, err
	}
	if measured {
		m, err := r.measure(ctx)
		if err != nil {
			return nil, err
		}
		p.measured = m
		chosen := m.within(r.chosen)
		if chosen.len() < 1 {
			return nil, ErrNoFrames
		}
		m.cutAtEnd(chosen.last, r.chosen)
		p.plan = m.plan(chosen, job.Trim)
		r.report.Trimmed = chosen.len() - p.plan.keep.len()
		r.report.Empty = p.plan.box.Empty()
	}
	p.report = r.report
	return p, nil
}

// Close removes what is kept for the passes to come.
func (p *Prepared) Close() error {
	err := p.runner.recording.Close()
	if p.measured != nil {
		err = errors.Join(err, p.measured.mattes.close())
	}
	return err
}

// Size is that of the output on the job's own canvas.
func (p *Prepared) Size() (image.Point, error) {
	l, err := p.runner.Canvas.Plan(p.runner.source, p.plan.box)
	return l.Size, err
}

// Box is where the subject is in all kept frames together. It needs Job.Keep.
func (p *Prepared) Box() image.Rectangle { return p.plan.box }

// Length is how long the output is, and Frames how many frames it has, where nothing
// is left out. Both need Job.Keep.
func (p *Prepared) Length() time.Duration { return p.plan.end }

// Frames is described at Length.
func (p *Prepared) Frames() int { return p.plan.keep.len() }

// Share is the share of a variant's frames, 0 to 1, that are in its Sample.
func (p *Prepared) Share(v Variant) float64 {
	whole := v
	whole.Sample = nil
	all, part := p.measured.choose(p.plan.keep, whole), p.measured.choose(p.plan.keep, v)
	return float64(len(part)) / float64(max(1, len(all)))
}

// Render writes the clip in one way. When it fails or ctx ends, the sink has been
// aborted and every child process is gone.
func (p *Prepared) Render(ctx context.Context, v Variant) (Report, error) {
	r, plan := p.runner, p.plan
	r.report = p.report
	plan.variant = v
	if p.measured != nil {
		plan.picks = p.measured.choose(plan.keep, v)
		plan.end = length(plan.picks)
		r.report.count(plan, v)
	}
	spec := r.Canvas
	if r.OpenMatte != nil {
		spec.Background = nil // layOut puts it there, when the matte has been made
	}
	if v.Size != (image.Point{}) {
		spec.Width, spec.Height = v.Size.X, v.Size.Y
	}
	if v.Box != (image.Rectangle{}) {
		plan.box = v.Box
	}
	var err error
	if plan.layout, err = spec.Plan(r.source, plan.box); err != nil {
		return Report{}, err
	}
	if err := r.render(ctx, plan); err != nil {
		return Report{}, err
	}
	r.report.Layout = plan.layout
	r.report.Busy = r.clock.total()
	return r.report, nil
}

// count counts the frames that a variant leaves out.
func (r *Report) count(p plan, v Variant) {
	if v.Sample != nil {
		return
	}
	last := p.picks[len(p.picks)-1]
	within := last.index - p.keep.first + 1
	if v.Length == 0 || p.end < v.Length {
		within = p.keep.len()
	}
	r.Dropped += within - len(p.picks)
	r.Cut = p.keep.len() - within
}
