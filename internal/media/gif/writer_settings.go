package gif

import (
	"math"

	"github.com/bgremove/bgremove/pkg/option"
)

// settings are a quality's values for one clip.
type settings struct {
	lambda      float64 // see quant.Histogram.Palette
	noiseWeight float64 // see quant.NewMapper
	smooth      int     // contrast to the neighbours below which to dither
	still       int     // squared change of a pixel's true colour that is noise where the picture stands still
	slack       int     // squared error that a pixel may gain by staying as it is
	reward      int     // see lossyPixels; 0 = lossless
	// stillLossless keeps lossy compression away from still pixels that are redrawn, so
	// that they do not shimmer.
	stillLossless bool
}

const (
	// maxColours are beside the transparent one.
	maxColours           = 255
	stillLosslessQuality = 85
	knee                 = 80
	errorAtDefault       = 100 - option.QualityGIF
	errorAtKnee          = 46
	// photoLoss is the mean squared error of a palette on a clip of
	// photographs. Clips with less, such as GIFs that had their colours
	// reduced before, deserve to be kept as exact as their palette allows.
	photoLoss = 16.0
	// maxSlack bounds the slack of such clips, in proportion to their loss.
	maxSlack = 48.0
)

// acceptedError is the squared error that a quality accepts for a string that is a
// pixel longer. It rises steeply between the default and 80, because the loss
// at 80 is hardly visible. Below, 20 less are twice the error, and colours are
// reduced too.
func acceptedError(quality int) int {
	switch {
	case quality == 0:
		return errorAtDefault
	case quality >= option.QualityGIF:
		return 100 - quality
	case quality >= knee:
		return errorAtKnee - (quality-knee)*(errorAtKnee-errorAtDefault)/(option.QualityGIF-knee)
	}
	return int(errorAtKnee * math.Exp2(float64(knee-quality)/20))
}

// settingsFor returns the settings of a quality. lambda is that of a redrawn
// picture.
func settingsFor(quality int) settings {
	y := acceptedError(quality)
	return settings{
		lambda:        0.4 * float64(max(0, y-errorAtKnee)),
		noiseWeight:   min(0.4+0.02*float64(max(0, y-errorAtDefault)), 0.6),
		smooth:        14,
		still:         min(2+4*y, 36),
		slack:         max(min(6+2*y, 16+y/4), y/2),
		reward:        y,
		stillLossless: quality == 0 || quality >= stillLosslessQuality,
	}
}

// adapt tightens s for a clip with that mean squared error of its palette and
// that squared noise of its still pixels. A lower quality is tightened less.
func (s settings) adapt(quality int, loss float64, noise int) settings {
	forgive := float64(max(0, acceptedError(quality)-errorAtDefault)) / 10
	f := loss/photoLoss + forgive
	s.slack, s.reward = min(s.slack, int(f*maxSlack)), int(min(1, f)*float64(s.reward))
	allow := float64(4*noise + 2)
	if loss == 0 { // few colours, all of them meant
		allow = 0
	}
	s.still = min(s.still, int(allow+forgive*float64(s.still)/4))
	return s
}
