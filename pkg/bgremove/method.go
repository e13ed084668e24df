package bgremove

import (
	"context"
	"errors"
	"fmt"
	"image"
	"strings"

	"github.com/bgremove/bgremove/internal/matte"
	"github.com/bgremove/bgremove/internal/matte/chromakey"
	"github.com/bgremove/bgremove/internal/matte/floodfill"
	"github.com/bgremove/bgremove/internal/matte/segment"
	"github.com/bgremove/bgremove/internal/matte/subject"
	"github.com/bgremove/bgremove/internal/media"
	"github.com/bgremove/bgremove/internal/pipeline"
)

// surveyFrames is on how many frames, spread evenly over the clip, the backdrop
// is measured.
const surveyFrames = 32

// choice is a method ready to run.
type choice struct {
	method    Method // Fast or Rembg
	reason    string
	model     string
	device    string
	note      *Note // may be nil
	screen    bool  // the backdrop is a lit screen
	pixelArt  bool  // edges are hard
	cutBefore bool  // the clip is transparent already
	estimator matte.Estimator
}

// choose picks the method for a clip and prepares its estimator.
func (r *Remover) choose(ctx context.Context, clip media.Clip, o Options, hints []segment.Hint) (*choice, error) {
	switch {
	case o.Method == Rembg:
		return r.segment(ctx, o, hints, "asked for")
	case len(hints) > 0:
		return r.segment(ctx, o, hints, "hints say what is wanted")
	}
	switch o.Method {
	case Auto, Fast, "":
	default:
		return nil, fmt.Errorf("nothing does method %s", o.Method)
	}
	backdrop, screen, err := survey(ctx, clip, o)
	if err != nil {
		return nil, err
	}
	reason := "asked for"
	if why, ok := hasScreen(o, backdrop, screen); ok {
		return &choice{method: Fast, reason: why, device: "cpu", screen: true, estimator: chromakey.New(screen, chromakey.Options{KeepShadow: o.KeepShadow})}, nil
	}
	if o.Method != Fast {
		flat, why := backdrop.Flatness()
		switch {
		case o.Key == KeyGreen || o.Key == KeyBlue:
			reason = fmt.Sprintf("there is no %s screen, so its colour alone is removed", o.Key)
		case keyColour(o.Key) != nil:
			reason = "the backdrop's colour is given"
		case flat:
			reason = why
		default:
			return r.segment(ctx, o, nil, why)
		}
	}
	holes, err := holesPolicy(o.Holes)
	if err != nil {
		return nil, err
	}
	return &choice{
		method: Fast, reason: reason, device: "cpu", pixelArt: backdrop.Hard, cutBefore: backdrop.Transparent,
		estimator: floodfill.New(backdrop, floodfill.Options{Tolerance: o.Tolerance, Holes: holes}),
	}, nil
}

// holesPolicy is the policy of a word.
func holesPolicy(h Holes) (floodfill.Holes, error) {
	switch h {
	case HolesAuto, "":
		return floodfill.HolesAuto, nil
	case HolesKeep:
		return floodfill.HolesKeep, nil
	case HolesRemove:
		return floodfill.HolesRemove, nil
	}
	return 0, fmt.Errorf("nothing does holes %s", h)
}

// wantedSubject is the subject of a word.
func wantedSubject(s Subject) (subject.Wanted, error) {
	switch s {
	case SubjectAuto, "":
		return subject.Auto, nil
	case Moving:
		return subject.Moving, nil
	case Salient:
		return subject.Salient, nil
	}
	return 0, fmt.Errorf("nothing does subject %s", s)
}

// survey measures the backdrop of a clip, both as a colour and as a screen of one hue.
func survey(ctx context.Context, clip media.Clip, o Options) (floodfill.Backdrop, chromakey.Screen, error) {
	luma := clip.Info().Luma
	backdrop, screen := floodfill.Survey{Key: keyColour(o.Key), Luma: luma}, chromakey.Survey{Key: keyColour(o.Key), Luma: luma}
	err := pipeline.Sample(ctx, clip, timingOf(o, clip.Info()), surveyFrames, func(img *image.NRGBA) {
		backdrop.Add(img)
		screen.Add(img)
	})
	return backdrop.Backdrop(), screen.Screen(), err
}

const (
	// keyFlat is the share of the border from which on a given colour is that of the
	// backdrop, and needs no screen of its hue.
	keyFlat = 0.6
	// drawnNoise is the noise of a backdrop up to which it was drawn and not filmed.
	drawnNoise = 2.5
)

// hasScreen reports whether the clip was filmed before a screen of one hue, and why.
func hasScreen(o Options, b floodfill.Backdrop, s chromakey.Screen) (reason string, ok bool) {
	switch {
	case b.Transparent || !s.Found():
		return "", false
	case o.Key == KeyGreen || o.Key == KeyBlue:
		return s.Describe(), true
	case keyColour(o.Key) != nil:
		return s.Describe(), s.Usual() && b.Flat < keyFlat
	}
	if flat, _ := b.Flatness(); flat && !o.KeepShadow && (b.Noise <= drawnNoise || o.Holes == HolesKeep || !s.Plain()) {
		return "", false // the flood keeps what the subject encloses, and knows no shadows
	}
	ok, reason = s.Recognise()
	return reason, ok
}

// segment prepares a neural network.
func (r *Remover) segment(ctx context.Context, o Options, hints []segment.Hint, reason string) (*choice, error) {
	e, n, err := r.estimator(ctx, o, segment.Options{Hints: hints})
	if e := (*Error)(nil); errors.As(err, &e) && e.Kind == Missing {
		// Say why it is needed, and that there is a way without.
		e.Reason = fmt.Sprintf("AI segmentation is needed (%s): %s", reason, e.Reason)
		e.Without = Fast
	}
	if err != nil {
		return nil, err
	}
	var note *Note
	if n.Info().Refused != "" {
		note = &Note{Code: DeviceRefused, Message: fmt.Sprintf("device %s cannot be used here: the network ran on the %s", r.config.Device, strings.ToUpper(n.Provider()))}
	}
	return &choice{method: Rembg, reason: reason, model: n.name, device: n.Provider(), note: note, estimator: e}, nil
}

// estimator makes the estimator of a network. Of s only Hints and Previews are given.
func (r *Remover) estimator(ctx context.Context, o Options, s segment.Options) (*segment.Estimator, loaded, error) {
	var err error
	if s.Subject, err = wantedSubject(o.Subject); err != nil {
		return nil, loaded{}, err
	}
	n, err := r.network(ctx, o.Model)
	if err != nil {
		return nil, loaded{}, err
	}
	if len(s.Hints) > 0 || s.Previews {
		if err := n.follows(); err != nil {
			return nil, loaded{}, err
		}
	}
	s.NoMotion, s.NoReuse, s.NoCloser, s.NoColours, s.NoPlate = o.NoMotion, o.NoReuse, o.NoCloser, o.NoColours, o.NoPlate
	s.NoSteady, s.NoRefine, s.NoForeground, s.TempDir = o.NoSteady, o.NoRefine, o.NoDecontaminate, r.config.TempDir
	return segment.New(n.Network, s), n, nil
}
