// Package removal does the work of jobs by pkg/bgremove. It is the only bridge
// from the service to pixels.
package removal

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"image"
	"os"
	"path/filepath"
	"time"

	"github.com/bgremove/bgremove/internal/service/job"
	"github.com/bgremove/bgremove/pkg/bgremove"
	"github.com/bgremove/bgremove/pkg/option"
)

// Remover probes and processes clips by pkg/bgremove. It is safe for
// concurrent use.
type Remover struct {
	// FastOnly lets method auto mean fast, where no network is installed. Set
	// it before use.
	FastOnly bool
	// Model is the network of method rembg for jobs that choose none; empty is the
	// default one. Set it before use.
	Model   string
	remover *bgremove.Remover
}

// New makes a Remover of r, which stays the caller's.
func New(r *bgremove.Remover) *Remover { return &Remover{remover: r} }

// Probe describes the clip at path. The error is job.ErrUnreadable, wrapped, a
// *job.LimitError, or that of a machine that lacks ffmpeg.
func (r *Remover) Probe(ctx context.Context, path string, l job.Limits) (job.Media, error) {
	info, err := r.remover.Probe(ctx, path)
	if err != nil {
		return job.Media{}, translate(err)
	}
	if info.Truncated { // and the removal would refuse it, after the charge
		return job.Media{}, fmt.Errorf("%w: it is truncated", job.ErrUnreadable)
	}
	m := job.Media{
		Type: option.Input(info.Container).MediaType(), FrameCount: info.Frames, Width: info.Width, Height: info.Height,
		Duration: time.Duration(info.Duration * float64(time.Second)).Round(time.Millisecond),
	}
	if m.Duration <= 0 {
		return job.Media{}, fmt.Errorf("%w: it lasts %v", job.ErrUnreadable, m.Duration) // a priced clip lasts longer than nothing
	}
	return m, l.Check(m)
}

// Check refuses options that do not go together, by an *option.Error.
func (r *Remover) Check(ctx context.Context, o job.Options) error {
	err := r.remover.CheckBackground(ctx, r.options(o))
	if e := (*bgremove.Error)(nil); errors.As(err, &e) && e.Field != "" {
		return &option.Error{Field: e.Field, Reason: e.Reason}
	}
	return err
}

// translate turns a file's error into one of internal/service/job. Paths of this
// machine, and the library's words, stay in the wrapped error.
func translate(err error) error {
	e := (*bgremove.Error)(nil)
	if !errors.As(err, &e) {
		return err
	}
	switch e.Kind {
	case bgremove.Unreadable:
		return fmt.Errorf("%w: %w", job.ErrUnreadable, err)
	case bgremove.Missing:
		return fmt.Errorf("%w: %w", job.ErrMachine, err)
	case bgremove.TooLarge:
		return tooLarge(e)
	}
	return err
}

// tooLarge puts the facts of an error in words for users of the service.
func tooLarge(e *bgremove.Error) error {
	switch {
	case e.Limit == "":
		return &job.LimitError{Reason: "the clip is too large"}
	case e.Cause == bgremove.OverChildLimits:
		return &job.LimitError{Reason: fmt.Sprintf("it takes more %s than the limit of %s", e.Name, e.Limit)}
	}
	return &job.LimitError{Reason: fmt.Sprintf("%s: over the limit of %s", e.Name, e.Limit)}
}

// Process implements job.Processor.
func (r *Remover) Process(ctx context.Context, t job.Task) (job.Product, error) {
	var shown error
	result, err := r.remover.Remove(ctx, t.Input, output(t), r.options(t.Job.Options), bgremove.Extras{FirstCut: preview(t, &shown)})
	if err = errors.Join(err, shown); err != nil {
		return job.Product{}, translate(err)
	}
	return product(t, result), nil
}

// product is what a job keeps of a result.
func product(t job.Task, result *bgremove.Result) job.Product {
	stages := make(map[string]time.Duration)
	for name, seconds := range result.Timings {
		if name != "total" { // which the worker measures
			stages[name] = time.Duration(seconds * float64(time.Second))
		}
	}
	return job.Product{Path: result.Output, Stages: stages, Placement: placement(t.Job.Media, result), Quality: quality(result.Quality), Details: map[string]any{
		"method": result.Method, "reason": result.Reason, "model": result.Model, "frames": result.Frames, "size": result.OutputSize, "warnings": warningCodes(result.Quality),
	}}
}

// output is the path of a job's output.
func output(t job.Task) string { return filepath.Join(t.Dir, "out."+t.Job.OutputFormat.Extension()) }

// preview shows the first cut-out of a job. The error is set if that fails.
func preview(t job.Task, err *error) func(*image.NRGBA) {
	return func(img *image.NRGBA) {
		var path string
		if path, *err = savePreview(t.Dir, img); *err == nil {
			t.Preview(path)
		}
	}
}

// Study studies a clip for previews of hints, see editor.Config. The caller closes it.
func (r *Remover) Study(ctx context.Context, path string, o job.Options, progress func(share float64)) (*bgremove.Editor, error) {
	e, err := r.remover.Edit(ctx, path, r.options(o), func(p bgremove.Progress) {
		progress(float64(p.Frame) / float64(max(1, p.Frames)))
	})
	return e, translate(err)
}

func quality(q bgremove.Quality) *job.Quality {
	out := &job.Quality{Kept: q.Kept, Warnings: []job.Warning{}}
	for _, w := range q.Warnings {
		out.Warnings = append(out.Warnings, job.Warning{Code: string(w.Code), Message: w.Message})
	}
	return out
}

func warningCodes(q bgremove.Quality) (all []bgremove.WarningCode) {
	for _, w := range q.Warnings {
		all = append(all, w.Code)
	}
	return all
}

func placement(in job.Media, r *bgremove.Result) *job.Placement {
	height := r.Height // of the picture
	if r.OutputFormat == bgremove.Stacked {
		height /= 2
	}
	return &job.Placement{
		Width: r.Width, Height: height, Source: job.Size{Width: in.Width, Height: in.Height},
		Window: jobBox(r.Placement.Window), Target: jobBox(r.Placement.Target), Start: r.Placement.Start,
	}
}

func jobBox(b bgremove.Box) job.Box {
	return job.Box{X: b.X, Y: b.Y, Size: job.Size{Width: b.Width, Height: b.Height}}
}

func (r *Remover) options(o job.Options) bgremove.Options {
	b := o.Removal()
	b.Model = cmp.Or(b.Model, r.Model)
	if r.FastOnly && b.Method == bgremove.Auto {
		b.Method = bgremove.Fast
	}
	b.Format = b.EffectiveFormat()
	return b
}

// savePreview writes a PNG of at most previewSide pixels a side to a folder. Each has a name
// of its own: a part may be done again while the first one is stored.
func savePreview(dir string, img *image.NRGBA) (path string, err error) {
	f, err := os.CreateTemp(dir, "preview-*.png")
	if err != nil {
		return "", fmt.Errorf("preview: %w", err)
	}
	if err := errors.Join(encodePreview(f, img), f.Close()); err != nil {
		return "", fmt.Errorf("preview: %w", err)
	}
	return f.Name(), nil
}
