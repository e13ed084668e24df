// Package segment makes a matte.Estimator of a neural network: its small
// mattes are brought to full size along the picture's edges, held steady over
// time, and the subject's colour is found again at the edges.
package segment

import (
	"context"
	"image"

	"github.com/bgremove/bgremove/internal/matte/onnx"
	"github.com/bgremove/bgremove/internal/matte/refine"
)

// Options switch parts off. The zero value has all of them on.
type Options struct {
	// NoReuse runs the network on frames that repeat, too.
	NoReuse bool
	// NoStabiliser leaves the mattes of stateless networks as they come.
	NoStabiliser bool
}

// Estimator estimates the mattes of one clip. It belongs to one goroutine
// unless it is Stateless.
type Estimator struct {
	clip    *onnx.Clip
	steady  *refine.Stabiliser // nil where it is off or the network has a memory
	upscale refine.Upsampler
	colours refine.Foreground
}

// New starts a clip on a network, which stays the caller's.
func New(n *onnx.Network, o Options) *Estimator {
	e := &Estimator{clip: n.NewClip(onnx.ClipOptions{NoReuse: o.NoReuse, NoForeground: true})}
	if !o.NoStabiliser && !e.clip.Recurrent() {
		e.steady = new(refine.Stabiliser)
	}
	return e
}

// Estimate implements matte.Estimator.
func (e *Estimator) Estimate(ctx context.Context, img *image.NRGBA, dst *image.Alpha) error {
	r, err := e.clip.Estimate(ctx, img)
	if err != nil {
		return err
	}
	e.upscale.Upsample(dst, img, r.Matte)
	if e.steady != nil {
		e.steady.Apply(img, dst)
	}
	return nil
}

// Decontaminate implements matte.Estimator.
func (e *Estimator) Decontaminate(img *image.NRGBA, m *image.Alpha) { e.colours.Decontaminate(img, m) }

// Stateless implements matte.Estimator.
func (e *Estimator) Stateless() bool { return e.steady == nil && !e.clip.Ordered() }

// Close does nothing: the network is the caller's.
func (e *Estimator) Close() error { return nil }
