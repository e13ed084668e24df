package fit

import (
	"math"
	"time"
)

// Settings are how a clip is encoded.
type Settings struct {
	Quality int           // 1 to 100; 0 where the format has only one
	Colours int           // at most; 0 is all
	Rate    float64       // frames a second at most; 0 is all
	Scale   float64       // of each side; 1 is all
	Length  time.Duration // 0 is all
}

// Space is what a clip may give up. Zero fields are kept as they are.
type Space struct {
	Quality int     // the best
	Colours int     // fewer than so many may be left
	Rate    float64 // that of the clip, in frames a second
	// Side is the shortest side in pixels.
	Side   int
	Length time.Duration
}

// round is how far a clip goes with each setting before the next round.
type round struct {
	quality, colours int
	rate             float64 // or the next that drops frames evenly
	scale            float64
}

// rounds are gone through one after the other. In each, quality goes first, then
// colours, then the frame rate, then the size: a little of each hurts less than much
// of one.
var rounds = []round{
	{quality: 65, colours: 128, rate: 15, scale: 0.8},
	{quality: 40, colours: 64, rate: 10, scale: 0.6},
	{quality: 20, colours: 32, rate: 7, scale: 0.4},
	{quality: 1, colours: 16, rate: 5, scale: 0.25},
}

const (
	qualityStep = 5
	coloursStep = 0.7 // of those before
	scaleStep   = 0.9
	lengthStep  = 0.85
	leastSide   = 16
	leastLength = 500 * time.Millisecond
)

// Ladder is the settings in the order in which they are given up, the best first.
// Length goes last, when all else is spent.
func (s Space) Ladder() []Settings {
	now := Settings{Quality: s.Quality, Scale: 1}
	ladder := []Settings{now}
	every := 1.0
	add := func() { ladder = append(ladder, now) }
	for _, r := range rounds {
		for s.Quality > 0 && now.Quality > r.quality {
			now.Quality = max(now.Quality-qualityStep, r.quality)
			add()
		}
		for before := s.coloursOf(now); s.Colours > 0 && before > r.colours; before = now.Colours {
			now.Colours = max(int(math.Round(coloursStep*float64(before))), r.colours)
			add()
		}
		for ; s.Rate/every > r.rate; add() { // one frame of every so many
			every++
			now.Rate = s.Rate / every
		}
		for now.Scale > r.scale && scaleStep*now.Scale*float64(s.Side) >= leastSide {
			now.Scale = max(scaleStep*now.Scale, r.scale)
			add()
		}
	}
	for left := s.Length; ; {
		left = time.Duration(lengthStep * float64(left)).Round(10 * time.Millisecond)
		if left < leastLength {
			return ladder
		}
		now.Length = left
		add()
	}
}

// coloursOf is how many colours there are before some are given up.
func (s Space) coloursOf(now Settings) int {
	if now.Colours > 0 {
		return now.Colours
	}
	return s.Colours
}
