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

// Look shows at most n frames of a clip to see, in order and spread over it. see
// does not keep them.
type Look func(ctx context.Context, n int, see func(*image.NRGBA)) error

// Sample has the estimator look at the clip before the first frame is estimated,
// where that is of use: so it knows what lies behind the subject from the beginning.
// The error is look's or the first of the network, which ends look's context.
func (e *Estimator) Sample(ctx context.Context, look Look) error {
	if !e.plates() {
		return nil
	}
	g, looking := errgroup.WithContext(ctx)
	g.SetLimit(e.network.Info().Sessions)
	type sample struct {
		result onnx.Result
		own    *image.NRGBA // the frame itself, if it is smaller than the network's input
	}
	var samples []*sample
	err := look(looking, plate.Samples, func(img *image.NRGBA) {
		c := *img
		c.Pix = slices.Clone(img.Pix)
		s := new(sample)
		samples = append(samples, s)
		g.Go(func() (err error) {
			if s.result, err = e.clip.Sample(looking, &c); err == nil && enlarged(&c, s.result.Matte) {
				s.own = &c
			}
			return err
		})
	})
	if end := g.Wait(); err == nil {
		err = end
	}
	if err != nil {
		return err
	}
	colours := refine.ColourModel{Weight: e.colours.Weight}
	for _, s := range samples {
		m := copied(s.result.Matte)
		picture := fitting(s.result.Picture, m)
		if colours.Weight > 0 {
			colours.Apply(picture, m)
		}
		if d, ok := e.fitted(s.own, draft{picture, m}); ok {
			e.plate.Sample(d.picture, d.matte)
		}
	}
	return nil
}
