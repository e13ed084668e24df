package pipeline_test

import (
	"context"
	"image"
	"image/color"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/bgremove/bgremove/internal/canvas"
	"github.com/bgremove/bgremove/internal/pipeline"
	"github.com/bgremove/bgremove/internal/scene"
)

// A blurred frame lies under its subject, in its place, and the survey sees it.
func TestBlur(t *testing.T) {
	t.Parallel()
	surveyed := 0
	s, _ := run(t, &clip{places: []image.Point{{6, 7}, {20, 10}}}, func(j *pipeline.Job) {
		j.Canvas, j.Scene = canvas.Spec{Crop: true, Pad: 5}, scene.Blur{Radius: 1}
		j.Survey = func(img *image.NRGBA) {
			surveyed++
			if got := img.NRGBAAt(39, 29); got != (color.NRGBA{0, 200, 0, 255}) {
				t.Errorf("the survey sees %v", got)
			}
		}
	})
	if surveyed != 2 {
		t.Errorf("%d frames surveyed", surveyed)
	}
	// The window begins at (1, 2). The corner is out of the reach of both squares.
	for i, at := range []image.Point{{6, 7}, {20, 10}} {
		img := s.frames[i].Image
		for p, want := range map[image.Point]color.NRGBA{
			{0, 0}:               {0, 200, 0, 255},
			{at.X - 1, at.Y - 2}: {200, 0, 0, 255},
			{at.X + 4, at.Y + 3}: {200, 0, 0, 255},
		} {
			if got := img.NRGBAAt(p.X, p.Y); got != want {
				t.Errorf("frame %d: %v is %v, want %v", i, p, got, want)
			}
		}
		// The square does not shine on what is beside it.
		if got := img.NRGBAAt(at.X-2, at.Y); got != (color.NRGBA{0, 200, 0, 255}) {
			t.Errorf("frame %d: beside the subject is %v", i, got)
		}
	}
}

// The first cut-out stands before the scene, whichever pass shows it.
func TestSceneOfFirstCut(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*pipeline.Job){
		"one pass":   func(*pipeline.Job) {},
		"two passes": func(j *pipeline.Job) { j.Canvas.Crop = true },
		"study":      func(j *pipeline.Job) { j.Estimator = &student{} },
	} {
		calls := 0
		run(t, walk(3), func(j *pipeline.Job) {
			change(j)
			j.Scene = scene.Colour(night)
			j.FirstCut = func(img *image.NRGBA) {
				calls++
				if got := img.NRGBAAt(39, 29); got != night {
					t.Errorf("%s: behind the subject is %v", name, got)
				}
			}
		})
		if calls != 1 {
			t.Errorf("%s: %d cut-outs", name, calls)
		}
	}
}

// clockScene is a scene that notes the times that it is asked for.
type clockScene struct{ passes [][]time.Duration }

func (c *clockScene) Open(context.Context, canvas.Layout) (scene.Pass, error) {
	c.passes = append(c.passes, nil)
	return c, nil
}

func (c *clockScene) At(_ context.Context, at time.Duration) (scene.Shot, error) {
	last := &c.passes[len(c.passes)-1]
	*last = append(*last, at)
	return c, nil
}

func (c *clockScene) Close() error                   { return nil }
func (c *clockScene) See(*image.NRGBA, *image.Alpha) {}
func (c *clockScene) Light() *scene.Light            { return nil }

func (c *clockScene) Under(img *image.NRGBA) { canvas.Flatten(img, color.NRGBA{A: 255}) }

// A scene begins with the first frame that is written, and runs in the output's time.
func TestSceneTime(t *testing.T) {
	t.Parallel()
	c := &clockScene{}
	ms := time.Millisecond
	places := []image.Point{{2, 3}, {2, 3}, {2, 3}, {9, 3}, {12, 3}}
	run(t, &clip{places: places, times: []time.Duration{70 * ms, 30 * ms, 50 * ms, 40 * ms, 10 * ms}}, func(j *pipeline.Job) {
		j.Trim, j.Scene = true, c
	})
	if diff := cmp.Diff([]time.Duration{0, 50 * ms, 90 * ms}, c.passes[len(c.passes)-1]); diff != "" {
		t.Error(diff)
	}
}
