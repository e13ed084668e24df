package pipeline

import (
	"context"
	"image"

	"github.com/bgremove/bgremove/internal/media"
)

// sinks are the output of a last pass, and the matte's beside it, if there is one.
type sinks struct{ colour, matte media.Sink }

// openSinks opens all of them, or none.
func (r *runner) openSinks(ctx context.Context, p plan) (*sinks, error) {
	out := Output{Size: p.layout.Size, First: p.origin + p.start, End: p.end, Pool: r.pool, Workers: r.Workers}
	colour, err := p.variant.Open(ctx, out)
	if err != nil || r.OpenMatte == nil {
		return &sinks{colour: colour}, err
	}
	matte, err := r.OpenMatte(ctx, out)
	if err != nil {
		colour.Abort()
		return nil, err
	}
	return &sinks{colour, matte}, nil
}

// write writes a frame, and the matte with the same times.
func (s *sinks) write(ctx context.Context, f *media.Frame, grey *image.NRGBA) error {
	if s.matte == nil {
		return s.colour.Write(ctx, f)
	}
	g := *f
	g.Image = grey
	if err := s.matte.Write(ctx, &g); err != nil {
		return err
	}
	return s.colour.Write(ctx, f)
}

// Close completes the matte first: an Abort still ends the other when that fails.
func (s *sinks) Close() error {
	if s.matte != nil {
		if err := s.matte.Close(); err != nil {
			return err
		}
	}
	return s.colour.Close()
}

// Abort ends all.
func (s *sinks) Abort() {
	s.colour.Abort()
	if s.matte != nil {
		s.matte.Abort()
	}
}
