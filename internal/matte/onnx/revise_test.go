package onnx_test

import (
	"context"
	"errors"
	"image"
	"testing"

	"github.com/bgremove/bgremove/internal/matte/onnx"
	"github.com/bgremove/bgremove/internal/matte/view"
	"github.com/bgremove/bgremove/internal/network/model"
)

func plated(c *onnx.Config) {
	c.Spec.Plate, c.Reviser = true, model.BundledReviser
}

// half is a view of a disc whose matte lacks its right half, before a plate that is
// known everywhere.
func half(w, h int) (v view.View, inside func(x, y int) bool) {
	inside = func(x, y int) bool { return (x-w/2)*(x-w/2)+(y-h/2)*(y-h/2) < h*h/9 }
	v = view.New(w, h)
	for y := range h {
		for x := range w {
			pixel := [view.Count]uint8{100, 120, 140, 0, 128, 128, 128, 8, 10, 255, 0}
			if inside(x, y) {
				pixel = [view.Count]uint8{200, 60, 50, 0, 178, 98, 83, 255, 10, 255, 0}
				if x < w/2 {
					pixel[view.Coverage] = 255
				}
			}
			for c, p := range pixel {
				v.Plane(view.Plane(c))[y*w+x] = p
			}
		}
	}
	return v, inside
}

func TestRevise(t *testing.T) {
	n := open(t, "distance", plated)
	if !n.Info().Plate {
		t.Fatal("a network whose specification has plate does not revise")
	}
	for size, bound := range map[image.Point]struct{ found, beside float64 }{
		{128, 96}: {0.95, 0.05},
		{45, 30}:  {0.8, 0.06},
		{31, 57}:  {0.9, 0.05},
	} {
		v, inside := half(size.X, size.Y)
		m, err := n.Revise(t.Context(), v)
		if err != nil {
			t.Fatal(err)
		}
		found, all, beside := 0, 0, 0
		for y := range v.H {
			for x := range v.W {
				switch a := m.Pix[y*v.W+x]; {
				case inside(x, y):
					all++
					if a > 200 {
						found++
					}
				case a > 50:
					beside++
				}
			}
		}
		if float64(found) < bound.found*float64(all) || float64(beside) > bound.beside*float64(all) {
			t.Errorf("%v: %d of %d pixels found, %d beside them", size, found, all, beside)
		}
	}
	v, _ := half(1, 1)
	if _, err := n.Revise(t.Context(), v); err != nil {
		t.Errorf("one pixel: %v", err)
	}
	if !n.Revises(640, 512) || n.Revises(641, 512) {
		t.Error("the bound of a view's size is not 327,680 pixels")
	}
}

func TestReviseRefuses(t *testing.T) {
	n := open(t, "distance", plated)
	bad := new(onnx.ModelError)
	if _, err := n.Revise(t.Context(), view.View{W: 1024, H: 512}); !errors.As(err, &bad) {
		t.Errorf("1024×512: %v", err)
	}
	v, _ := half(64, 64)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := n.Revise(ctx, v); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	if open(t, "distance").Info().Plate {
		t.Error("a network revises whose specification does not say so")
	}
	c := onnx.Config{Library: library(t), Model: nets + "distance.onnx", Spec: model.Spec{Plate: true}, Reviser: model.Forms{Float: []byte("nothing")}}
	if _, err := onnx.Open(c); !errors.As(err, &bad) {
		t.Errorf("a reviser that is none: %v", err)
	}
}
