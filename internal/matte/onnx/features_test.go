package onnx_test

import (
	"image"
	"testing"

	"github.com/bgremove/bgremove/internal/matte/onnx"
	"github.com/bgremove/bgremove/internal/matte/view"
	"github.com/bgremove/bgremove/internal/network/model"
)

func bundled(c *onnx.Config) { c.ModelData = model.BundledNetwork }

// The network tells what it sees in squares of eight pixels, and differs where the picture
// does.
func TestFeatures(t *testing.T) {
	clip := open(t, "bundled", bundled).NewClip(onnx.ClipOptions{})
	picture := block(320, 240, image.Rect(160, 60, 280, 200))
	r, err := clip.Estimate(t.Context(), picture)
	if err != nil {
		t.Fatal(err)
	}
	f, size := r.Features, r.Matte.Rect.Size()
	if f.W != size.X/8 || f.H != size.Y/8 || len(f.Pix) != view.FeatureCount*f.W*f.H {
		t.Fatalf("%d×%d places and %d bytes for a matte of %v", f.W, f.H, len(f.Pix), size)
	}
	differs := false
	for p := range view.FeatureCount {
		row := f.Pix[(p*f.H+f.H/2)*f.W:][:f.W]
		differs = differs || max(row[f.W/4], row[3*f.W/4])-min(row[f.W/4], row[3*f.W/4]) > 20
	}
	if !differs {
		t.Error("it sees the same in the block and beside it")
	}
	again, err := clip.Estimate(t.Context(), picture)
	if err != nil || !again.Reused || &again.Features.Pix[0] != &f.Pix[0] {
		t.Errorf("a repeated frame has features of its own (%v)", err)
	}
}

// A network that does not tell what it sees has none.
func TestNoFeatures(t *testing.T) {
	r, err := open(t, "distance").NewClip(onnx.ClipOptions{}).Estimate(t.Context(), block(64, 64, image.Rect(8, 8, 40, 40)))
	if err != nil || r.Features.Pix != nil {
		t.Errorf("features %v, error %v", r.Features.Pix, err)
	}
}
