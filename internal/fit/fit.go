// Package fit finds the best settings for a file that must not pass a size. Size is
// predicted from encodes of a sample; few encodes of the whole clip then correct
// the prediction. It does not know how a clip is encoded.
package fit

import (
	"context"
	"fmt"
)

// MaxEncodes is the most encodes of the whole clip in a Search.
const MaxEncodes = 3

const (
	// aim is the share of the limit that a predicted size may use, because
	// predictions are not exact.
	aim = 0.97
	// lastAim is that of the last encode where none before has fitted.
	lastAim = 0.85
	// enough is the share of the limit from which on a file that fits is not tried
	// to be bettered.
	enough = 0.88
)

// Encoders encode a clip with some settings and return the size in bytes.
type Encoders struct {
	// Sample predicts the size of the whole file from a part of it.
	Sample func(context.Context, Settings) (int64, error)
	// Whole encodes all of it. It is called at most MaxEncodes times.
	Whole func(context.Context, Settings) (int64, error)
}

// Outcome is the best file that fits.
type Outcome struct {
	Settings Settings
	Size     int64 // bytes
	Encode   int   // which call of Whole made it, from 0
	Encodes  int   // how many calls there were
}

// TooLargeError says that no settings fit.
type TooLargeError struct {
	Limit, Smallest int64    // bytes: the limit, and the smallest file that was made
	Settings        Settings // of the smallest
}

func (e *TooLargeError) Error() string {
	return fmt.Sprintf("%d bytes cannot be reached: the smallest file has %d", e.Limit, e.Smallest)
}

// Search finds the first rung of a ladder with a file of at most limit bytes. Later
// rungs must not give larger files. Without one the error is a *TooLargeError.
func Search(ctx context.Context, ladder []Settings, limit int64, e Encoders) (Outcome, error) {
	s := &search{ladder: ladder, limit: float64(limit), encoders: e, predicted: map[int]float64{}, ratio: 1, tooLarge: -1, fits: len(ladder)}
	if err := s.run(ctx); err != nil {
		return Outcome{}, err
	}
	if s.fits == len(ladder) {
		return Outcome{}, &TooLargeError{Limit: limit, Smallest: s.smallest, Settings: s.smallestSettings}
	}
	s.best.Encodes = s.encodes
	return s.best, nil
}

// search is the state of a Search.
type search struct {
	ladder    []Settings
	limit     float64
	encoders  Encoders
	predicted map[int]float64 // by rung
	ratio     float64         // of the last whole file to its prediction
	tooLarge  int             // the last rung that is known not to fit
	fits      int             // the first rung that is known to fit
	best      Outcome
	encodes   int

	smallest         int64
	smallestSettings Settings
}

func (s *search) run(ctx context.Context) error {
	for s.encodes < MaxEncodes && s.tooLarge+1 < s.fits {
		share := aim
		if s.encodes == MaxEncodes-1 && s.fits == len(s.ladder) {
			share = lastAim
		}
		rung, err := s.firstPredicted(ctx, share*s.limit)
		if err != nil {
			return err
		}
		if rung == s.fits {
			if s.fits < len(s.ladder) {
				return nil // nothing better will fit
			}
			rung = len(s.ladder) - 1 // the smallest there is
		}
		size, err := s.encode(ctx, rung)
		if err != nil {
			return err
		}
		if size <= s.limit && size >= enough*s.limit {
			return nil
		}
	}
	return nil
}

// encode encodes the whole clip and learns from it.
func (s *search) encode(ctx context.Context, rung int) (float64, error) {
	predicted, err := s.predict(ctx, rung)
	if err != nil {
		return 0, err
	}
	size, err := s.encoders.Whole(ctx, s.ladder[rung])
	if err != nil {
		return 0, err
	}
	if s.encodes == 0 || size < s.smallest {
		s.smallest, s.smallestSettings = size, s.ladder[rung]
	}
	if float64(size) <= s.limit {
		s.fits = rung
		s.best = Outcome{Settings: s.ladder[rung], Size: size, Encode: s.encodes}
	} else {
		s.tooLarge = rung
	}
	s.encodes++
	s.ratio = float64(size) / max(1, predicted)
	return float64(size), nil
}

// firstPredicted is the first rung of those in question that is predicted to have
// at most that size, or s.fits.
func (s *search) firstPredicted(ctx context.Context, size float64) (int, error) {
	low, high := s.tooLarge+1, s.fits
	for at := low; low < high; at = (low + high) / 2 { // most files fit as they are, so the best is tried first
		predicted, err := s.predict(ctx, at)
		if err != nil {
			return 0, err
		}
		if s.ratio*predicted <= size {
			high = at
		} else {
			low = at + 1
		}
	}
	return low, nil
}

func (s *search) predict(ctx context.Context, rung int) (float64, error) {
	if p, ok := s.predicted[rung]; ok {
		return p, nil
	}
	size, err := s.encoders.Sample(ctx, s.ladder[rung])
	if err != nil {
		return 0, err
	}
	s.predicted[rung] = float64(size)
	return float64(size), nil
}
