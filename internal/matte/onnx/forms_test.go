package onnx_test

import (
	"image"
	"image/color"
	"math"
	"slices"
	"testing"

	"github.com/bgremove/bgremove/internal/matte/onnx"
	"github.com/bgremove/bgremove/internal/network/model"
)

// ball is a picture of a shaded ball over a gradient, of which a network is sure.
func ball(w, h int, middle image.Point, radius float64) *image.NRGBA {
	img := image.NewNRGBA(image.Rect(0, 0, w, h))
	for y := range h {
		for x := range w {
			shade := 1 - float64(y)/float64(4*h)
			c := color.NRGBA{uint8(120 * shade), uint8(140 * shade), uint8(170 * shade), 255}
			dx, dy := float64(x-middle.X), float64(y-middle.Y)
			if math.Hypot(dx, dy) < radius {
				light := min(max(1.15-math.Hypot(dx+0.4*radius, dy+0.4*radius)/(2*radius), 0.2), 1.2)
				c = color.NRGBA{uint8(200 * light), uint8(40 * light), uint8(40 * light), 255}
			}
			img.SetNRGBA(x, y, c)
		}
	}
	return img
}

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
			m, err := n.Matte(t.Context(), ball(352, 256, image.Pt(220, 130), 60))
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
		if mean := sum / float64(len(got)); mean == 0 || slices.Max(want) < 200 || mean > 3 {
			t.Errorf("the %s's forms differ by %.2f of 255", name, mean)
		} else {
			t.Logf("%s: %.2f of 255", name, mean)
		}
	}
}
