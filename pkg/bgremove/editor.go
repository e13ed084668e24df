package bgremove

import (
	"context"
	"image"
	"sync"
	"time"

	"github.com/bgremove/bgremove/internal/matte/segment"
	"github.com/bgremove/bgremove/internal/media"
	"github.com/bgremove/bgremove/internal/pipeline"
	"github.com/bgremove/bgremove/pkg/option"
)

// Editor shows what hints would make of a clip's mattes, without the work on the whole
// clip. It is safe for concurrent use.
type Editor struct {
	remover   *Remover
	options   Options
	info      media.Info
	estimator *segment.Estimator
	mu        sync.Mutex // of estimator
}

// Edit studies the clip at input by AI segmentation and motion, whatever the options say, for an
// Editor. Their Hints are left out of it. It calls progress, if set, after every frame.
// The caller closes the Editor. The errors are those of Remove with hints.
func (r *Remover) Edit(ctx context.Context, input string, o Options, progress func(Progress)) (*Editor, error) {
	o.Method, o.NoMotion, o.Hints = Rembg, false, nil
	if err := Validate(o); err != nil {
		return nil, err
	}
	e, err := r.edit(ctx, input, o, progress)
	if err != nil {
		return nil, ended(ctx, explain(input, err))
	}
	return e, nil
}

func (r *Remover) edit(ctx context.Context, path string, o Options, progress func(Progress)) (*Editor, error) {
	j := &removal{Remover: r, options: o, timings: map[string]float64{}}
	in, err := j.look(ctx, path)
	if err != nil {
		return nil, err
	}
	e := &Editor{remover: r, options: o, info: in.clip.Info()}
	if e.estimator, _, err = r.estimator(ctx, o, segment.Options{Previews: true}); err != nil {
		return nil, err
	}
	job := pipeline.Job{Clip: in.clip, Estimator: e.estimator, Timing: timingOf(o, e.info), TempDir: r.config.TempDir, Workers: r.config.Workers, Memory: r.config.Memory}
	if progress != nil {
		job.Progress = func(p pipeline.Progress) { progress(Progress(p)) }
	}
	if err := pipeline.Study(ctx, job); err != nil {
		_ = e.Close() // the study's error says why
		return nil, err
	}
	return e, nil
}

// Preview is the matte of the frame that is shown at a time of the clip, as hints would
// make it: opaque where the subject is. It has the size in which the network sees the
// clip, and so neither fine edges nor what the clip's backdrop tells of them. The error
// is an *Error of kind Invalid where a hint does not fit the clip, and the cause of ctx where
// that ends. What was followed of the hints is kept: the next call goes on from there.
func (e *Editor) Preview(ctx context.Context, at time.Duration, hints []option.Hint) (*image.Alpha, error) {
	o := e.options
	o.Hints = hints
	if err := Validate(o); err != nil {
		return nil, err
	}
	wishes, err := e.remover.hints(o, e.info)
	if err != nil {
		return nil, err
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.estimator.Preview(ctx, at, wishes)
}

// Close removes what is kept of the clip.
func (e *Editor) Close() error {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.estimator.Close()
}
