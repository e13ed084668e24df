package gif

// settings is what a quality means, for the clip at hand.
type settings struct {
	colours int     // palette entries beside the transparent one
	calm    float64 // see quant.NewMapper
	smooth  int     // contrast to the neighbours below which to dither
	// still is the squared change of a pixel's true colour that is noise
	// where the picture stands still, moving where it drifts.
	still, moving int
	slack         int // squared error that a pixel may gain by staying as it is
	reward        int // see lossyPixels; 0 = lossless
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
	// noiseLoss is what little noise costs at least: it has more colours than
	// a palette.
	noiseLoss = 4.0
)

// settingsFor returns what the quality means for palettes of its colours.
func settingsFor(quality int) settings {
	if quality == 0 {
		quality = defaultQuality
	}
	down := 100 - quality
	s := settings{colours: 255, calm: 0.25, smooth: 24}
	s.still, s.moving = min(2+6*down, 48+2*down), down/2
	s.slack = down
	s.reward = down
	s.firm = quality >= firmQuality
	if quality < 50 {
		s.colours = max(16, 255-5*(50-quality))
	}
	return s
}

// adapt tightens s for a clip whose palette has that mean squared error, the
// less the lower the quality.
func (s settings) adapt(quality int, loss float64) settings {
	if quality == 0 {
		quality = defaultQuality
	}
	forgive := float64(max(0, 90-quality)) / 10
	scale := func(v int, usual float64) int { return int(min(1, loss/usual+forgive) * float64(v)) }
	s.still, s.moving = scale(s.still, noiseLoss), scale(s.moving, noiseLoss)
	s.slack, s.reward = scale(s.slack, usualLoss), scale(s.reward, usualLoss)
	return s
}
