package subject_test

import (
	"context"
	"math"
	"slices"
	"testing"

	"github.com/bgremove/bgremove/internal/matte/subject"
	"github.com/bgremove/bgremove/internal/matte/view"
)

// A piece of the clip's own matte that the network leaves out belongs to the thing, if a click on it finds
// the thing as well. It does not if it is a thing of its own, is dropped, is outside of a box around the
// thing, or is much of the matte.
func TestPiecesAreUnited(t *testing.T) {
	t.Parallel()
	const (
		middle, radius = 112, 30
		head           = 124 // the network parts the thing here: on the right is a quarter
	)
	s := scene{still, func(float64) []disc { return []disc{{middle, 64, radius}} }}
	body, right := click(12, true, 100, 64), click(12, true, 134, 64)
	box := func(x, y float64) subject.Hint {
		return subject.Hint{Frame: 12, Keep: true, Box: &[2]subject.Point{{X: 80. / w, Y: 30. / h}, {X: x / w, Y: y / h}}}
	}
	for name, c := range map[string]struct {
		hints  []subject.Hint
		whole  bool // a click on the other side finds both
		united bool
	}{
		"one thing":      {[]subject.Hint{body}, true, true},
		"two things":     {[]subject.Hint{body}, false, false},
		"a drop on it":   {[]subject.Hint{body, click(12, false, 134, 64)}, true, false},
		"within a box":   {[]subject.Hint{box(145, 98)}, true, true},
		"outside a box":  {[]subject.Hint{box(120, 98)}, true, false},
		"a larger piece": {[]subject.Hint{right}, true, false},
	} {
		clip, _ := s.known(t)
		onHead := c.hints[0].Click == right.Click
		network := func(ctx context.Context, v *view.Marked) ([]uint8, error) {
			matte := make([]uint8, v.W*v.H)
			switch {
			case v.W == v.H: // a part, in which the thing is not found
				return matte, nil
			case slices.Max(v.Plane(view.MarkTrust)) > 0:
				return marked(ctx, v)
			}
			asked := slices.Index(v.Plane(view.MarkKeep), 255)%v.W >= head
			for k := range matte {
				x, y := k%v.W, k/v.W
				if in := asked == (x >= head) || asked != onHead && c.whole; in && math.Hypot(float64(x-middle), float64(y-64)) < radius {
					matte[k] = 255
				}
			}
			return matte, nil
		}
		if err := clip.Guide(t.Context(), c.hints, network); err != nil {
			t.Fatal(err)
		}
		for _, i := range []int{3, 12, 20} {
			m := s.cutOut(t, clip, i)
			thing, piece := m.AlphaAt(100, 64).A, m.AlphaAt(128, 46).A
			if onHead {
				thing, piece = piece, thing
			}
			if thing < 200 || piece > 127 != c.united {
				t.Errorf("%s, frame %d: alpha %d of what was clicked, %d of the piece", name, i, thing, piece)
			}
		}
	}
}
