// Package scene has what stands behind the subject, where that is more than a
// colour. A Scene lies on the same canvas as the subject, and makes it opaque.
package scene

import (
	"context"
	"image"
	"time"

	"github.com/bgremove/bgremove/internal/canvas"
)

// Scene is what stands behind the subject in all frames of a clip.
type Scene interface {
	// Open starts a pass over frames that are laid out alike. The pass ends when
	// ctx does.
	Open(ctx context.Context, l canvas.Layout) (Pass, error)
}

// Pass shows a scene once, from its beginning. It is used by one goroutine.
type Pass interface {
	// At is what stands behind the frame that is first shown at a time, counted
	// from the first frame. Times never decrease.
	At(ctx context.Context, at time.Duration) (Shot, error)
	// Close ends the pass. It may be called more than once.
	Close() error
}

// Shot is what stands behind one frame. It is used by one goroutine at a time;
// different shots may be used at once.
type Shot interface {
	// See is shown the frame itself, upright and whole, before its subject is cut
	// out by a matte of the same size.
	See(frame *image.NRGBA, matte *image.Alpha)
	// Light is what shines from it on the subject. It comes after See and before
	// Under.
	Light() *Light
	// Under draws itself under the subject, which lies on the canvas; the result
	// is opaque.
	Under(img *image.NRGBA)
}

// Plain is the layout of pictures that are neither cropped nor scaled.
func Plain(size image.Point) canvas.Layout {
	r := image.Rectangle{Max: size}
	return canvas.Layout{Size: size, Window: r, Target: r}
}

// Small is the layout of such pictures on a canvas of at most 256 pixels a side, for
// a look at the scene.
func Small(size image.Point) canvas.Layout {
	l := Plain(size)
	if factor := (max(size.X, size.Y) + 255) / 256; factor > 1 {
		l.Size = image.Pt(max(1, size.X/factor), max(1, size.Y/factor))
		l.Target = image.Rectangle{Max: l.Size}
	}
	return l
}
