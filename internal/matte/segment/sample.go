package segment

import (
	"context"
	"image"
	"slices"

	"golang.org/x/sync/errgroup"

	"github.com/bgremove/bgremove/internal/matte/onnx"
	"github.com/bgremove/bgremove/internal/matte/plate"
	"github.com/bgremove/bgremove/internal/matte/refine"
)

// Samples is how many frames, spread over the clip, a Sampler is best given: 0
// where that is of no use.
func (e *Estimator) Samples() int {
	if !e.plates() {
		return 0
	}
	return plate.Samples
}

// Sampler shows an estimator frames of the clip before the first is estimated, so
// that it knows what lies behind the subject from the beginning.
type Sampler struct {
	e       *Estimator
	group   *errgroup.Group
	ctx     context.Context
	results []*onnx.Result
}

// Sampler begins that; End must follow. The context that it returns ends with the
// first error.
func (e *Estimator) Sampler(ctx context.Context) (*Sampler, context.Context) {
	s := &Sampler{e: e}
	s.group, s.ctx = errgroup.WithContext(ctx)
	s.group.SetLimit(e.network.Info().Sessions)
	return s, s.ctx
}

// See shows it a frame. Frames come in the clip's order. img is not kept.
func (s *Sampler) See(img *image.NRGBA) {
	c := *img
	c.Pix = slices.Clone(img.Pix)
	r := new(onnx.Result)
	s.results = append(s.results, r)
	s.group.Go(func() (err error) {
		*r, err = s.e.clip.Estimate(s.ctx, &c)
		return err
	})
}

// End hands what was seen to the estimator. The error is the first of the network.
func (s *Sampler) End() error {
	if err := s.group.Wait(); err != nil {
		return err
	}
	colours := refine.ColourModel{Weight: s.e.colours.Weight}
	for _, r := range s.results {
		if size := r.Matte.Rect.Size(); !s.e.network.Revises(size.X, size.Y) {
			continue
		}
		m := copied(r.Matte)
		picture := fitting(r.Picture, m)
		if colours.Weight > 0 {
			colours.Apply(picture, m)
		}
		s.e.plate.Sample(picture, m)
	}
	return nil
}
