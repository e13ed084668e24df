// Package segment makes a matte.Estimator of a neural network. Uncertain pixels
// are assigned by colour. Its small mattes are revised with the clip's clean
// plate, steadied over time, decided where much of them is in doubt, and enlarged
// to full size along the picture's edges. The subject's colour is estimated again at edges.
package segment

import (
	"context"
	"image"
	"slices"
	"time"

	"github.com/bgremove/bgremove/internal/matte"
	"github.com/bgremove/bgremove/internal/matte/onnx"
	"github.com/bgremove/bgremove/internal/matte/plate"
	"github.com/bgremove/bgremove/internal/matte/reduce"
	"github.com/bgremove/bgremove/internal/matte/refine"
	"github.com/bgremove/bgremove/internal/matte/subject"
	"github.com/bgremove/bgremove/internal/matte/view"
)

// Options switch parts off. The zero value has all on.
type Options struct {
	// Subject is which of the things that the network finds is wanted.
	Subject subject.Wanted
	// Hints say what is wanted. They need a network whose Info has Guided.
	Hints []Hint
	// Previews studies the clip for hints that come later, too.
	Previews bool
	// NoMotion does without the motion of things over the clip. Otherwise it tells the
	// subject from things that look like one.
	NoMotion bool
	// NoReuse runs the network on each frame, also where frames repeat or another tells enough.
	NoReuse bool
	// NoCloser lets the network look once at each frame. Otherwise it looks again at the part
	// around what it found, if its model.Spec says that this helps.
	NoCloser bool
	// NoColours leaves uncertain pixels undecided. Otherwise they are decided
	// by colour, and by what is around them and lasts, for networks whose model.Spec says that this helps.
	NoColours bool
	// NoPlate leaves mattes unrevised. Otherwise they are revised where the
	// backdrop behind the subject is known from other frames, for networks
	// whose model.Spec says that this helps.
	NoPlate bool
	// NoSteady leaves the mattes of stateless networks as they come.
	NoSteady bool
	// NoRefine enlarges mattes without regard to the picture's edges.
	NoRefine bool
	// NoForeground does without the colours that a network itself gives.
	NoForeground bool
	// TempDir is where the study of a clip is kept; empty is the system's folder for
	// temporary files.
	TempDir string
}

// Hint is a subject.Hint for the frame that is shown at a time of the clip.
type Hint struct {
	At time.Duration
	subject.Hint
}

// Estimator estimates the mattes of one clip.
type Estimator struct {
	options    Options
	network    *onnx.Network
	clip       *onnx.Clip
	cuts       refine.CutDetector
	colours    refine.ColourModel
	plate      plate.Plate
	steady     refine.Stabiliser
	walker     refine.Walker
	upscale    refine.Upsampler
	foreground refine.Foreground
	study      study
}

// New starts a clip on a network, which stays the caller's.
func New(n *onnx.Network, o Options) *Estimator {
	e := &Estimator{options: o, network: n, clip: n.NewClip(onnx.ClipOptions{NoReuse: o.NoReuse, NoCloser: o.NoCloser, NoForeground: o.NoForeground})}
	if !o.NoColours {
		e.colours.Weight = n.Info().Colours
	}
	return e
}

// plates reports whether mattes are revised with the plate in view.
func (e *Estimator) plates() bool { return e.network.Info().Plate && !e.options.NoPlate }

// chooses reports whether the clip's motion decides what the subject is: by the chooser, or
// alone.
func (e *Estimator) chooses() bool {
	switch {
	case e.options.NoMotion, e.clip.Recurrent():
		return false
	case e.hinted():
		return true
	case e.options.Subject == subject.Salient:
		return false
	}
	return e.network.Info().Chooses || e.options.Subject == subject.Moving
}

// hinted reports whether hints decide what the subject is, or may do so later.
func (e *Estimator) hinted() bool { return len(e.options.Hints) > 0 || e.options.Previews }

// decides reports whether what the network leaves in doubt is decided.
func (e *Estimator) decides() bool { return e.colours.Weight > 0 }

// infers are the steps of the network.
func (e *Estimator) infers() []matte.Step {
	steps := []matte.Step{{Name: "network", InOrder: e.clip.Ordered(), Run: e.infer}}
	if e.decides() {
		steps = append(steps, matte.Step{Name: "colours", InOrder: true, Run: e.decide})
	}
	return steps
}

// Steps implements matte.Estimator. Frames must be in order for a network with a memory, the model
// of colours, the study, the plate and the stabiliser. All of these work at the network's resolution
// or less.
func (e *Estimator) Steps() []matte.Step {
	steps := e.infers()
	if e.studies() {
		steps = []matte.Step{{Name: "see", Run: e.see}, {Name: "recall", InOrder: true, Run: e.recall}}
		if e.chooses() {
			steps = append(steps, matte.Step{Name: "choose", Run: e.choose})
		}
	}
	if e.plates() {
		steps = append(steps, matte.Step{Name: "fit", Run: e.fit}, matte.Step{Name: "plate", InOrder: true, Run: e.view}, matte.Step{Name: "revise", Run: e.revise})
	}
	if !e.options.NoSteady && !e.clip.Recurrent() {
		steps = append(steps, matte.Step{Name: "steady", InOrder: true, Run: e.hold})
	}
	if e.decides() {
		steps = append(steps, matte.Step{Name: "walk", Run: e.walk})
	}
	return append(steps, matte.Step{Name: "refine", Run: e.refine})
}

// draft is the state of a frame between the steps.
type draft struct {
	// inference is the network's work, perhaps still running; nil once its result is here.
	inference *onnx.Inference
	// picture and matte are first the network's input and output, later perhaps the frame
	// itself, if that is smaller, and a matte of its size.
	picture *image.NRGBA
	matte   *image.Alpha
	step    *subject.Step  // of the study
	seen    view.Features  // by the network, in its study
	choice  subject.Choice // of the study
	fits    bool           // whether it may be revised
	view    *view.View     // what the reviser is to be shown; nil if the matte stays
}

// infer leaves an inference that may still be running, for another frame just
// like this one.
func (e *Estimator) infer(ctx context.Context, w *matte.Estimate) error {
	if e.clip.Recurrent() && e.cuts.Next(w.Image) {
		e.clip.Reset()
	}
	d, _ := w.Draft.(draft)
	if d.picture == nil {
		d.picture = e.clip.Picture(w.Image)
	}
	i, err := e.clip.Start(ctx, w.Image, d.picture)
	d.inference = i
	w.Draft = d
	return err
}

// drafted is the state of a frame with the network's result in it.
func drafted(ctx context.Context, w *matte.Estimate) (draft, error) {
	d := w.Draft.(draft)
	if d.inference == nil {
		return d, nil
	}
	r, err := d.inference.Wait(ctx)
	if err != nil {
		return draft{}, err
	}
	if r.Foreground != nil {
		w.Foreground = refine.Band(r.Foreground, r.Matte)
	}
	d.inference, d.picture, d.matte, d.seen = nil, r.Picture, r.Matte, r.Features
	return d, nil
}

func (e *Estimator) decide(ctx context.Context, w *matte.Estimate) error {
	return change(ctx, w, e.colours.Apply)
}

func (e *Estimator) hold(ctx context.Context, w *matte.Estimate) error {
	return change(ctx, w, e.steady.Apply)
}

// walk decides what is still in doubt over wide areas.
func (e *Estimator) walk(ctx context.Context, w *matte.Estimate) error {
	d := w.Draft.(draft)
	return change(ctx, w, func(img *image.NRGBA, m *image.Alpha) { e.walker.Apply(img, m, d.choice.Lasting) })
}

// change gives a frame's small matte to apply, with a picture of its size.
func change(ctx context.Context, w *matte.Estimate, apply func(*image.NRGBA, *image.Alpha)) error {
	d, err := drafted(ctx, w)
	if err != nil {
		return err
	}
	m := copied(d.matte)
	apply(fitting(d.picture, m.Rect.Size()), m)
	d.matte = m
	w.Draft = d
	return nil
}

// copied is a matte that may be written to: repeated frames share theirs.
func copied(m *image.Alpha) *image.Alpha {
	c := *m
	c.Pix = slices.Clone(m.Pix)
	return &c
}

// fit makes a frame's draft one that the reviser may see.
func (e *Estimator) fit(ctx context.Context, w *matte.Estimate) error {
	d, err := drafted(ctx, w)
	if err != nil {
		return err
	}
	w.Draft = e.fitted(w.Image, d)
	return nil
}

// enough is the least known share of a picture's plate for revising its matte.
const enough = 0.3

// view shows a frame to the plate.
func (e *Estimator) view(_ context.Context, w *matte.Estimate) error {
	d := w.Draft.(draft)
	if d.fits {
		if v := e.plate.Next(d.picture, d.matte); v.Known > enough {
			d.view = &v
		}
	}
	w.Draft = d
	return nil
}

// enlarged reports whether the network saw img, with matte m, larger than it
// is.
func enlarged(img *image.NRGBA, m *image.Alpha) bool {
	own, seen := img.Rect.Size(), m.Rect.Size()
	return own.X*own.Y < seen.X*seen.Y
}

// fitted is the draft of img with its edges along the picture's, where the
// reviser finds errors better. It has the size of d's matte, or of img if that
// was enlarged for the network, because a matte scaled back is blurred. If it
// was not enlarged, img may be nil. A draft that would be too large to be
// revised stays as it is.
func (e *Estimator) fitted(img *image.NRGBA, d draft) draft {
	size, own := d.matte.Rect.Size(), img != nil && enlarged(img, d.matte)
	if own {
		size = img.Rect.Size()
	}
	if !e.network.Revises(size.X, size.Y) {
		return d
	}
	picture := img
	if !own {
		picture = fitting(d.picture, d.matte.Rect.Size())
	}
	m := image.NewAlpha(image.Rectangle{Max: size})
	e.upsample(m, picture, d)
	return draft{picture: picture, matte: m, choice: d.choice, fits: true}
}

// upsample brings a draft to the size of dst, which is that of img.
func (e *Estimator) upsample(dst *image.Alpha, img *image.NRGBA, d draft) {
	if e.options.NoRefine {
		refine.Resize(dst, d.matte)
	} else {
		e.upscale.Upsample(dst, img, d.matte, d.picture)
	}
}

func (e *Estimator) revise(ctx context.Context, w *matte.Estimate) error {
	d, err := drafted(ctx, w)
	if err != nil || d.view == nil {
		return err
	}
	m, err := e.revised(ctx, d)
	if err != nil {
		return err
	}
	keepSure(d.view, m, d.matte)
	d.choice.Strip(m)
	d.matte, d.view = m, nil
	w.Draft = d
	return nil
}

// fitting is picture in a size: mostly in that of a matte, which most networks give it.
func fitting(picture *image.NRGBA, size image.Point) *image.NRGBA {
	if picture.Rect.Size() == size {
		return picture
	}
	fit := image.NewNRGBA(image.Rectangle{Max: size})
	reduce.New(picture.Rect.Size(), size).Draw(fit, picture)
	return fit
}

func (e *Estimator) refine(ctx context.Context, w *matte.Estimate) error {
	d, err := drafted(ctx, w)
	if err != nil {
		return err
	}
	w.Draft = nil
	e.upsample(w.Matte, w.Image, d)
	return nil
}

// Decontaminate implements matte.Estimator.
func (e *Estimator) Decontaminate(img *image.NRGBA, m *image.Alpha, foreground *image.NRGBA) {
	if foreground != nil {
		refine.Recolour(img, m, foreground)
		return
	}
	e.foreground.Decontaminate(img, m)
}

// Close removes what was kept of the clip. The network is the caller's.
func (e *Estimator) Close() error { return e.study.close() }
