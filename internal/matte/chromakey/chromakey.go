// Package chromakey cuts a subject out from a screen of one hue, such as a
// studio's green or blue screen. The share of the screen's hue in a colour
// shows how much of the screen is visible through it (K. Jack, "Video
// Demystified", chapter on chroma keying). The screen may be unevenly lit, in
// shadow, and noisy. Its colour is measured in each frame wherever it is fully
// visible, and interpolated elsewhere. The same is done for the subject's
// colour.
package chromakey

import (
	"context"
	"fmt"
	"image"
	"sync"

	"github.com/bgremove/bgremove/internal/matte"
	"github.com/bgremove/bgremove/internal/pullpush"
)

// Options are the settings of an Estimator. The zero value is useful.
type Options struct {
	// KeepShadow keeps the shadows on the screen, in black.
	KeepShadow bool
}

// Estimator is a matte.Estimator for one screen. It holds no state of the clip: all
// methods are safe for concurrent use.
type Estimator struct {
	screen  Screen
	options Options
	scratch sync.Pool // of *layers
}

// New returns an Estimator that removes a screen that was Found.
func New(s Screen, o Options) *Estimator {
	if o.KeepShadow {
		s.lit = s.unshaded
	}
	return &Estimator{screen: s, options: o, scratch: sync.Pool{New: func() any { return new(layers) }}}
}

// Estimate writes the matte of img into dst. ctx is looked at once, before the work.
func (e *Estimator) Estimate(ctx context.Context, img *image.NRGBA, dst *image.Alpha) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if img.Rect.Size() != dst.Rect.Size() {
		return fmt.Errorf("estimate matte: picture is %v, matte %v", img.Rect.Size(), dst.Rect.Size())
	}
	if img.Rect.Empty() {
		return nil
	}
	l := e.split(img)
	defer e.scratch.Put(l)
	l.writeMatte(&e.screen, img, dst)
	return nil
}

// split takes a frame apart; the layers go back to the pool.
func (e *Estimator) split(img *image.NRGBA) *layers {
	l := e.scratch.Get().(*layers)
	block := 1
	if e.screen.halved {
		block = 2
	}
	l.shrink(img, block)
	l.split(&e.screen, e.options.KeepShadow)
	return l
}

// Steps implements matte.Estimator: one, which takes frames in any order.
func (e *Estimator) Steps() []matte.Step {
	return []matte.Step{{Name: "matte", Run: func(ctx context.Context, w *matte.Estimate) error { return e.Estimate(ctx, w.Image, w.Matte) }}}
}

// Decontaminate implements matte.Estimator. It also takes the light that the screen
// throws on the subject out of the subject's colour.
func (e *Estimator) Decontaminate(img *image.NRGBA, m *image.Alpha, _ *image.NRGBA) {
	w, h := img.Rect.Dx(), img.Rect.Dy()
	if w == 0 || h == 0 {
		return
	}
	l := e.split(img)
	defer e.scratch.Put(l)
	screen, subject := l.back.Samples(), l.front.Samples()
	for y := range h {
		row, pix := m.Pix[y*m.Stride:][:w], img.Pix[y*img.Stride:][:4*w]
		for x, a := range row {
			if a == 0 {
				continue
			}
			i, p := y/l.block*l.w+x/l.block, pix[4*x:4*x+3:4*x+3]
			cover := float32(a) / 255
			if a < 255 && e.options.KeepShadow {
				cover = subjectOf(cover, l.shadow(x, y, w, h))
			}
			if cover > 0 {
				e.clean(p, cover, &screen[i], &subject[i])
			}
			if dark := cover * 255 / float32(a); dark < 1 { // the rest is shadow, which is black
				for k := range p {
					p[k] = uint8(float32(p[k])*dark + 0.5)
				}
			}
		}
	}
}

// maxSpill bounds how much of the screen's light is taken out of a colour.
const maxSpill = 0.6

// subjectOf is what the subject covers where it and its shadow cover a share together.
func subjectOf(share, shadow float32) float32 { return max(0, (share-shadow)/(1-shadow)) }

// clean makes p, a pixel of which the subject covers a share, the subject's own colour.
func (e *Estimator) clean(p []uint8, share float32, screen, subject *pullpush.Sample) {
	c := [3]float32{float32(p[0]), float32(p[1]), float32(p[2])}
	if share < 1 {
		for k := range c {
			own := min(max((c[k]-(1-share)*screen[k])/share, 0), 255)
			if subject[3] > 0 {
				own = share*own + (1-share)*subject[k]
			}
			c[k] = own
		}
	}
	if spill := e.spill(&c, screen); spill > 0 {
		for k := range c {
			c[k] -= spill * screen[k]
		}
	}
	for k := range c {
		p[k] = uint8(min(max(c[k], 0), 255) + 0.5)
	}
}

// spill is how much of the screen's light a colour has, 0 to maxSpill: no more than
// would leave its strongest channel the strongest.
func (e *Estimator) spill(c *[3]float32, screen *pullpush.Sample) float32 {
	s := e.screen.hue.strength(c[0], c[1], c[2]) / max(e.screen.hue.strength(screen[0], screen[1], screen[2]), 1)
	k, i, j := e.screen.channels()
	excess := (c[k] - max(c[i], c[j])) / max(screen[k]-max(screen[i], screen[j]), 1)
	return min(s, excess, maxSpill)
}

// Close does nothing.
func (e *Estimator) Close() error { return nil }
