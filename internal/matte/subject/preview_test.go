package subject_test

import (
	"context"
	"image"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/bgremove/bgremove/internal/matte/subject"
	"github.com/bgremove/bgremove/internal/matte/view"
)

// A preview of each frame is as Guide chooses it, whichever hints there are, and leaves
// the clip as it was.
func TestPreview(t *testing.T) {
	t.Parallel()
	const every = 3 // frames
	s := scene{still, func(t float64) []disc { return []disc{{40 + 5*t, 50, 22}, {180, 95, 22}} }}
	all := func(_ context.Context, v *view.Cells) ([]uint8, error) { return v.Plane(view.CellCoverage), nil }
	for name, hints := range map[string][]subject.Hint{
		"none":       nil,
		"one":        {click(12, true, 100, 50)},
		"several":    {click(3, true, 55, 50), click(9, true, 180, 95), click(16, false, 120, 50), click(21, true, 145, 50)},
		"drop first": {click(2, false, 50, 50), click(9, true, 180, 95)},
		"drops only": {click(5, false, 65, 50), click(17, false, 180, 95)},
	} {
		for _, wanted := range []subject.Wanted{subject.Auto, subject.Salient} {
			c, frames := s.known(t)
			if err := c.Choose(t.Context(), wanted, all); err != nil {
				t.Fatal(err)
			}
			var shown []*image.Alpha
			for range 2 { // the first time must not change the second
				shown = nil
				for i := 0; i < len(frames); i += every {
					choice, err := c.Preview(t.Context(), i, hints, marked)
					if err != nil {
						t.Fatal(err)
					}
					_, m := s.frame(i)
					choice.Apply(m)
					shown = append(shown, m)
				}
			}
			if len(hints) > 0 {
				if err := c.Guide(t.Context(), hints, marked); err != nil {
					t.Fatal(err)
				}
			}
			for n, m := range shown {
				if diff := cmp.Diff(s.cutOut(t, c, n*every), m); diff != "" {
					t.Errorf("%s, %d, frame %d: %s", name, wanted, n*every, diff)
				}
			}
		}
	}
}

// A hint in the frame that is shown asks the network of that frame alone, and of its rest.
func TestPreviewIsShort(t *testing.T) {
	t.Parallel()
	s := scene{still, func(float64) []disc { return []disc{{60, 60, 22}, {160, 60, 22}} }}
	c, _ := s.known(t)
	var asked seen
	if _, err := c.Preview(t.Context(), 12, []subject.Hint{click(12, true, 60, 60)}, asked.guide); err != nil {
		t.Fatal(err)
	}
	if len(asked.pictures) != 2 {
		t.Errorf("the network was asked %d times", len(asked.pictures))
	}
}
