package onnx

import (
	"context"
	"fmt"
	"image"

	"github.com/bgremove/bgremove/internal/matte/view"
)

// reviserArea bounds the pixels of a view, because a plate needs about 320
// bytes for each. It leaves room for the inputs of networks with a short side
// of 256, whose sides are rounded.
const reviserArea = 5 << 16

// Revises reports whether Revise takes views of mattes of w × h pixels.
func (n *Network) Revises(w, h int) bool {
	return n.reviser != nil && w*h <= reviserArea
}

// Revise gives the matte that is better than the one in v, with the clip's plate in
// view, if it Revises that size. It is safe for concurrent use.
func (n *Network) Revise(ctx context.Context, v view.View) (*image.Alpha, error) {
	if !n.Revises(v.W, v.H) {
		return nil, n.modelError("cannot revise mattes", fmt.Errorf("of %d×%d pixels", v.W, v.H))
	}
	m := image.NewAlpha(image.Rect(0, 0, v.W, v.H))
	if err := n.reviser.run(ctx, n, m.Pix, v.W, v.H, planes(v.Pix, int(view.Count), v.W, v.H)); err != nil {
		return nil, err
	}
	return m, nil
}
