package segment_test

import (
	"image"
	"image/color"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/bgremove/bgremove/internal/matte/segment"
	"github.com/bgremove/bgremove/internal/matte/subject"
	"github.com/bgremove/bgremove/internal/network/model"
)

// A preview of a frame is the matte that the hints would make of it. It leaves the clip as
// it was.
func TestPreview(t *testing.T) {
	t.Parallel()
	n := openAs(t, "distance.onnx", model.Spec{Plate: true})
	var clip []*image.NRGBA
	for i := range 16 {
		clip = append(clip, alike(i))
	}
	free := segment.New(n, segment.Options{Previews: true})
	study(t, free, clip)
	preview := func(e *segment.Estimator, at time.Duration, hints ...segment.Hint) *image.Alpha {
		m, err := e.Preview(t.Context(), at, hints)
		if err != nil {
			t.Fatal(err)
		}
		return m
	}
	before := preview(free, moment(9))
	for name, keep := range map[string]bool{"keep": true, "drop": false} {
		hint := segment.Hint{At: moment(4) - 400*time.Microsecond, Hint: subject.Hint{Keep: keep, Click: &subject.Point{X: 150. / 192, Y: 94. / 128}}}
		told := segment.New(n, segment.Options{Hints: []segment.Hint{hint}})
		study(t, told, clip)
		for _, i := range []int{0, 4, 9, 15} {
			at := moment(i) + 3*time.Millisecond
			if diff := cmp.Diff(preview(told, at), preview(free, at, hint)); diff != "" {
				t.Errorf("%s, frame %d: %s", name, i, diff)
			}
		}
	}
	if diff := cmp.Diff(before, preview(free, moment(9))); diff != "" {
		t.Error(diff)
	}
}

// A preview leaves no wide doubt, as the result has none, where the network's model.Spec says that this helps.
func TestPreviewDecides(t *testing.T) {
	t.Parallel()
	for colours, doubts := range map[float32]bool{0: true, 1: false} {
		e := segment.New(openAs(t, "distance.onnx", model.Spec{Colours: colours}), segment.Options{Previews: true})
		var clip []*image.NRGBA
		for range 6 {
			clip = append(clip, pale())
		}
		study(t, e, clip)
		m, err := e.Preview(t.Context(), moment(3), nil)
		if err != nil {
			t.Fatal(err)
		}
		if a := m.AlphaAt(m.Rect.Dx()/2, m.Rect.Dy()/2).A; (a > 24 && a < 231) != doubts {
			t.Errorf("colours %v: the pale square has alpha %d", colours, a)
		}
	}
}

// pale is a frame with a square on a green backdrop of which the network is in doubt.
func pale() *image.NRGBA {
	img := image.NewNRGBA(image.Rect(0, 0, 192, 128))
	for y := range 128 {
		for x := range 192 {
			c := green
			if image.Pt(x, y).In(image.Rect(64, 32, 128, 96)) {
				c = color.NRGBA{30, 170, 80, 255}
			}
			img.SetNRGBA(x, y, c)
		}
	}
	return img
}
