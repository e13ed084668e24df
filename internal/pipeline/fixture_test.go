package pipeline_test

import (
	"context"
	"errors"
	"image"
	"image/color"
	"io"
	"sync/atomic"
	"testing"
	"time"

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

func (e *red) Close() error { return nil }

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

func (s *shelf) Abort() { s.aborted = true }

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
