package pipeline_test

import (
	"context"
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
