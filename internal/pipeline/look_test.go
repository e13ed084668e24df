package pipeline_test

import (
	"context"
	"errors"
	"image"
	"image/color"
	"slices"
	"testing"
	"time"

	"github.com/bgremove/bgremove/internal/media"
	"github.com/bgremove/bgremove/internal/pipeline"
)

// The survey sees every frame, cut out, on the background.
func TestSurvey(t *testing.T) {
	t.Parallel()
	seen := 0
	bg := color.NRGBA{1, 2, 3, 255}
	run(t, walk(9), func(j *pipeline.Job) {
		j.Canvas.Background = &bg
		j.Survey = func(img *image.NRGBA) {
			seen++
			if got := img.NRGBAAt(39, 29); got != bg {
				t.Errorf("background in the survey = %v", got)
			}
		}
	})
	if seen != 9 {
		t.Errorf("%d frames surveyed, want 9", seen)
	}
}

// The preview is the first frame that shows something, and comes once.
func TestPreview(t *testing.T) {
	t.Parallel()
	outside := image.Pt(100, 100)
	tests := map[string]struct {
		places []image.Point
		x      int // where the subject must be
	}{
		"first":  {[]image.Point{{2, 2}, {9, 2}}, 2},
		"later":  {[]image.Point{outside, outside, {9, 2}, {2, 2}}, 9},
		"absent": {[]image.Point{outside, outside}, -1},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			calls := 0
			run(t, &clip{places: tt.places}, func(j *pipeline.Job) {
				j.Preview = func(before, after *image.NRGBA) {
					calls++
					if before.Rect != after.Rect || before.NRGBAAt(39, 29).A != 255 || after.NRGBAAt(39, 29).A != 0 {
						t.Error("before and after are not laid out alike, or not what they are called")
					}
					if tt.x >= 0 && after.NRGBAAt(tt.x, 2).A != 255 {
						t.Errorf("no subject at %d", tt.x)
					}
				}
			})
			if calls != 1 {
				t.Errorf("%d previews", calls)
			}
		})
	}
}

// A cut-out is shown before the output is begun where a pass comes before.
func TestFirstCut(t *testing.T) {
	t.Parallel()
	outside := image.Pt(100, 100)
	for name, tt := range map[string]struct {
		places []image.Point
		crop   bool
		x      int // where the subject must be
	}{
		"one pass":         {[]image.Point{outside, {9, 2}, {2, 2}}, false, 9},
		"two passes":       {[]image.Point{outside, {9, 2}, {2, 2}}, true, 9},
		"one pass, none":   {[]image.Point{outside, outside}, false, -1},
		"two passes, none": {[]image.Point{outside, outside}, true, -1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			calls, opened := 0, false
			run(t, &clip{places: tt.places}, func(j *pipeline.Job) {
				j.Canvas.Crop = tt.crop
				begin := j.Open
				j.Open = func(ctx context.Context, o pipeline.Output) (media.Sink, error) {
					opened = true
					return begin(ctx, o)
				}
				j.FirstCut = func(img *image.NRGBA) {
					calls++
					if opened == tt.crop {
						t.Errorf("the output has begun: %v", opened)
					}
					if img.NRGBAAt(39, 29).A != 0 || tt.x >= 0 && img.NRGBAAt(tt.x, 2).A != 255 {
						t.Errorf("no cut-out, or no subject at %d", tt.x)
					}
				}
			})
			if calls != 1 {
				t.Errorf("%d cut-outs", calls)
			}
		})
	}
}

func TestLookIsBounded(t *testing.T) {
	t.Parallel()
	for frames, want := range map[int]int{1: 1, 8: 8, 9: 5, 100: 8} {
		n := 0
		if err := pipeline.Sample(t.Context(), walk(frames), pipeline.Timing{}, 8, func(*image.NRGBA) { n++ }); err != nil {
			t.Fatal(err)
		}
		if n != want {
			t.Errorf("%d of %d frames shown, want %d", n, frames, want)
		}
	}
	n := 0
	if err := pipeline.Sample(t.Context(), walk(400), pipeline.Timing{MaxRate: 0.1}, 8, func(*image.NRGBA) { n++ }); err != nil || n != 8 {
		t.Errorf("%d frames shown at a low rate, %v", n, err)
	}
}

// A part with fewer frames than its share of the clip's time is looked at, too.
func TestLookAtLongFrame(t *testing.T) {
	t.Parallel()
	c := walk(20)
	c.times = slices.Repeat([]time.Duration{100 * time.Millisecond}, len(c.places))
	c.times[6] = 10 * time.Second
	n := 0
	timing := pipeline.Timing{Start: 600 * time.Millisecond, End: 10 * time.Second}
	if err := pipeline.Sample(t.Context(), c, timing, 4, func(*image.NRGBA) { n++ }); err != nil || n != 1 {
		t.Errorf("%d frames shown, %v", n, err)
	}
}

// film is a long clip that can be read from anywhere. It counts what is read.
type film struct {
	*clip
	seekCost     int
	read, opened int
}

func (f *film) Info() media.Info {
	info := f.clip.Info()
	info.Container, info.SeekCost = media.MP4, f.seekCost
	return info
}

func (f *film) Open(_ context.Context, o media.ReadOptions) (media.Source, error) {
	f.opened++
	s := &source{clip: f.clip, every: max(1, o.Every)}
	for s.at < o.From {
		s.at += f.duration(s.n)
		s.n++
	}
	return reel{s, f}, nil
}

type reel struct {
	*source
	film *film
}

func (r reel) Next(ctx context.Context) (*media.Frame, error) {
	r.film.read++
	return r.source.Next(ctx)
}

// A long film is not read from beginning to end to see a few of its frames.
func TestLookLeaps(t *testing.T) {
	t.Parallel()
	f := &film{clip: walk(2005), seekCost: 250}
	f.fail = errors.New("read to the end")
	var at []image.Point
	see := func(img *image.NRGBA) {
		for i := 0; i < len(img.Pix); i += 4 {
			if img.Pix[i] > img.Pix[i+1] {
				at = append(at, image.Pt(i/4%width, i/4/width))
				return
			}
		}
	}
	timing := pipeline.Timing{Start: 500 * time.Millisecond}
	if err := pipeline.Sample(t.Context(), f, timing, 4, see); err != nil {
		t.Fatal(err)
	}
	if want := []image.Point{f.places[5], f.places[505], f.places[1005], f.places[1505]}; !slices.Equal(at, want) {
		t.Errorf("subjects at %v, want %v", at, want)
	}
	if f.read != 4 {
		t.Errorf("%d frames read", f.read)
	}

	t.Run("times within a long frame", func(t *testing.T) {
		f := &film{clip: walk(2005), seekCost: 250}
		f.times = slices.Repeat([]time.Duration{100 * time.Millisecond}, len(f.places))
		f.times[2] = time.Hour
		at = nil
		if err := pipeline.Sample(t.Context(), f, pipeline.Timing{}, 4, see); err != nil {
			t.Fatal(err)
		}
		if want := []image.Point{f.places[0], f.places[3]}; !slices.Equal(at, want) {
			t.Errorf("subjects at %v, want %v", at, want)
		}
	})
	t.Run("times within a long last frame", func(t *testing.T) {
		f := &film{clip: walk(2005), seekCost: 250}
		f.times = slices.Repeat([]time.Duration{100 * time.Millisecond}, len(f.places))
		f.times[2004] = time.Hour
		n := 0
		if err := pipeline.Sample(t.Context(), f, pipeline.Timing{}, 4, func(*image.NRGBA) { n++ }); err != nil || n != 1 {
			t.Fatal(n, err)
		}
		if f.opened != 2 {
			t.Errorf("opened %d times", f.opened)
		}
	})
	t.Run("key frames too far apart", func(t *testing.T) {
		f := &film{clip: walk(2005), seekCost: 2000}
		n := 0
		if err := pipeline.Sample(t.Context(), f, pipeline.Timing{}, 4, func(*image.NRGBA) { n++ }); err != nil || n != 4 {
			t.Fatal(n, err)
		}
		if f.opened != 1 {
			t.Errorf("opened %d times", f.opened)
		}
	})
}
