package pipeline_test

import (
	"context"
	"errors"
	"image"
	"image/color"
	"os"
	"testing"
	"time"

	"github.com/bgremove/bgremove/internal/canvas"
	"github.com/bgremove/bgremove/internal/media"
	"github.com/bgremove/bgremove/internal/pipeline"
)

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
	run(t, walk(12), func(j *pipeline.Job) {
		j.Timing = pipeline.Timing{Start: 2 * tenth, MaxRate: 5}
		j.Progress = func(p pipeline.Progress) { last = p }
	})
	if want := (pipeline.Progress{Pass: 1, Passes: 1, Frame: 5, Frames: 5}); last != want {
		t.Errorf("last of a part at a low rate = %+v, want %+v", last, want)
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
