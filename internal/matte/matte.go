// Package matte holds what turns a frame into its matte: soft coverage of the
// subject, one byte a pixel, 0 = backdrop, 255 = subject. Methods live in the
// sub-packages.
package matte

import (
	"context"
	"image"
	"time"
)

// Estimate is the matte of one frame in the making.
type Estimate struct {
	// Image is the frame's picture, which no step changes. The alpha that it
	// has itself is not part of the matte: the caller multiplies the two.
	Image *image.NRGBA
	// Time is when the frame is first shown, by the clip's own time.
	Time time.Duration
	// Matte has the size of Image and contiguous rows. The last step is given
	// it, and writes all of it.
	Matte *image.Alpha
	// Foreground is the colour of the subject alone, opaque, in any size and
	// Image's proportions, where the method knows it. Only what lies near
	// partly covered pixels counts.
	Foreground *image.NRGBA
	// Draft passes a step's result to the next step.
	Draft any
}

// Step is a part of the work that an estimator does on each frame.
type Step struct {
	Name string // shown with the time that it took
	// InOrder says that frames must come one by one and in the clip's order.
	// Other steps take several frames at once, in any order.
	InOrder bool
	Run     func(context.Context, *Estimate) error
}

// Estimator estimates the mattes of one clip.
type Estimator interface {
	// Steps are what each frame goes through, one step after the other. While
	// a step works on one frame, others may work on other frames.
	Steps() []Step
	// Decontaminate replaces, in place, the colour of partly covered pixels
	// by that of the subject alone, so that nothing of the old backdrop shines
	// through. Pixels of matte 0 may keep their colour. foreground is that of
	// the Estimate, or nil. It is safe for concurrent use on different
	// pictures.
	Decontaminate(img *image.NRGBA, m *image.Alpha, foreground *image.NRGBA)
	// Close releases the estimator's resources. It is idempotent.
	Close() error
}

// Studier is an Estimator that may go through the whole clip before it estimates
// the first matte.
type Studier interface {
	Estimator
	// Study are the steps of that pass, like Steps. There are none if the estimator
	// needs no such pass.
	Study() []Step
	// Draft writes a first matte of a frame that has gone through Study.
	Draft(context.Context, *Estimate) error
	// Conclude ends the pass. The frames that go through Steps then are the same, in
	// the same order.
	Conclude(context.Context) error
}
