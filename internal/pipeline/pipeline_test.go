package pipeline_test

import (
	"context"
	"errors"
	"image"
	"image/color"
	"io"
	"os"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/bgremove/bgremove/internal/canvas"
	"github.com/bgremove/bgremove/internal/matte"
	"github.com/bgremove/bgremove/internal/media"
	"github.com/bgremove/bgremove/internal/pipeline"
)

const width, height = 40, 30

// clip is a clip in memory: a red square on green, at a place per frame.
type clip struct {
	places []image.Point
	times  []time.Duration // durations
	delay  time.Duration   // as written, where that is not the duration
	base   media.Rational  // of the times
	fail   error           // after the last frame
	cut    int             // the first frame of another scene; 0: none
}

const square = 6

func (c *clip) Info() media.Info {
	info := media.Info{Container: media.GIF, Width: width, Height: height, Frames: len(c.places), TimeBase: c.base}
	for i := range c.places {
		info.Duration += c.duration(i)
	}
	return info
}

func (c *clip) duration(i int) time.Duration {
	if i < len(c.times) {
		return c.times[i]
	}
	return 100 * time.Millisecond
}

func (c *clip) picture(i int) *image.NRGBA {
	img := image.NewNRGBA(image.Rect(0, 0, width, height))
	backdrop := color.NRGBA{0, 200, 0, 255}
	if c.cut > 0 && i >= c.cut {
		backdrop = color.NRGBA{0, 0, 200, 255}
	}
	canvas.Flatten(img, backdrop)
	at := c.places[i]
	for y := at.Y; y < at.Y+square; y++ {
		for x := at.X; x < at.X+square; x++ {
			img.SetNRGBA(x, y, color.NRGBA{200, 0, 0, 255})
		}
	}
	return img
}

func (c *clip) Open(_ context.Context, o media.ReadOptions) (media.Source, error) {
	return &source{clip: c, every: max(1, o.Every)}, nil
}

type source struct {
	clip  *clip
	every int
	n     int
	at    time.Duration
}

func (s *source) Next(context.Context) (*media.Frame, error) {
	if s.n >= len(s.clip.places) {
		if s.clip.fail != nil {
			return nil, s.clip.fail
		}
		return nil, io.EOF
	}
	f := &media.Frame{Image: s.clip.picture(s.n), PTS: s.at, Duration: s.clip.duration(s.n)}
	if f.Delay = f.Duration; s.clip.delay > 0 {
		f.Delay = s.clip.delay
	}
	for range s.every {
		s.at += s.clip.duration(s.n)
		s.n++
	}
	return f, nil
}

func (s *source) Close() error { return nil }

// red takes what is more red than green for the subject.
type red struct {
	sequential bool
	busy       atomic.Int32
	overlapped atomic.Bool
}

func (e *red) Steps() []matte.Step {
	return []matte.Step{{Name: "matte", InOrder: e.sequential, Run: e.estimate}}
}

func (e *red) estimate(_ context.Context, w *matte.Estimate) error {
	img, dst := w.Image, w.Matte
	if e.busy.Add(1) > 1 {
		e.overlapped.Store(true)
	}
	defer e.busy.Add(-1)
	for i := range dst.Pix {
		dst.Pix[i] = 0
		if img.Pix[4*i] > img.Pix[4*i+1] {
			dst.Pix[i] = 255
		}
	}
	return nil
}

func (e *red) Decontaminate(*image.NRGBA, *image.Alpha, *image.NRGBA) {}
func (e *red) Close() error                                           { return nil }

// shelf keeps what is written.
type shelf struct {
	out     pipeline.Output
	frames  []*media.Frame
	closed  bool
	aborted bool
	failAt  int // write that fails, from 1
}

func (s *shelf) Write(_ context.Context, f *media.Frame) error {
	if len(s.frames)+1 == s.failAt {
		return errShelf
	}
	s.frames = append(s.frames, f)
	return nil
}

func (s *shelf) Close() error { s.closed = true; return nil }
func (s *shelf) Abort()       { s.aborted = true }

var errShelf = errors.New("shelf is full")

func (s *shelf) open(_ context.Context, out pipeline.Output) (media.Sink, error) {
	s.out = out
	return s, nil
}

func (s *shelf) times() (out []time.Duration) {
	for _, f := range s.frames {
		out = append(out, f.PTS, f.Duration)
	}
	return out
}

// run does the job on a shelf and fails the test on error.
func run(t *testing.T, c *clip, change func(*pipeline.Job)) (*shelf, pipeline.Report) {
	t.Helper()
	s := &shelf{}
	job := pipeline.Job{Clip: c, Estimator: &red{}, Open: s.open, Workers: 3}
	change(&job)
	report, err := pipeline.Run(t.Context(), job)
	if err != nil {
		t.Fatal(err)
	}
	if !s.closed || s.aborted {
		t.Errorf("closed, aborted = %v, %v", s.closed, s.aborted)
	}
	if report.Frames != len(s.frames) {
		t.Errorf("report says %d frames, %d were written", report.Frames, len(s.frames))
	}
	return s, report
}

func walk(n int) *clip {
	c := &clip{}
	for i := range n {
		c.places = append(c.places, image.Pt(2+i%20, 5+i%10))
	}
	return c
}

// Frames arrive in order with their own pictures, one pass or two, whether
// mattes are estimated side by side or not.
func TestOrder(t *testing.T) {
	t.Parallel()
	for _, crop := range []bool{false, true} {
		for _, sequential := range []bool{false, true} {
			c, e := walk(50), &red{sequential: sequential}
			s, _ := run(t, c, func(j *pipeline.Job) { j.Canvas.Crop, j.Estimator = crop, e })
			if len(s.frames) != 50 {
				t.Fatalf("crop %v: %d frames", crop, len(s.frames))
			}
			if sequential && e.overlapped.Load() {
				t.Error("an estimator with state was called concurrently")
			}
			shift := image.Point{}
			if crop {
				shift = image.Pt(2, 5) // corner of the union box
			}
			for i, f := range s.frames {
				want := c.places[i].Sub(shift)
				if f.PTS != time.Duration(i)*100*time.Millisecond {
					t.Errorf("frame %d at %v", i, f.PTS)
				}
				if f.Image.NRGBAAt(want.X, want.Y).A != 255 || want.X > 0 && f.Image.NRGBAAt(want.X-1, want.Y).A != 0 {
					t.Errorf("crop %v: frame %d does not show its square at %v", crop, i, want)
				}
			}
		}
	}
}

// One box holds the subject of all frames, so that nothing jumps.
func TestCropIsOneBox(t *testing.T) {
	t.Parallel()
	c := &clip{places: []image.Point{{2, 3}, {20, 10}, {30, 20}}}
	_, report := run(t, c, func(j *pipeline.Job) { j.Canvas = canvas.Spec{Crop: true, Pad: 4} })
	if want := image.Pt(30+square-2+8, 20+square-3+8); report.Layout.Size != want {
		t.Errorf("size = %v, want %v", report.Layout.Size, want)
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

func TestMaskOnly(t *testing.T) {
	t.Parallel()
	s, _ := run(t, &clip{places: []image.Point{{2, 3}}}, func(j *pipeline.Job) {
		j.MaskOnly, j.Canvas = true, canvas.Spec{Crop: true, Pad: 2}
	})
	img := s.frames[0].Image
	if got, want := img.NRGBAAt(0, 0), (color.NRGBA{0, 0, 0, 255}); got != want {
		t.Errorf("padding = %v, want %v", got, want)
	}
	if got, want := img.NRGBAAt(4, 4), (color.NRGBA{255, 255, 255, 255}); got != want {
		t.Errorf("subject = %v, want %v", got, want)
	}
}

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

func TestProgress(t *testing.T) {
	t.Parallel()
	var last pipeline.Progress
	n := 0
	run(t, walk(12), func(j *pipeline.Job) {
		j.Canvas.Crop = true
		j.Progress = func(p pipeline.Progress) { last = p; n++ }
	})
	if want := (pipeline.Progress{Pass: 2, Passes: 2, Frame: 12, Frames: 12}); last != want || n != 24 {
		t.Errorf("last of %d = %+v, want %+v", n, last, want)
	}
}

// Whatever fails, the sink is aborted and the error comes out.
func TestFailures(t *testing.T) {
	t.Parallel()
	broken := errors.New("broken")
	tests := map[string]struct {
		change func(*pipeline.Job, *clip, *shelf)
		want   error
	}{
		"source in one pass": {func(_ *pipeline.Job, c *clip, _ *shelf) { c.fail = broken }, broken},
		"source in two":      {func(j *pipeline.Job, c *clip, _ *shelf) { c.fail, j.Canvas.Crop = broken, true }, broken},
		"sink":               {func(_ *pipeline.Job, _ *clip, s *shelf) { s.failAt = 5 }, errShelf},
		"first write":        {func(_ *pipeline.Job, _ *clip, s *shelf) { s.failAt = 1 }, errShelf},
		"open": {func(j *pipeline.Job, _ *clip, _ *shelf) {
			j.Open = func(context.Context, pipeline.Output) (media.Sink, error) { return nil, broken }
		}, broken},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c, s := walk(30), &shelf{}
			job := pipeline.Job{Clip: c, Estimator: &red{}, Open: s.open}
			tt.change(&job, c, s)
			_, err := pipeline.Run(t.Context(), job)
			if !errors.Is(err, tt.want) {
				t.Errorf("error = %v, want %v", err, tt.want)
			}
			if s.closed {
				t.Error("the sink was closed as if all were well")
			}
			if len(s.frames) > 0 && !s.aborted {
				t.Error("the sink was not aborted")
			}
		})
	}
}

func TestCancel(t *testing.T) {
	t.Parallel()
	why := errors.New("enough")
	for _, crop := range []bool{false, true} {
		ctx, cancel := context.WithCancelCause(t.Context())
		s := &shelf{}
		_, err := pipeline.Run(ctx, pipeline.Job{Clip: walk(200), Estimator: &red{}, Open: s.open, Canvas: canvas.Spec{Crop: crop},
			Progress: func(p pipeline.Progress) {
				if p.Frame == 20 {
					cancel(why)
				}
			}})
		if !errors.Is(err, why) {
			t.Errorf("crop %v: error = %v, want %v", crop, err, why)
		}
		if s.closed {
			t.Error("the sink was closed as if all were well")
		}
	}
}

// Nothing is left in the folder for temporary files.
func TestNoTemporaryIsLeft(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("TMPDIR", dir)
	run(t, walk(10), func(j *pipeline.Job) { j.Canvas.Crop = true })
	left, err := os.ReadDir(dir)
	if err != nil || len(left) > 0 {
		t.Errorf("%d files left, %v", len(left), err)
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
