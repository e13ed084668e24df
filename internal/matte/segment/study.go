package segment

import (
	"context"
	"errors"
	"fmt"
	"image"
	"slices"
	"sort"
	"time"

	"golang.org/x/image/draw"

	"github.com/bgremove/bgremove/internal/matte"
	"github.com/bgremove/bgremove/internal/matte/plate"
	"github.com/bgremove/bgremove/internal/matte/refine"
	"github.com/bgremove/bgremove/internal/matte/subject"
	"github.com/bgremove/bgremove/internal/media"
	"github.com/bgremove/bgremove/internal/records"
)

// study is what the estimator learns of a clip before its first matte.
type study struct {
	mattes  *records.File // the network's, with uncertain pixels decided
	size    image.Point   // of those
	subject *subject.Clip
	samples samples
	times   []time.Duration // of the frames, in the clip
	frames  int             // that have been recalled so far
}

// studies reports whether the clip is studied first.
func (e *Estimator) studies() bool { return !e.clip.Ordered() && (e.plates() || e.chooses()) }

// Study implements matte.Studier: the network's mattes are kept, and the motion of
// their parts is measured. Where that tells enough, the network is not run.
func (e *Estimator) Study() []matte.Step {
	if !e.studies() {
		return nil
	}
	steps := []matte.Step{{Name: "see", Run: e.see}}
	if e.chooses() {
		steps = append(steps, matte.Step{Name: "motion", InOrder: true, Run: e.step})
	}
	return append(steps, matte.Step{Name: "network", Run: e.inferDue}, matte.Step{Name: "keep", InOrder: true, Run: e.keep})
}

// step measures a frame's motion.
func (e *Estimator) step(ctx context.Context, w *matte.Estimate) (err error) {
	s, d := &e.study, w.Draft.(draft)
	if s.subject == nil {
		if s.subject, err = subject.New(e.options.TempDir, e.hinted()); err != nil {
			return err
		}
	}
	size := measured(d.picture.Rect.Size())
	img := fitting(d.picture, size)
	d.step, err = s.subject.Step(ctx, img, e.options.NoReuse || img != d.picture)
	w.Draft = d
	return err
}

// inferDue runs the network, unless the study may do without.
func (e *Estimator) inferDue(ctx context.Context, w *matte.Estimate) error {
	if d := w.Draft.(draft); d.step != nil && !d.step.Due {
		return nil
	}
	return e.infer(ctx, w)
}

// keep keeps a frame's matte and its motion.
func (e *Estimator) keep(ctx context.Context, w *matte.Estimate) error {
	s := &e.study
	d, err := e.said(ctx, w)
	if err != nil {
		return err
	}
	w.Draft = d
	if s.mattes == nil {
		if s.mattes, err = records.Create(e.options.TempDir); err != nil {
			return err
		}
	}
	s.size = d.matte.Rect.Size()
	if err := s.mattes.Append(d.matte.Pix); err != nil {
		return err
	}
	if e.plates() {
		s.samples.offer(len(s.times), d.picture, e.own(w.Image, d.matte))
	}
	s.times = append(s.times, w.Time)
	if s.subject == nil {
		return nil
	}
	return s.subject.Add(d.step, resized(d.matte, measured(d.picture.Rect.Size())), d.seen)
}

// said is a frame's draft with the network's matte, uncertain pixels decided, or with what the
// motion makes of those before.
func (e *Estimator) said(ctx context.Context, w *matte.Estimate) (draft, error) {
	d := w.Draft.(draft)
	if d.inference == nil {
		d.matte, d.seen = e.study.subject.Carry(d.step)
		d.matte = resized(d.matte, e.study.size)
		return d, nil
	}
	if e.decides() {
		if err := e.decide(ctx, w); err != nil {
			return d, err
		}
	}
	return drafted(ctx, w)
}

// resized is a matte in a size. It is m itself if it has that.
func resized(m *image.Alpha, size image.Point) *image.Alpha {
	if m.Rect.Size() == size {
		return m
	}
	to := image.NewAlpha(image.Rectangle{Max: size})
	refine.Resize(to, m)
	return to
}

// own is img if the network saw it enlarged.
func (e *Estimator) own(img *image.NRGBA, m *image.Alpha) *image.NRGBA {
	if enlarged(img, m) {
		return img
	}
	return nil
}

// widest is the most pixels of a picture whose motion is measured.
const widest = 480 * 270

// measured is the size at which the motion of a picture of a size is measured.
func measured(size image.Point) image.Point {
	for size.X*size.Y > widest {
		size = image.Pt((size.X+1)/2, (size.Y+1)/2)
	}
	return size
}

// Draft implements matte.Studier.
func (e *Estimator) Draft(ctx context.Context, w *matte.Estimate) error {
	d, err := drafted(ctx, w)
	if err != nil {
		return err
	}
	e.upsample(w.Matte, w.Image, d)
	return nil
}

// Conclude implements matte.Studier: it decides which parts of the mattes are the
// subject, and shows the plate frames from all over the clip.
func (e *Estimator) Conclude(ctx context.Context) error {
	s := &e.study
	if s.subject != nil {
		if err := s.subject.Decide(ctx); err != nil {
			return err
		}
		if err := e.settle(ctx); err != nil {
			return err
		}
	}
	for _, v := range s.samples.spread(plate.MaxSamples) {
		d, err := s.recall(v.frame)
		if err != nil {
			return err
		}
		d.choice.Apply(d.matte)
		d.picture = fitting(v.picture, d.matte.Rect.Size())
		if d = e.fitted(v.own, d); d.fits {
			e.plate.Sample(d.picture, d.matte)
		}
	}
	s.samples = samples{}
	return nil
}

// settle decides what the subject is.
func (e *Estimator) settle(ctx context.Context) error {
	var chooser subject.Chooser
	if e.network.Info().Chooses {
		chooser = e.network.Choose
	}
	if err := e.study.subject.Choose(ctx, e.options.Subject, chooser); err != nil {
		return err
	}
	switch {
	case len(e.options.Hints) > 0:
		return e.study.subject.Guide(ctx, e.study.place(e.options.Hints), e.network.Guide)
	case e.decides(): // walk asks for what lasts
		return e.study.subject.Endure(ctx)
	}
	return nil
}

// place finds the frames of hints.
func (s *study) place(hints []Hint) []subject.Hint {
	var all []subject.Hint
	for _, h := range hints {
		h.Frame = s.frameAt(h.At)
		all = append(all, h.Hint)
	}
	return all
}

// frameAt is the frame that is shown at a time, and the first one before that.
func (s *study) frameAt(at time.Duration) int {
	later := sort.Search(len(s.times), func(i int) bool { return s.times[i] > at+media.TimeTolerance })
	return max(later-1, 0)
}

// Preview is what hints would make of the matte of the frame that is shown at a time, in
// the network's size: without the plate, the stabiliser and the edges. It needs
// Options.Previews, and a clip that has been studied. It is for one goroutine.
func (e *Estimator) Preview(ctx context.Context, at time.Duration, hints []Hint) (*image.Alpha, error) {
	s := &e.study
	i := s.frameAt(at)
	d, err := s.recall(i)
	if err != nil {
		return nil, fmt.Errorf("recall a matte: %w", err)
	}
	c, err := s.subject.Preview(ctx, i, s.place(hints), e.network.Guide)
	if err != nil {
		return nil, err
	}
	c.Apply(d.matte)
	if e.decides() {
		small, err := s.subject.Picture(i)
		if err != nil {
			return nil, fmt.Errorf("recall a picture: %w", err)
		}
		img := image.NewNRGBA(d.matte.Rect)
		draw.ApproxBiLinear.Scale(img, img.Rect, small, small.Rect, draw.Src, nil)
		e.walker.Apply(img, d.matte, c.Lasting)
	}
	return d.matte, nil
}

var errFrames = errors.New("the clip has other frames than before")

// recall is what is kept of frame i: its matte, and the choice.
func (s *study) recall(i int) (d draft, err error) {
	if s.mattes == nil || i >= s.mattes.Len() {
		return d, errFrames
	}
	d.matte = image.NewAlpha(image.Rectangle{Max: s.size})
	if err := s.mattes.Read(i, d.matte.Pix); err != nil {
		return d, err
	}
	if s.subject != nil {
		d.choice, err = s.subject.Choice(i)
	}
	return d, err
}

// see draws a frame as the network sees it.
func (e *Estimator) see(_ context.Context, w *matte.Estimate) error {
	w.Draft = draft{picture: e.clip.Picture(w.Image)}
	return nil
}

// recall reads what the study kept of a frame.
func (e *Estimator) recall(_ context.Context, w *matte.Estimate) error {
	d, err := e.study.recall(e.study.frames)
	if err != nil {
		return fmt.Errorf("recall a matte: %w", err)
	}
	d.picture = w.Draft.(draft).picture
	e.study.frames++
	w.Draft = d
	return nil
}

// choose changes a recalled matte to what the study chose.
func (e *Estimator) choose(_ context.Context, w *matte.Estimate) error {
	d := w.Draft.(draft)
	d.choice.Apply(d.matte)
	return nil
}

func (s *study) close() (err error) {
	if s.mattes != nil {
		err = s.mattes.Close()
	}
	if s.subject != nil {
		err = errors.Join(err, s.subject.Close())
	}
	return err
}

// samples keeps frames spread over a clip of unknown length: one of every so many, and
// only every second of those whenever there are too many.
type samples struct {
	every int
	list  []sample
}

// sample is a frame as the network saw it, and itself if that is smaller.
type sample struct {
	frame        int
	picture, own *image.NRGBA
}

// offer keeps frame i if it is due. The pictures are copied where they may change.
func (s *samples) offer(i int, picture, own *image.NRGBA) {
	s.every = max(s.every, 1)
	if i%s.every != 0 {
		return
	}
	if own != nil {
		c := *own
		c.Pix = slices.Clone(own.Pix)
		own = &c
	}
	s.list = append(s.list, sample{i, picture, own})
	if len(s.list) == 2*plate.MaxSamples {
		s.every *= 2
		s.list = slices.DeleteFunc(s.list, func(v sample) bool { return v.frame%s.every != 0 })
	}
}

// spread are at most n of them, evenly spread.
func (s *samples) spread(n int) (some []sample) {
	n = min(n, len(s.list))
	for i := range n {
		some = append(some, s.list[i*len(s.list)/n])
	}
	return some
}
