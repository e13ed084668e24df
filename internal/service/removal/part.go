package removal

import (
	"context"
	"encoding/json"
	"errors"
	"image"
	"time"

	"github.com/bgremove/bgremove/internal/service/job"
	"github.com/bgremove/bgremove/pkg/bgremove"
)

// Split implements job.Splitter.
func (r *Remover) Split(ctx context.Context, t job.Task, length time.Duration) ([]job.Part, error) {
	found, err := r.remover.Split(ctx, t.Input, r.options(t.Job.Options), length)
	if err != nil {
		return nil, translate(err)
	}
	parts := make([]job.Part, len(found))
	for i, p := range found {
		parts[i] = job.Part(p)
	}
	return parts, nil
}

// MattePart implements job.Splitter. The first part shows the preview.
func (r *Remover) MattePart(ctx context.Context, t job.Task, p job.Part, file string) (job.Box, error) {
	var shown error
	var firstCut func(*image.NRGBA)
	o := r.options(t.Job.Options)
	if p.Start == o.Start {
		firstCut = preview(t, &shown)
	}
	box, err := r.remover.MattePart(ctx, t.Input, file, o, bgremove.Part(p), firstCut)
	return jobBox(box), translate(errors.Join(err, shown))
}

// RenderPart implements job.Splitter.
func (r *Remover) RenderPart(ctx context.Context, t job.Task, p job.Part, mattes, file string, box job.Box) (json.RawMessage, error) {
	around := bgremove.Box{X: box.X, Y: box.Y, Width: box.Width, Height: box.Height}
	part, err := r.remover.RenderPart(ctx, t.Input, mattes, file, r.options(t.Job.Options), bgremove.Part(p), around)
	return part.Report, translate(err)
}

// JoinParts implements job.Splitter.
func (r *Remover) JoinParts(ctx context.Context, t job.Task, parts []job.RenderedPart) (job.Product, error) {
	videos := make([]bgremove.RenderedPart, len(parts))
	for i, p := range parts {
		videos[i] = bgremove.RenderedPart(p)
	}
	result, err := r.remover.JoinParts(ctx, t.Input, output(t), r.options(t.Job.Options), videos)
	if err != nil {
		return job.Product{}, translate(err)
	}
	return product(t, result), nil
}
