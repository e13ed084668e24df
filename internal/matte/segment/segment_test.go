package segment_test

import (
	"image"
	"image/color"
	"os"
	"testing"

	"github.com/bgremove/bgremove/internal/matte"
	"github.com/bgremove/bgremove/internal/matte/onnx"
	"github.com/bgremove/bgremove/internal/matte/segment"
	"github.com/bgremove/bgremove/internal/synth"
)

var _ matte.Estimator = (*segment.Estimator)(nil)

func open(t *testing.T, name string) *onnx.Network {
	t.Helper()
	library := os.Getenv("BGREMOVE_ONNXRUNTIME")
	if library == "" {
		t.Skip("BGREMOVE_ONNXRUNTIME does not name ONNX Runtime's shared library")
	}
	n, err := onnx.Open(onnx.Config{Library: library, Model: "../../../testdata/onnx/" + name})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := n.Close(); err != nil {
			t.Error(err)
		}
	})
	return n
}

// A network of 64×64 gives a matte of full size whose edges are the
// picture's, and nothing of the backdrop is left in the colours.
func TestEstimate(t *testing.T) {
	t.Parallel()
	for _, off := range []bool{false, true} {
		clip := synth.Clip{Width: 320, Height: 240, Frames: 20, Backdrop: color.NRGBA{0, 177, 64, 255}, Subject: synth.Discs}
		e := segment.New(open(t, "distance.onnx"), segment.Options{NoStabiliser: off})
		if e.Stateless() != off {
			t.Errorf("stateless = %v without stabiliser %v", e.Stateless(), off)
		}
		for i := range 4 {
			p := clip.Frame(i)
			m := image.NewAlpha(p.Image.Rect)
			if err := e.Estimate(t.Context(), p.Image, m); err != nil {
				t.Fatal(err)
			}
			if iou := synth.IoU(m, p.Alpha); iou < 0.97 {
				t.Errorf("frame %d: IoU %.3f", i, iou)
			}
			e.Decontaminate(p.Image, m)
			if c := synth.ColourError(p.Image, m, p); c > 25 {
				t.Errorf("frame %d: colour error %.1f", i, c)
			}
		}
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	}
}
