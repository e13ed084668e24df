package fit_test

import (
	"context"
	"errors"
	"math"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/bgremove/bgremove/internal/fit"
)

// fake is an encoder: its files shrink with all settings.
type fake struct {
	bytes          float64 // with nothing given up
	bias           float64 // of predictions: predicted by true size
	samples, whole int
}

func (f *fake) size(s fit.Settings) float64 {
	n := f.bytes * s.Scale * s.Scale
	if s.Quality > 0 {
		n *= math.Exp2(float64(s.Quality-90) / 20)
	}
	if s.Colours > 0 {
		n *= math.Log2(float64(s.Colours)) / 9
	}
	if s.Rate > 0 {
		n *= s.Rate / 30
	}
	if s.Length > 0 {
		n *= s.Length.Seconds() / 10
	}
	return n
}

func (f *fake) encoders() fit.Encoders {
	return fit.Encoders{
		Sample: func(_ context.Context, s fit.Settings) (int64, error) {
			f.samples++
			return int64(f.bias * f.size(s)), nil
		},
		Whole: func(_ context.Context, s fit.Settings) (int64, error) { f.whole++; return int64(f.size(s)), nil },
	}
}

var space = fit.Space{Quality: 90, Colours: 256, Rate: 30, Side: 300, Length: 10 * time.Second}

// Whatever the limit and however wrong predictions are by up to a half, the file
// fits, uses most of the limit, and takes few encodes.
func TestSearch(t *testing.T) {
	t.Parallel()
	for _, bias := range []float64{0.6, 0.9, 1, 1.1, 1.6} {
		for limit := int64(300); limit < 2_000_000; limit = limit * 5 / 4 {
			f := &fake{bytes: 1_000_000, bias: bias}
			got, err := fit.Search(t.Context(), space.Ladder(), limit, f.encoders())
			if err != nil {
				t.Errorf("limit %d, bias %.1f: %v", limit, bias, err)
				continue
			}
			if got.Size > limit || got.Size != int64(f.size(got.Settings)) {
				t.Errorf("limit %d, bias %.1f: %d bytes", limit, bias, got.Size)
			}
			if limit < 900_000 && float64(got.Size) < 0.5*float64(limit) {
				t.Errorf("limit %d, bias %.1f: only %d bytes", limit, bias, got.Size)
			}
			if f.whole > fit.MaxEncodes || f.whole != got.Encodes || got.Encode >= got.Encodes {
				t.Errorf("limit %d, bias %.1f: %d encodes, %+v", limit, bias, f.whole, got)
			}
			if f.samples > 24 {
				t.Errorf("limit %d, bias %.1f: %d samples", limit, bias, f.samples)
			}
		}
	}
}

// A file that fits as it is takes one look and one encode.
func TestNothingGivenUp(t *testing.T) {
	t.Parallel()
	f := &fake{bytes: 1000, bias: 1}
	got, err := fit.Search(t.Context(), space.Ladder(), 100_000, f.encoders())
	if err != nil || f.samples != 1 || f.whole != 1 {
		t.Errorf("%d samples, %d encodes, %v", f.samples, f.whole, err)
	}
	if diff := cmp.Diff(fit.Outcome{Settings: space.Ladder()[0], Size: 1000, Encodes: 1}, got); diff != "" {
		t.Error(diff)
	}
}

// A file of exactly the limit fits.
func TestWholeLimit(t *testing.T) {
	t.Parallel()
	f := &fake{bytes: 1000, bias: 0.9}
	got, err := fit.Search(t.Context(), space.Ladder(), 1000, f.encoders())
	if err != nil || got.Size != 1000 || got.Encodes != 1 {
		t.Errorf("%+v, %v", got, err)
	}
}

// Where each file is larger than the one before has made believe, the last encode keeps
// enough below the limit.
func TestLastEncode(t *testing.T) {
	t.Parallel()
	for limit := int64(5000); limit < 900_000; limit = limit * 9 / 8 {
		f := &fake{bytes: 1_000_000, bias: 1}
		e := f.encoders()
		e.Whole = func(_ context.Context, s fit.Settings) (int64, error) {
			f.whole++
			return int64(math.Pow(1.15, float64(f.whole)) * f.size(s)), nil
		}
		got, err := fit.Search(t.Context(), space.Ladder(), limit, e)
		if err != nil || got.Size > limit {
			t.Errorf("limit %d: %+v, %v", limit, got, err)
		}
	}
}

// Where nothing fits, the smallest file that was made is named.
func TestTooLarge(t *testing.T) {
	t.Parallel()
	f := &fake{bytes: 1e9, bias: 1}
	_, err := fit.Search(t.Context(), space.Ladder(), 100, f.encoders())
	ladder := space.Ladder()
	last := ladder[len(ladder)-1]
	var large *fit.TooLargeError
	if !errors.As(err, &large) {
		t.Fatal(err)
	}
	if diff := cmp.Diff(&fit.TooLargeError{Limit: 100, Smallest: int64(f.size(last)), Settings: last}, large); diff != "" {
		t.Error(diff)
	}
	if f.whole != 1 {
		t.Errorf("it was made %d times", f.whole)
	}
}

// The errors of both encoders end a search.
func TestErrors(t *testing.T) {
	t.Parallel()
	broken := errors.New("broken")
	for _, stage := range []string{"sample", "whole"} {
		e := (&fake{bytes: 1e6, bias: 1}).encoders()
		if stage == "sample" {
			e.Sample = func(context.Context, fit.Settings) (int64, error) { return 0, broken }
		} else {
			e.Whole = func(context.Context, fit.Settings) (int64, error) { return 0, broken }
		}
		if _, err := fit.Search(t.Context(), space.Ladder(), 1000, e); !errors.Is(err, broken) {
			t.Errorf("%s: %v", stage, err)
		}
	}
}

// Each rung gives up one thing more, length last of all, and what is not in the space
// is never touched.
func TestLadder(t *testing.T) {
	t.Parallel()
	for name, s := range map[string]fit.Space{
		"all": space, "canvas": {Quality: 80, Rate: 25, Length: time.Second}, "one quality": {Colours: 512, Rate: 10, Side: 64, Length: 3 * time.Second}, "nothing": {},
	} {
		ladder := s.Ladder()
		for i, now := range ladder[1:] {
			before := ladder[i]
			changes := 0
			for _, changed := range []bool{now.Quality != before.Quality, now.Colours != before.Colours, now.Rate != before.Rate,
				now.Scale != before.Scale, now.Length != before.Length} {
				if changed {
					changes++
				}
			}
			if changes != 1 || now.Quality > before.Quality || now.Scale > before.Scale {
				t.Errorf("%s: %+v after %+v", name, now, before)
			}
			if before.Length > 0 && now.Length == 0 || now.Length > 0 && before.Length > 0 && now.Length >= before.Length {
				t.Errorf("%s: length %v after %v", name, now.Length, before.Length)
			}
			if s.Quality == 0 && now.Quality != 0 || s.Colours == 0 && now.Colours != 0 || s.Side == 0 && now.Scale != 1 || s.Rate == 0 && now.Rate != 0 {
				t.Errorf("%s: %+v gives up what it must not", name, now)
			}
		}
		if name == "nothing" && len(ladder) != 1 {
			t.Errorf("%d rungs", len(ladder))
		}
	}
}
