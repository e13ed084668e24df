// Package floodfill cuts a subject out from a backdrop of one colour. It
// removes all pixels of that colour that are connected to the border through
// such pixels. Pixels at the subject's edge mix both colours and get the
// coverage that explains their colour.
package floodfill

import (
	"context"
	"fmt"
	"image"
	"sync"

	"github.com/bgremove/bgremove/internal/matte"
	"github.com/bgremove/bgremove/pkg/option"
)

// Holes says what happens to areas of the backdrop's colour that the subject
// encloses.
type Holes int

// The policies for enclosed areas.
const (
	// HolesAuto keeps enclosed areas as part of the subject unless they are
	// larger than HoleShare of the picture.
	HolesAuto Holes = iota
	// HolesKeep keeps them all.
	HolesKeep
	// HolesRemove removes them all.
	HolesRemove
)

// HoleShare is the share of the picture above which HolesAuto takes an
// enclosed area of the backdrop's colour for backdrop.
const HoleShare = 0.05

// Options are the settings of an Estimator. The zero value is useful.
type Options struct {
	// Tolerance is the largest channel difference to the backdrop, 0–255,
	// that the flood passes; useful values are within option.Tolerance. 0 means
	// its default.
	Tolerance int
	// Holes is the policy for enclosed areas.
	Holes Holes
}

// Estimator is a matte.Estimator for one backdrop. It holds no state of the
// clip: all methods are safe for concurrent use.
type Estimator struct {
	backdrop Backdrop
	tol      int
	holes    Holes
	metric   metric
	scratch  sync.Pool // of *scratch
}

// New returns an Estimator that removes the backdrop b.
func New(b Backdrop, o Options) *Estimator {
	if o.Tolerance <= 0 {
		o.Tolerance = option.Tolerance.Default
	}
	e := &Estimator{backdrop: b, tol: min(o.Tolerance, 255), holes: o.Holes, metric: newMetric(b)}
	if b.Transparent {
		e.metric.useAlphaOnly()
	}
	e.scratch.New = func() any { return new(scratch) }
	return e
}

// scratch is the working memory of one Estimate or Decontaminate.
type scratch struct {
	back, subject labels
	ramp          ramp
	mixed         mixedPixels
}

// Estimate writes the matte of img into dst. Pixels of source alpha 0 count as
// backdrop whatever their colour. ctx is looked at once, before the work.
func (e *Estimator) Estimate(ctx context.Context, img *image.NRGBA, dst *image.Alpha) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	w, h := img.Rect.Dx(), img.Rect.Dy()
	if dst.Rect.Dx() != w || dst.Rect.Dy() != h {
		return fmt.Errorf("estimate matte: picture is %d×%d, matte %d×%d", w, h, dst.Rect.Dx(), dst.Rect.Dy())
	}
	if w == 0 || h == 0 {
		return nil
	}
	if img.Stride != 4*w || dst.Stride != w {
		return fmt.Errorf("estimate matte: rows of %d and %d bytes are not contiguous", img.Stride, dst.Stride)
	}
	if d := e.metric.slope; d != nil && len(d.offset) != w*h {
		return fmt.Errorf("estimate matte: picture is %d×%d, not of the surveyed size", w, h)
	}
	s := e.scratch.Get().(*scratch)
	defer e.scratch.Put(s)
	s.back.reset(w, h)
	e.metric.scan(img, e.tol, &s.back)
	s.back.link(0)
	e.selectBackdrop(&s.back, w, h)
	s.subject.complement(&s.back)
	s.subject.link(1)
	e.dropSpecks(img, &s.subject)
	s.subject.paint(dst)
	if !e.backdrop.Transparent && !e.backdrop.Hard {
		s.ramp.unmix(&e.metric, img, dst, e.tol)
	}
	return nil
}

// selectBackdrop marks the components of the backdrop's colour that are removed:
// those at the border, and enclosed ones by the policy.
func (e *Estimator) selectBackdrop(l *labels, w, h int) {
	limit := HoleShare * float64(w) * float64(h)
	for i := range l.parts {
		p := &l.parts[i]
		enclosed := e.holes == HolesRemove || e.holes == HolesAuto && float64(p.area) > limit
		p.selected = p.border || enclosed
	}
}

const (
	// speckArea is the largest area in pixels of a speck, ringArea that of
	// one in a compressed clip.
	speckArea, ringArea = 24, 64
	// speckPeak is how far above the tolerance, as a factor, a speck's
	// farthest pixel may be.
	speckPeak = 1.6
)

// dropSpecks takes components for backdrop that are tiny and barely outside of the
// tolerance, which are noise of compression, or have colours of dither alone.
func (e *Estimator) dropSpecks(img *image.NRGBA, l *labels) {
	for i := range l.parts {
		l.parts[i].selected = true
	}
	if e.backdrop.Transparent { // there is no colour to which noise could belong
		return
	}
	area := int32(speckArea)
	if e.metric.halved {
		area = ringArea
	}
	limit := max(float32(speckPeak*float64(e.tol)), float32(e.tol)+1.5*e.metric.ring)
	if e.metric.slope != nil {
		limit = max(limit, speckPeak*e.metric.noise)
	}
	for i := range l.runs {
		r := &l.runs[i]
		p := &l.parts[l.find(r.label)]
		if p.area > area {
			continue
		}
		for x := r.x0; x < r.x1; x++ {
			at := int(r.y)*l.w + int(x)
			if !e.backdrop.dither[[3]uint8(img.Pix[4*at:])] {
				p.peak = max(p.peak, e.metric.distance(img.Pix, at))
			}
		}
	}
	for i := range l.parts {
		p := &l.parts[i]
		p.selected = p.area > area || p.peak > limit
	}
}

// Steps implements matte.Estimator: one, which takes frames in any order.
func (e *Estimator) Steps() []matte.Step {
	return []matte.Step{{Name: "matte", Run: func(ctx context.Context, w *matte.Estimate) error { return e.Estimate(ctx, w.Image, w.Matte) }}}
}

// Close does nothing.
func (e *Estimator) Close() error { return nil }
