package pipeline_test

import (
	"errors"
	"image"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/bgremove/bgremove/internal/canvas"
	"github.com/bgremove/bgremove/internal/media"
	"github.com/bgremove/bgremove/internal/pipeline"
)

// A frame that the end cuts is shown for as long as is left of it, though players
// stretched its delay before.
func TestEndCutsStretchedDelay(t *testing.T) {
	t.Parallel()
	const ms = time.Millisecond
	hasty := walk(3)
	hasty.delay = 10 * ms
	for left, want := range map[time.Duration]time.Duration{50 * ms: 50 * ms, 5 * ms: 20 * ms} {
		s, _ := run(t, hasty, func(j *pipeline.Job) { j.Timing.End = 2*tenth + left })
		if last := s.frames[len(s.frames)-1]; last.Delay != want || last.Duration != left {
			t.Errorf("the last frame lasts %v and has a delay of %v, want %v", last.Duration, last.Delay, want)
		}
	}
}

func TestTiming(t *testing.T) {
	t.Parallel()
	const us, ms = time.Microsecond, time.Millisecond
	gif60 := []time.Duration{17 * ms, 16 * ms, 17 * ms, 17 * ms, 16 * ms, 17 * ms}
	tests := map[string]struct {
		clip    *clip
		timing  pipeline.Timing
		want    []time.Duration // PTS, duration, …
		first   time.Duration
		end     time.Duration
		dropped int
	}{
		"all":               {&clip{places: make([]image.Point, 2), times: []time.Duration{30 * ms, 50 * ms}}, pipeline.Timing{}, []time.Duration{0, 30 * ms, 30 * ms, 50 * ms}, 0, 80 * ms, 0},
		"from":              {walk(5), pipeline.Timing{Start: 250 * ms}, []time.Duration{0, 100 * ms, 100 * ms, 100 * ms}, 300 * ms, 200 * ms, 0},
		"from on the dot":   {walk(4), pipeline.Timing{Start: 300 * ms}, []time.Duration{0, 100 * ms}, 300 * ms, 100 * ms, 0},
		"until":             {walk(5), pipeline.Timing{End: 250 * ms}, []time.Duration{0, 100 * ms, 100 * ms, 100 * ms, 200 * ms, 50 * ms}, 0, 250 * ms, 0},
		"until on the dot":  {walk(5), pipeline.Timing{End: 200 * ms}, []time.Duration{0, 100 * ms, 100 * ms, 100 * ms}, 0, 200 * ms, 0},
		"half the rate":     {walk(4), pipeline.Timing{MaxRate: 5}, []time.Duration{0, 200 * ms, 200 * ms, 200 * ms}, 0, 400 * ms, 2},
		"higher rate":       {walk(2), pipeline.Timing{MaxRate: 60}, []time.Duration{0, 100 * ms, 100 * ms, 100 * ms}, 0, 200 * ms, 0},
		"60 a second":       {&clip{places: make([]image.Point, 6), times: gif60}, pipeline.Timing{MinGap: 20 * ms, Unit: 10 * ms}, []time.Duration{0, 33 * ms, 33 * ms, 34 * ms, 67 * ms, 33 * ms}, 0, 100 * ms, 3},
		"too short":         {&clip{places: make([]image.Point, 6), times: []time.Duration{8400 * us, 8400 * us, 30 * ms, 11 * ms, 8 * ms, 4 * ms}}, pipeline.Timing{MinGap: 11 * ms, Unit: ms}, []time.Duration{0, 16800 * us, 16800 * us, 30 * ms, 46800 * us, 11 * ms, 57800 * us, 12 * ms}, 0, 69800 * us, 2},
		"end is after clip": {walk(2), pipeline.Timing{End: time.Hour}, []time.Duration{0, 100 * ms, 100 * ms, 100 * ms}, 0, 200 * ms, 0},
	}
	for name, tt := range tests {
		for _, crop := range []bool{false, true} {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				s, report := run(t, tt.clip, func(j *pipeline.Job) { j.Timing, j.Canvas.Crop = tt.timing, crop })
				if name == "60 a second" {
					checkGIFDelays(t, s.frames)
				} else if d := cmp.Diff(tt.want, s.times()); d != "" {
					t.Errorf("times: %s", d)
				}
				if s.out.First != tt.first || s.out.End != tt.end {
					t.Errorf("first, end = %v, %v, want %v, %v", s.out.First, s.out.End, tt.first, tt.end)
				}
				if name != "60 a second" && report.Dropped != tt.dropped {
					t.Errorf("dropped = %d, want %d", report.Dropped, tt.dropped)
				}
				if report.Duration != tt.end {
					t.Errorf("duration = %v, want %v", report.Duration, tt.end)
				}
			})
		}
	}
}

// Where frames are left out for the rate, players show those that stay for as long
// as the clip was shown, though its delays were too short for them, and at even
// times, though its container rounds them.
func TestRateKeepsTime(t *testing.T) {
	t.Parallel()
	const ms = time.Millisecond
	rate := func(r float64) func(*pipeline.Job) { return func(j *pipeline.Job) { j.Timing.MaxRate = r } }
	hasty := walk(10)
	hasty.delay = 10 * ms
	s, _ := run(t, hasty, rate(5))
	for i, f := range s.frames {
		if f.Delay != 200*ms {
			t.Errorf("frame %d has a delay of %v", i, f.Delay)
		}
	}
	for unit, per := range map[time.Duration]int64{ms: 1000, 10 * ms: 100} {
		c := &clip{places: make([]image.Point, 30), base: media.Rational{Num: 1, Den: per}}
		at := func(i int) time.Duration { return (time.Duration(i) * time.Second / 30).Round(unit) }
		for i := range c.places {
			c.times = append(c.times, at(i+1)-at(i))
		}
		s, _ := run(t, c, rate(15))
		if len(s.frames) != 15 {
			t.Errorf("%d frames of 15", len(s.frames))
		}
		for i, f := range s.frames {
			if f.PTS != at(2*i) {
				t.Errorf("in units of %v frame %d is at %v, want %v", unit, i, f.PTS, at(2*i))
			}
		}
	}
}

// A trimmed tail does not hide what the rate left out in it.
func TestDroppedBeforeTrim(t *testing.T) {
	t.Parallel()
	c := &clip{places: append(walk(10).places, make([]image.Point, 10)...)}
	for i := range 10 {
		c.places[10+i] = c.places[9]
	}
	_, report := run(t, c, func(j *pipeline.Job) { j.Trim, j.Timing.MaxRate = true, 5 })
	if all := report.Frames + report.Trimmed + report.Dropped; all != 20 {
		t.Errorf("%d frames, %d trimmed and %d dropped of 20", report.Frames, report.Trimmed, report.Dropped)
	}
}

// checkGIFDelays rounds times to centiseconds as a GIF does: no delay may be
// under 2, and the total stays.
func checkGIFDelays(t *testing.T, frames []*media.Frame) {
	t.Helper()
	const cs = 10 * time.Millisecond
	for i, f := range frames {
		end := f.PTS + f.Duration
		if d := end.Round(cs) - f.PTS.Round(cs); d < 2*cs {
			t.Errorf("frame %d is shown for %v", i, d)
		}
		if i == len(frames)-1 && end != 100*time.Millisecond {
			t.Errorf("the clip ends at %v", end)
		}
	}
}

func TestNothingInTheChosenPart(t *testing.T) {
	t.Parallel()
	for _, crop := range []bool{false, true} {
		_, err := pipeline.Run(t.Context(), pipeline.Job{Clip: walk(3), Estimator: &red{}, Open: (&shelf{}).open,
			Timing: pipeline.Timing{Start: time.Minute}, Canvas: canvas.Spec{Crop: crop}})
		if !errors.Is(err, pipeline.ErrNoFrames) {
			t.Errorf("crop %v: error = %v", crop, err)
		}
	}
}

// Of an idle run at the start the last frame stays, of one at the end the
// first, with their own durations.
func TestTrim(t *testing.T) {
	t.Parallel()
	a, b, c := image.Pt(2, 2), image.Pt(10, 10), image.Pt(20, 20)
	tests := map[string]struct {
		places []image.Point
		want   []int // durations in units of 10 ms, which name the frames
	}{
		"both ends":      {[]image.Point{a, a, a, b, c, c, c}, []int{3, 4, 5}},
		"nothing idle":   {[]image.Point{a, b, c}, []int{1, 2, 3}},
		"middle stays":   {[]image.Point{a, b, b, b, c}, []int{1, 2, 3, 4, 5}},
		"still":          {[]image.Point{a, a, a}, []int{1}},
		"two":            {[]image.Point{a, a, b, b}, []int{2, 3}},
		"there and back": {[]image.Point{a, a, b, a, a}, []int{2, 3, 4}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			clip := &clip{places: tt.places}
			for i := range tt.places {
				clip.times = append(clip.times, time.Duration(i+1)*10*time.Millisecond)
			}
			s, report := run(t, clip, func(j *pipeline.Job) { j.Trim = true })
			var got []int
			at := time.Duration(0)
			for _, f := range s.frames {
				got = append(got, int(f.Duration/(10*time.Millisecond)))
				if f.PTS != at {
					t.Errorf("frame at %v, want %v", f.PTS, at)
				}
				at += f.Duration
			}
			if !slices.Equal(got, tt.want) {
				t.Errorf("kept frames %v, want %v", got, tt.want)
			}
			if want := len(tt.places) - len(tt.want); report.Trimmed != want {
				t.Errorf("trimmed = %d, want %d", report.Trimmed, want)
			}
		})
	}
}

// The crop box comes from the kept frames only.
func TestTrimThenCrop(t *testing.T) {
	t.Parallel()
	far := image.Pt(30, 20)
	c := &clip{places: []image.Point{{2, 2}, {2, 2}, {4, 2}, far, far}}
	_, report := run(t, c, func(j *pipeline.Job) { j.Trim, j.Canvas.Crop = true, true })
	if want := image.Rect(2, 2, 36, 26); report.Layout.Window != want || report.Layout.Target != want.Sub(want.Min) {
		t.Errorf("%v lies at %v, want %v", report.Layout.Window, report.Layout.Target, want)
	}
	if want := 100 * time.Millisecond; report.Start != want {
		t.Errorf("it begins at %v, want %v", report.Start, want)
	}
}
