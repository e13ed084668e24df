package bgremove

import (
	"context"
	"errors"
	"fmt"
	"image"

	"github.com/bgremove/bgremove/internal/matte"
	"github.com/bgremove/bgremove/internal/matte/chromakey"
	"github.com/bgremove/bgremove/internal/matte/floodfill"
	"github.com/bgremove/bgremove/internal/matte/segment"
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
	note      string // a note for the user; may be empty
	pixelArt  bool   // edges are hard
	tidy      bool   // mattes may have specks and haze
	estimator matte.Estimator
}

// choose picks the method for a clip and prepares its estimator.
func (r *Remover) choose(ctx context.Context, clip media.Clip, o Options) (*choice, error) {
	if o.Method == Rembg {
		return r.segment(ctx, clip, o, "asked for")
	}
	backdrop, screen, err := o.look(ctx, clip)
	if err != nil {
		return nil, err
	}
	reason := "asked for"
	if why, ok := o.screened(backdrop, screen); ok {
		return &choice{method: Fast, reason: why, device: "cpu", tidy: !o.KeepShadow,
			estimator: chromakey.New(screen, chromakey.Options{KeepShadow: o.KeepShadow})}, nil
	}
	if o.Method != Fast {
		flat, why := backdrop.Flatness()
		switch {
		case o.keyColour() != nil:
			reason = "the backdrop's colour is given"
		case flat:
			reason = why
		default:
			return r.segment(ctx, clip, o, why)
		}
	}
	holes := map[Holes]floodfill.Holes{HolesKeep: floodfill.HolesKeep, HolesRemove: floodfill.HolesRemove}
	return &choice{
		method: Fast, reason: reason, device: "cpu", pixelArt: backdrop.Hard,
		estimator: floodfill.New(backdrop, floodfill.Options{Tolerance: o.Tolerance, Holes: holes[o.Holes]}),
	}, nil
}

// look measures the backdrop of a clip, both as a colour and as a screen of one hue.
func (o Options) look(ctx context.Context, clip media.Clip) (floodfill.Backdrop, chromakey.Screen, error) {
	luma := clip.Info().Luma
	backdrop, screen := floodfill.Survey{Key: o.keyColour(), Luma: luma}, chromakey.Survey{Key: o.keyColour(), Luma: luma}
	err := pipeline.Look(ctx, clip, o.timing(), lookFrames, func(img *image.NRGBA) {
		backdrop.Add(img)
		screen.Add(img)
	})
	return backdrop.Backdrop(), screen.Screen(), err
}

const (
	// keyFlat is the share of the border from which on a given colour is that of the
	// backdrop, and needs no screen of its hue.
	keyFlat = 0.8
	// drawn is the noise of a backdrop up to which it was drawn and not filmed.
	drawn = 2.5
)

// screened reports whether the clip was filmed before a screen of one hue, and why.
func (o Options) screened(b floodfill.Backdrop, s chromakey.Screen) (reason string, ok bool) {
	switch {
	case b.Transparent || !s.Found():
		return "", false
	case o.Key == KeyGreen || o.Key == KeyBlue:
		return s.Describe(), true
	case o.keyColour() != nil:
		return s.Describe(), b.Flat < keyFlat
	}
	if flat, _ := b.Flatness(); flat && b.Noise <= drawn {
		return "", false
	}
	ok, reason = s.Recognise()
	return reason, ok
}

// segment prepares a neural network.
func (r *Remover) segment(ctx context.Context, clip media.Clip, o Options, reason string) (*choice, error) {
	n, name, err := r.network(ctx, o.Model)
	if e := (*Error)(nil); errors.As(err, &e) && e.Kind == Missing {
		// Say why it is needed, and that there is a way without.
		e.Reason = fmt.Sprintf("AI segmentation is needed (%s): %s", reason, e.Reason)
		e.Hint += "; --method fast works without it"
	}
	if err != nil {
		return nil, err
	}
	note := ""
	if refused := n.Info().Refused; refused != "" {
		note = fmt.Sprintf("runs on %s instead of the requested device: %s", n.Provider(), refused)
	}
	e := segment.New(n, segment.Options{NoReuse: o.NoReuse, NoColours: o.NoColours, NoPlate: o.NoPlate,
		NoSteady: o.NoSteady, NoRefine: o.NoRefine, NoForeground: o.NoDecontaminate})
	if err := e.Sample(ctx, func(ctx context.Context, n int, see func(*image.NRGBA)) error {
		return pipeline.Look(ctx, clip, o.timing(), n, see)
	}); err != nil {
		return nil, err
	}
	return &choice{method: Rembg, reason: reason, model: name, device: n.Provider(), note: note, tidy: true, estimator: e}, nil
}
