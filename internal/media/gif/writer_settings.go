package gif

// settings is what a quality means, for the clip at hand.
type settings struct {
	colours int     // palette entries beside the transparent one
	calm    float64 // see quant.NewMapper
	smooth  int     // contrast to the neighbours below which to dither
	still   int     // squared change of a pixel's true colour that is noise where the picture stands still
	slack   int     // squared error that a pixel may gain by staying as it is
	reward  int     // see lossyPixels; 0 = lossless
	// firm keeps lossy compression away from pixels that are drawn anew
	// though they stand still, so that they do not shimmer.
	firm bool
}

const (
	defaultQuality = 90
	firmQuality    = 85
	// usualLoss is the mean squared error of a palette on a clip of
	// photographs. Clips with less, such as GIFs that had their colours
	// reduced before, deserve to be kept as exact as their palette allows.
	usualLoss = 16.0
	// mostSlack is what such clips allow; less loss allows less in proportion.
	mostSlack = 48.0
)

// graded puts a quality on the scale of the settings. Between the default and
// 80 it falls steeply: what 80 gives up is hardly seen, and files are then as
// small as other tools' defaults.
func graded(quality int) int {
	const knee, atKnee = 80, 54
	switch {
	case quality == 0:
		return defaultQuality
	case quality >= defaultQuality:
		return quality
	case quality >= knee:
		return atKnee + (quality-knee)*(defaultQuality-atKnee)/(defaultQuality-knee)
	}
	return max(1, quality*atKnee/knee)
}

// settingsFor returns what the quality means for palettes of its colours.
func settingsFor(quality int) settings {
	firm := quality == 0 || quality >= firmQuality
	quality = graded(quality)
	down := 100 - quality
	s := settings{colours: 255, smooth: 14}
	s.calm = min(0.4+0.02*float64(max(0, down-10)), 0.6)
	s.still = min(2+4*down, 36)
	s.slack = min(6+2*down, 16+down/4)
	s.reward = down
	s.firm = firm
	if quality < 50 {
		s.colours = max(16, 255-5*(50-quality))
	}
	return s
}

// adapt tightens s, the less the lower the quality, for a clip whose palette
// has that mean squared error and whose still pixels change by that squared
// noise.
func (s settings) adapt(quality int, loss float64, noise int) settings {
	quality = graded(quality)
	forgive := float64(max(0, 90-quality)) / 10
	f := loss/usualLoss + forgive
	s.slack, s.reward = min(s.slack, int(f*mostSlack)), int(min(1, f)*float64(s.reward))
	allow := float64(4*noise + 2)
	if loss == 0 { // few colours, all of them meant
		allow = 0
	}
	s.still = min(s.still, int(allow+forgive*float64(s.still)/4))
	return s
}
