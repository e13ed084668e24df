// Package pipeline runs a clip through its stages: read, estimate the matte,
// cut out, lay out, write. Stages run in parallel, the frames in all of them
// together are bounded, and order is kept. Memory therefore does not depend on
// the clip's length.
//
// Some facts about the whole clip are needed before its first frame can be
// written: the subject's box for a crop, idle ends for a trim, the colours for
// a palette. A first pass measures them and keeps its mattes, compressed, for
// the second.
package pipeline

import (
	"context"
	"errors"
	"fmt"
	"image"
	"image/color"
	"sync"
	"time"

	"github.com/bgremove/bgremove/internal/canvas"
	"github.com/bgremove/bgremove/internal/matte"
	"github.com/bgremove/bgremove/internal/media"
	"github.com/bgremove/bgremove/internal/scene"
	"github.com/bgremove/bgremove/internal/system/cores"
)

// Job describes the work on a clip. Clip, Estimator and Open are required.
type Job struct {
	Clip      media.Clip
	Estimator matte.Estimator
	Timing    Timing
	// Margin is how much of the clip before and after the chosen part the estimator sees,
	// too. It needs Keep.
	Margin time.Duration
	Canvas canvas.Spec
	// Scene, if set, is what stands behind the subject in the place of a colour.
	Scene scene.Scene
	// Harmonise makes the subject's light and colour a little more like the Scene's,
	// alike in all frames.
	Harmonise bool
	// Tidy removes haze, specks and flickering holes from the mattes: parts that
	// do not belong to the clip's subject.
	Tidy bool
	// Faint has Tidy leave parts of which little is solid.
	Faint bool
	// Largest leaves only the largest part of the mattes of each shot, by what it covers in all
	// its frames.
	Largest bool
	// Trim drops the idle frames at both ends but one each.
	Trim bool
	// MaskOnly writes the matte itself, white on black, opaque.
	MaskOnly bool
	// KeepColours leaves the old backdrop in the colour of edges.
	KeepColours bool
	// BleedReach extends the subject's colour that many pixels under alpha 0,
	// for codecs that blur; 0 leaves it.
	BleedReach int
	// Survey, if set, sees every frame as it will be cut out, before scaling,
	// ahead of Open. It is called in order from one goroutine.
	Survey func(*image.NRGBA)
	// Open starts the output of Run. It is called once all about it is known.
	Open func(context.Context, Output) (media.Sink, error)
	// OpenMatte, if set, starts a second output of Run: each frame's alpha as it is laid
	// out, without a background, as grey, opaque.
	OpenMatte func(context.Context, Output) (media.Sink, error)
	// Keep keeps the mattes of a clip that one pass would do for, so that it can be
	// rendered several times.
	Keep bool
	// Renders is how many times the whole clip is to be rendered, for Progress; 0
	// means once.
	Renders int
	// Preview, if set, receives the first output frame of Run with a subject in it
	// (else the first), and the source laid out alike. It is called once.
	Preview func(before, after *image.NRGBA)
	// FirstCut, if set, receives the cut-out of the first frame with a subject
	// in it (else the first), as soon as its matte exists: as it is cut out in
	// a first pass, laid out where there is one pass only. It is called once.
	FirstCut func(*image.NRGBA)
	// Progress, if set, is called after every frame of every pass, from one
	// goroutine at a time.
	Progress func(Progress)
	// TempDir is where mattes, and decoded frames, are kept between passes; empty is the system's.
	TempDir string
	// Workers bounds the frames processed at once; 0 means one for each core.
	Workers int
	// Memory bounds the pictures in flight, in bytes; 0 is what keeps the
	// workers busy.
	Memory int64
}

// Output has the facts that a sink needs before its first frame.
type Output struct {
	Size image.Point
	// First is the PTS, in the clip, of the first frame written.
	First time.Duration
	// End is when the last frame ends, counted from the first.
	End time.Duration
	// Pool takes the pictures back that the sink is done with.
	Pool *media.Pool
	// Workers is how many frames the sink may work on at once.
	Workers int
}

// Progress counts frames over all passes.
type Progress struct {
	Pass, Passes int // from 1
	// Frame of Frames have gone through this pass. Frames is an estimate.
	Frame, Frames int
}

// Report describes a finished job.
type Report struct {
	Frames  int // written
	Dropped int // left out by Timing, or by a Variant's rate
	Trimmed int // left out by Trim
	Cut     int // left out at the end by Variant.Length
	// Layout is how pictures of the clip lie on those written.
	Layout canvas.Layout
	// Start is when the first frame written begins, in the clip's time: above 0 where
	// Timing or Trim left some out.
	Start time.Duration
	// Duration is the sum of the written frames' durations.
	Duration time.Duration
	// Empty reports that no frame had a subject; it is known only if a first
	// pass ran.
	Empty bool
	// Quality describes the mattes of the written frames.
	Quality Quality
	// Busy is the time spent in each stage, added up over its workers.
	Busy map[string]time.Duration
}

// ErrNoFrames says that the chosen part of the clip holds no frame.
var ErrNoFrames = errors.New("no frames in the chosen part of the clip")

// Run does the job. When it fails or ctx ends, the sink has been aborted and
// every child process is gone.
func Run(ctx context.Context, job Job) (Report, error) {
	p, err := Prepare(ctx, job)
	if err != nil {
		return Report{}, err
	}
	defer p.Close()
	return p.Render(ctx, Variant{Open: job.Open, Preview: job.Preview})
}

// runner is the state of one job.
type runner struct {
	Job
	chosen    Timing // Timing itself has the margin, too
	info      media.Info
	source    image.Point
	pool      *media.Pool
	recording *media.Recording // nil where there is one pass
	mattePool sync.Pool        // *image.Alpha of the source's size
	flight    flight
	pass      int
	passes    int
	clock     clock
	report    Report
	// firstCut is FirstCut's.
	firstCut *firstCut
}

func newRunner(job Job) *runner {
	r := &runner{Job: job, chosen: job.Timing, info: job.Clip.Info(), pool: new(media.Pool), passes: max(1, job.Renders), firstCut: newFirstCut(job.FirstCut)}
	r.source = image.Pt(r.info.Width, r.info.Height)
	r.Timing = job.Timing.widened(job.Margin)
	if r.Workers <= 0 {
		r.Workers = cores.Count()
	}
	if r.MaskOnly {
		r.Canvas.Background, r.Canvas.Rim, r.Scene = &color.NRGBA{A: 255}, canvas.Rim{}, nil
	}
	r.Harmonise = r.Harmonise && r.Scene != nil
	memory := r.Memory
	if r.Scene != nil {
		memory /= 2 // each frame may hold pictures of the scene, too
	}
	r.flight = newFlight(r.source, r.Workers, memory)
	r.Workers = min(r.Workers, cap(r.flight))
	return r
}

// open starts a pass over the part of the clip that Timing chooses.
func (r *runner) open(ctx context.Context) (*timedSource, error) {
	r.pass++
	o := media.ReadOptions{From: r.Timing.Start, To: r.Timing.End, Pool: r.pool}
	if r.passes > 1 {
		o.Recording = r.recording
	}
	src, err := r.Clip.Open(ctx, o)
	if err != nil {
		return nil, fmt.Errorf("open the clip: %w", err)
	}
	return newTimedSource(src, r.Timing, r.info, r.pool), nil
}

func (r *runner) progress(frame, frames int) {
	if r.Progress != nil {
		r.Progress(Progress{Pass: r.pass, Passes: r.passes, Frame: frame, Frames: max(frame, frames)})
	}
}
