package bgremove

import (
	"context"
	"fmt"

	"github.com/bgremove/bgremove/internal/matte"
	"github.com/bgremove/bgremove/internal/matte/floodfill"
	"github.com/bgremove/bgremove/internal/media"
	"github.com/bgremove/bgremove/internal/pipeline"
)

// lookFrames is on how many frames, spread evenly over the clip, the backdrop
// is measured.
const lookFrames = 32

// choice is a method ready to run.
type choice struct {
	method    Method // Fast or Rembg
	reason    string
	model     string
	device    string
	estimator matte.Estimator
}

// choose picks the method for a clip and prepares its estimator.
func (r *Remover) choose(ctx context.Context, clip media.Clip, o Options) (*choice, error) {
	if o.Method == Rembg {
		return nil, noNetwork("method rembg", "")
	}
	survey := floodfill.Survey{Key: colour(o.Key)}
	if err := pipeline.Look(ctx, clip, o.timing(), lookFrames, survey.Add); err != nil {
		return nil, err
	}
	backdrop := survey.Backdrop()
	reason := "asked for"
	if o.Method != Fast {
		flat, why := backdrop.Flatness()
		switch {
		case o.Key != "":
			reason = "the backdrop's colour is given"
		case flat:
			reason = why
		default:
			return nil, noNetwork("this clip", why)
		}
	}
	holes := map[Holes]floodfill.Holes{HolesKeep: floodfill.HolesKeep, HolesRemove: floodfill.HolesRemove}
	return &choice{
		method: Fast, reason: reason, device: "cpu",
		estimator: floodfill.New(backdrop, floodfill.Options{Tolerance: o.Tolerance, Holes: holes[o.Holes]}),
	}, nil
}

// noNetwork says that what needs segmentation cannot be done.
func noNetwork(what, why string) error {
	reason := what + " needs AI segmentation, which this build does not have"
	if why != "" {
		reason = fmt.Sprintf("%s (%s)", reason, why)
	}
	return &Error{Kind: Missing, Reason: reason,
		Hint: "--method fast floods from the border all the same; --key #rrggbb names the backdrop's colour"}
}
