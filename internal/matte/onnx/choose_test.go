package onnx_test

import (
	"context"
	"errors"
	"testing"

	"github.com/bgremove/bgremove/internal/matte/onnx"
	"github.com/bgremove/bgremove/internal/matte/view"
	"github.com/bgremove/bgremove/internal/network/model"
)

// twoParts are cells of which the matte marks two parts: one moves against the camera,
// and the other stands still.
func twoParts(w, h int) view.Cells {
	v := view.NewCells(w, h)
	for y := range h {
		for x := range w {
			inRow := y > h/4 && y < 3*h/4
			left, right := inRow && x > w/8 && x < 3*w/8, inRow && x > 5*w/8 && x < 7*w/8
			cell := map[view.CellPlane]uint8{
				view.CellRed: 90, view.CellGreen: 120, view.CellBlue: 70,
				view.CellTrust: 240, view.CellAlong: 128, view.TrackAlong: 128, view.TrackTrust: 64, view.TrackFrames: 66,
				view.ShotSubject: 250, view.ShotBackdrop: 5, view.ShotBusiest: 12, view.ShotLively: 255,
			}
			if left || right {
				cell[view.CellCoverage], cell[view.TrackCoverage] = 255, 250
				cell[view.CellRed], cell[view.CellGreen] = 200, 60
			}
			if left {
				cell[view.CellMotion], cell[view.TrackMotion] = 250, 245
			}
			for p, b := range cell {
				v.Plane(p)[y*w+x] = b
			}
		}
	}
	return v
}

func TestChoose(t *testing.T) {
	n := open(t, "distance", choosing)
	if !n.Info().Chooses {
		t.Fatal("a network whose specification has plate does not choose")
	}
	for _, w := range []int{112, 107, 80} {
		v := twoParts(w, 64)
		chosen, err := n.Choose(t.Context(), &v)
		if err != nil {
			t.Fatal(err)
		}
		at := func(x, y int) uint8 { return chosen[y*w+x] }
		if moves, stands, rest := at(w/4, 32), at(3*w/4, 32), at(w/2, 8); moves < 230 || stands > 60 || rest > 10 {
			t.Errorf("%d columns: chosen %d of what moves, %d of what stands, %d of the rest", w, moves, stands, rest)
		}
	}
	v := view.NewCells(1, 1)
	if _, err := n.Choose(t.Context(), &v); err != nil {
		t.Errorf("one cell: %v", err)
	}
}

func choosing(c *onnx.Config) { c.Spec.Plate, c.Chooser = true, model.BundledChooser }

func TestChooseRefuses(t *testing.T) {
	n, bad, v := open(t, "distance", choosing), new(onnx.ModelError), twoParts(16, 16)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := n.Choose(ctx, &v); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	plain := open(t, "distance")
	if _, err := plain.Choose(t.Context(), &v); plain.Info().Chooses || !errors.As(err, &bad) {
		t.Errorf("a network chooses whose specification does not say so: %v", err)
	}
	c := onnx.Config{Library: library(t), Model: nets + "distance.onnx", Spec: model.Spec{Plate: true}, Chooser: model.BundledReviser}
	if _, err := onnx.Open(c); !errors.As(err, &bad) {
		t.Errorf("a chooser that is the reviser: %v", err)
	}
}

func BenchmarkChoose(b *testing.B) {
	n := open(b, "distance", choosing)
	v := twoParts(112, 64)
	for b.Loop() {
		if _, err := n.Choose(b.Context(), &v); err != nil {
			b.Fatal(err)
		}
	}
}
