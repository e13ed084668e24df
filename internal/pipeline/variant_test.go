package pipeline_test

import (
	"context"
	"errors"
	"image"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/bgremove/bgremove/internal/canvas"
	"github.com/bgremove/bgremove/internal/matte"
	"github.com/bgremove/bgremove/internal/pipeline"
)

// tally counts the mattes that are estimated.
type tally struct {
	red
	mattes atomic.Int32
}

func (e *tally) Steps() []matte.Step {
	return []matte.Step{{Name: "matte", Run: func(ctx context.Context, w *matte.Estimate) error {
		e.mattes.Add(1)
		return e.estimate(ctx, w)
	}}}
}

func prepare(t *testing.T, c *clip, e matte.Estimator) *pipeline.Prepared {
	t.Helper()
	p, err := pipeline.Prepare(t.Context(), pipeline.Job{Clip: c, Estimator: e, Keep: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := p.Close(); err != nil {
			t.Error(err)
		}
	})
	return p
}

const tenth = 100 * time.Millisecond

// A clip is cut out once, however often it is written, and each variant has the frames
// that it asks for, at their times.
func TestVariants(t *testing.T) {
	t.Parallel()
	e := &tally{}
	p := prepare(t, walk(20), e)
	if p.Length() != 20*tenth || p.Frames() != 20 {
		t.Errorf("%d frames, %v", p.Frames(), p.Length())
	}
	for _, test := range []struct {
		name         string
		v            pipeline.Variant
		times        []time.Duration // in tenths of a second
		end          time.Duration
		dropped, cut int
	}{
		{"all", pipeline.Variant{}, []time.Duration{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19}, 20, 0, 0},
		{"gap", pipeline.Variant{Gap: 4 * tenth}, []time.Duration{0, 4, 8, 12, 16}, 20, 15, 0},
		{"a gap of no frame", pipeline.Variant{Gap: 5*tenth + tenth/2}, []time.Duration{0, 6, 12, 18}, 20, 16, 0},
		{"few frames", pipeline.Variant{MaxFrames: 7}, []time.Duration{0, 3, 6, 9, 12, 15, 18}, 20, 13, 0},
		{"short", pipeline.Variant{Length: 3*tenth + tenth/2}, []time.Duration{0, 1, 2, 3}, 4, 0, 16},
		{"short, and a last frame of 20 ms", pipeline.Variant{Length: 3*tenth + tenth/5}, []time.Duration{0, 1, 2, 3}, 3, 0, 16},
		{"short, and no last frame of less", pipeline.Variant{Length: 3*tenth + tenth/5 - 1}, []time.Duration{0, 1, 2}, 3, 0, 17},
		{"all at once", pipeline.Variant{Gap: 2 * tenth, Length: 5 * tenth, MaxFrames: 2}, []time.Duration{0, 3}, 5, 2, 16},
		{"sample", pipeline.Variant{Sample: &pipeline.Sampling{Parts: 2, Span: 4 * tenth}}, []time.Duration{0, 1, 2, 3}, 4, 0, 0},
		{"sample of few", pipeline.Variant{Gap: 2 * tenth, Sample: &pipeline.Sampling{Parts: 1, Span: 8 * tenth}}, []time.Duration{0, 2, 4, 6}, 8, 0, 0},
		{"sample of nothing", pipeline.Variant{Gap: time.Hour, Sample: &pipeline.Sampling{Parts: 1, Span: tenth}}, []time.Duration{0}, 20, 0, 0},
	} {
		s := &shelf{}
		test.v.Open = s.open
		report, err := p.Render(t.Context(), test.v)
		if err != nil {
			t.Errorf("%s: %v", test.name, err)
			continue
		}
		for i := range test.times {
			test.times[i] *= tenth
		}
		var starts []time.Duration
		for _, f := range s.frames {
			starts = append(starts, f.PTS)
		}
		if diff := cmp.Diff(test.times, starts); diff != "" {
			t.Errorf("%s: %s", test.name, diff)
		}
		last := s.frames[len(s.frames)-1]
		end := last.PTS + last.Duration
		if test.v.Length%tenth != 0 {
			end = end.Round(tenth) // the last frame is cut
		}
		if end != test.end*tenth || !s.closed || report.Duration != last.PTS+last.Duration {
			t.Errorf("%s: ends at %v, report %v, closed %t", test.name, end, report.Duration, s.closed)
		}
		if test.v.Sample == nil && (report.Dropped != test.dropped || report.Cut != test.cut) {
			t.Errorf("%s: %d dropped, %d cut", test.name, report.Dropped, report.Cut)
		}
	}
	if n := e.mattes.Load(); n != 20 {
		t.Errorf("%d mattes of 20 frames", n)
	}
}

// Frames that are trimmed at the start are not counted as cut, nor as dropped.
func TestShortVariantOfTrimmedClip(t *testing.T) {
	t.Parallel()
	c := walk(9)
	c.places[0], c.places[1] = c.places[2], c.places[2]
	s := &shelf{}
	p, err := pipeline.Prepare(t.Context(), pipeline.Job{Clip: c, Estimator: &red{}, Keep: true, Trim: true})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	r, err := p.Render(t.Context(), pipeline.Variant{Length: 4 * tenth, Gap: 2 * tenth, Open: s.open})
	if err != nil || r.Frames != 2 || r.Trimmed != 2 || r.Dropped != 1 || r.Cut != 4 {
		t.Errorf("%+v, %v", r, err)
	}
}

// A clip of no length to speak of keeps within few frames, too.
func TestFewFramesOfAMoment(t *testing.T) {
	t.Parallel()
	c := walk(20)
	for range c.places {
		c.times = append(c.times, 1)
	}
	s := &shelf{}
	if _, err := prepare(t, c, &red{}).Render(t.Context(), pipeline.Variant{MaxFrames: 7, Open: s.open}); err != nil || len(s.frames) != 1 {
		t.Errorf("%d frames, %v", len(s.frames), err)
	}
}

// The frames of a sample are those of the middle of each part, with their own mattes.
func TestSampleShowsItsParts(t *testing.T) {
	t.Parallel()
	c := walk(20)
	p := prepare(t, c, &red{})
	s := &shelf{}
	v := pipeline.Variant{Sample: &pipeline.Sampling{Parts: 2, Span: 4 * tenth}, Open: s.open}
	if _, err := p.Render(t.Context(), v); err != nil {
		t.Fatal(err)
	}
	for i, index := range []int{4, 5, 14, 15} { // around a quarter and three quarters
		at := c.places[index]
		img := s.frames[i].Image
		if img.NRGBAAt(at.X, at.Y).A != 255 || img.NRGBAAt(at.X-1, at.Y).A != 0 {
			t.Errorf("frame %d is not frame %d of the clip", i, index)
		}
	}
	if got := p.Share(v); got != 0.2 {
		t.Errorf("the share is %v", got)
	}
}

// A variant may have another size; the job's own comes back after it.
func TestVariantSize(t *testing.T) {
	t.Parallel()
	p, err := pipeline.Prepare(t.Context(), pipeline.Job{Clip: walk(3), Estimator: &red{}, Canvas: canvas.Spec{Crop: true}})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	own, err := p.Size()
	if err != nil {
		t.Fatal(err)
	}
	for _, size := range []image.Point{{X: 20, Y: 16}, {}} {
		s := &shelf{}
		want := size
		if want == (image.Point{}) {
			want = own
		}
		if report, err := p.Render(t.Context(), pipeline.Variant{Size: size, Open: s.open}); err != nil || report.Layout.Size != want || s.out.Size != want {
			t.Errorf("%v, not %v: %v", s.out.Size, want, err)
		}
	}
}

// A render that fails ends its sink, and not the renders after it.
func TestRenderFails(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) { // which ends with an error where all wait for ever
		p := prepare(t, walk(50), &red{})
		for range 20 {
			broken := &shelf{failAt: 3}
			if _, err := p.Render(t.Context(), pipeline.Variant{Open: broken.open}); !errors.Is(err, errShelf) || !broken.aborted {
				t.Errorf("%v, aborted %t", err, broken.aborted)
			}
		}
		s := &shelf{}
		if _, err := p.Render(t.Context(), pipeline.Variant{Open: s.open}); err != nil || len(s.frames) != 50 {
			t.Errorf("%d frames, %v", len(s.frames), err)
		}
	})
}
