package pipeline_test

import (
	"context"
	"image"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/bgremove/bgremove/internal/matte"
	"github.com/bgremove/bgremove/internal/pipeline"
)

// painter is an estimator with given mattes, of frames of 100 ms. Of each frame half of two
// pixels at the edges have the backdrop's colour.
type painter struct {
	red
	frames [][]area
}

// area is a part of a matte with one value.
type area struct {
	x, y, w, h int
	value      uint8
}

func (e *painter) Steps() []matte.Step {
	return []matte.Step{{Name: "paint", Run: func(_ context.Context, w *matte.Estimate) error {
		clear(w.Matte.Pix)
		for _, a := range e.frames[w.Time/(100*time.Millisecond)] {
			for y := a.y; y < a.y+a.h; y++ {
				for x := a.x; x < a.x+a.w; x++ {
					w.Matte.Pix[y*w.Matte.Stride+x] = a.value
				}
			}
		}
		return nil
	}}}
}

func (e *painter) Halo(*image.NRGBA, *image.Alpha) (edge, left int) { return 2, 1 }

// TestQuality checks each number that a report has about the mattes.
func TestQuality(t *testing.T) {
	t.Parallel()
	large, small := area{4, 4, 10, 6, 255}, area{20, 10, 4, 4, 255} // 76 pixels
	speck := area{30, 20, 2, 1, 255}                                // too small for a fragment
	haze := area{30, 5, 4, 2, 100}
	left, right, top := area{0, 12, 1, 2, 255}, area{width - 1, 12, 1, 2, 255}, area{30, 0, 3, 1, 255}
	bottom, little := area{0, height - 1, width, 1, 255}, area{0, 12, 1, 1, 255}
	e := &painter{frames: [][]area{
		{large, small, speck}, {large, small, haze}, {small}, {large, small, left}, {large, small, right},
		{large, small, top}, {large, small, bottom}, {large, small, little},
	}}
	_, report := run(t, walk(len(e.frames)), func(j *pipeline.Job) { j.Estimator = e })
	pixels := 7*76.0 + 16 + 2 + 2 + 2 + 3 + width + 1
	want := pipeline.Quality{
		Kept: (255*pixels + 8*100) / (255 * 8 * width * height), Haze: 8 / (pixels + 8), Pops: 2. / 8,
		Fragments: 2, TouchesEdge: 3. / 8, Halo: 0.5,
	}
	if diff := cmp.Diff(want, report.Quality, cmpopts.EquateApprox(0, 1e-9)); diff != "" {
		t.Error(diff)
	}
}
