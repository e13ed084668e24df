package pipeline_test

import (
	"context"
	"errors"
	"image"
	"sync/atomic"
	"testing"

	"github.com/bgremove/bgremove/internal/matte"
	"github.com/bgremove/bgremove/internal/pipeline"
)

// student studies the clip first.
type student struct {
	red
	learnt  atomic.Int32
	decided atomic.Bool
}

func (e *student) Study() []matte.Step {
	return []matte.Step{{Name: "learn", Run: func(context.Context, *matte.Estimate) error {
		if e.decided.Load() {
			return errors.New("the study goes on after its end")
		}
		e.learnt.Add(1)
		return nil
	}}}
}

func (e *student) Draft(ctx context.Context, w *matte.Estimate) error { return e.estimate(ctx, w) }

func (e *student) Conclude(context.Context) error {
	e.decided.Store(true)
	return nil
}

func (e *student) Steps() []matte.Step {
	steps := e.red.Steps()
	whole := steps[0].Run
	steps[0].Run = func(ctx context.Context, w *matte.Estimate) error {
		if !e.decided.Load() {
			return errors.New("a matte is estimated before the study's end")
		}
		return whole(ctx, w)
	}
	return steps
}

// A study goes through all frames before any matte, and shows the first cut-out.
func TestStudy(t *testing.T) {
	t.Parallel()
	for _, crop := range []bool{false, true} {
		e, passes := &student{}, 0
		shown := false
		s, _ := run(t, walk(12), func(j *pipeline.Job) {
			j.Canvas.Crop, j.Estimator = crop, e
			j.Progress = func(p pipeline.Progress) { passes = p.Passes }
			j.FirstCut = func(*image.NRGBA) { shown = !e.decided.Load() }
		})
		if want := map[bool]int{false: 2, true: 3}[crop]; passes != want || e.learnt.Load() != 12 || len(s.frames) != 12 {
			t.Errorf("crop %v: %d passes, %d frames learnt, %d written", crop, passes, e.learnt.Load(), len(s.frames))
		}
		if !shown {
			t.Errorf("crop %v: the first cut-out comes after the study", crop)
		}
	}
}

// A study alone is the only pass.
func TestStudyAlone(t *testing.T) {
	t.Parallel()
	var last pipeline.Progress
	job := pipeline.Job{Clip: walk(5), Estimator: &student{}, Progress: func(p pipeline.Progress) { last = p }}
	if err := pipeline.Study(t.Context(), job); err != nil || last != (pipeline.Progress{Pass: 1, Passes: 1, Frame: 5, Frames: 5}) {
		t.Errorf("%+v, %v", last, err)
	}
}
