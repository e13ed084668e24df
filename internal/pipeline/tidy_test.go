package pipeline_test

import (
	"context"
	"image"
	"testing"

	"github.com/bgremove/bgremove/internal/matte"
	"github.com/bgremove/bgremove/internal/pipeline"
)

// faint is red with a matte of little more than half.
type faint struct{ red }

func (e *faint) Steps() []matte.Step {
	return []matte.Step{{Name: "matte", Run: func(ctx context.Context, w *matte.Estimate) error {
		err := e.estimate(ctx, w)
		for i := range w.Matte.Pix {
			w.Matte.Pix[i] = min(w.Matte.Pix[i], 150)
		}
		return err
	}}}
}

// Tidy removes what is nowhere solid, but not what was asked for.
func TestTidyKeepsFaint(t *testing.T) {
	t.Parallel()
	for _, kept := range []bool{false, true} {
		_, report := run(t, walk(4), func(j *pipeline.Job) { j.Estimator, j.Tidy, j.Faint = &faint{}, true, kept })
		if report.Empty == kept {
			t.Errorf("Faint %t: empty %t", kept, report.Empty)
		}
	}
}

// Largest keeps the subject of each shot, also of one that is shorter than others.
func TestLargestOfEachShot(t *testing.T) {
	t.Parallel()
	c := &clip{cut: 10}
	for i := range 14 {
		at := image.Pt(2, 2)
		if i >= c.cut {
			at = image.Pt(width-square-2, height-square-2)
		}
		c.places = append(c.places, at)
	}
	s, _ := run(t, c, func(j *pipeline.Job) { j.Largest = true })
	for i, f := range s.frames {
		if a := f.Image.NRGBAAt(c.places[i].X+square/2, c.places[i].Y+square/2).A; a != 255 {
			t.Errorf("frame %d: the subject has alpha %d", i, a)
		}
	}
}
