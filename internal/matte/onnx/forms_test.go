package onnx_test

import (
	"image"
	"math"
	"testing"

	"github.com/bgremove/bgremove/internal/matte/onnx"
	"github.com/bgremove/bgremove/internal/network/model"
)

// A processor runs a network's integers, which give nearly what its floats give.
func TestForms(t *testing.T) {
	floats := func(f model.Forms) model.Forms { return model.Forms{Float: f.Float} }
	plain := open(t, "bundled", func(c *onnx.Config) {
		c.ModelData, c.Reviser = floats(model.BundledNetwork), floats(model.BundledReviser)
	})
	integers := open(t, "bundled", func(c *onnx.Config) {
		c.ModelData, c.Reviser = model.BundledNetwork, model.BundledReviser
	})
	for name, run := range map[string]func(n *onnx.Network) ([]uint8, error){
		"network": func(n *onnx.Network) ([]uint8, error) {
			m, err := n.Matte(t.Context(), block(320, 240, image.Rect(160, 60, 280, 200)))
			return m.Pix, err
		},
		"reviser": func(n *onnx.Network) ([]uint8, error) {
			v, _ := half(128, 96)
			m, err := n.Revise(t.Context(), v)
			return m.Pix, err
		},
	} {
		want, err := run(plain)
		if err != nil {
			t.Fatal(err)
		}
		got, err := run(integers)
		if err != nil {
			t.Fatal(err)
		}
		sum := 0.0
		for i, a := range got {
			sum += math.Abs(float64(a) - float64(want[i]))
		}
		if mean := sum / float64(len(got)); mean == 0 || mean > 3 {
			t.Errorf("the %s's forms differ by %.2f of 255", name, mean)
		} else {
			t.Logf("%s: %.2f of 255", name, mean)
		}
	}
}
