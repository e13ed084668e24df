// Package matte holds what turns a frame into its matte: soft coverage of the
// subject, one byte a pixel, 0 = backdrop, 255 = subject. Methods live in the
// sub-packages.
package matte

import (
	"context"
	"image"
)

// Estimator estimates the mattes of one clip, frame by frame and in order.
type Estimator interface {
	// Estimate writes the matte of img into dst, which has img's size and
	// contiguous rows. It leaves img as it is. The alpha that img itself has
	// is not part of the matte: the caller multiplies the two.
	Estimate(ctx context.Context, img *image.NRGBA, dst *image.Alpha) error
	// Decontaminate replaces, in place, the colour of partly covered pixels
	// by that of the subject alone, so that nothing of the old backdrop shines
	// through. It is safe for concurrent use on different pictures.
	Decontaminate(img *image.NRGBA, m *image.Alpha)
	// Stateless reports whether Estimate may be called concurrently and out
	// of order.
	Stateless() bool
	// Close releases what the estimator holds. It is idempotent.
	Close() error
}
