package onnx

import (
	"context"
	"errors"
	"image"
	"strings"
	"testing"

	"github.com/bgremove/bgremove/internal/matte/view"
)

// shapedEngine gives outputs of uint8 in its shapes.
type shapedEngine struct {
	fakeEngine
	shapes [][]int64
}

func (e *shapedEngine) run(_ context.Context, _, out []*tensor) error {
	for i, t := range out {
		*t = tensor{}
		t.resize(uint8Elem, e.shapes[i]...)
	}
	return nil
}

// TestOtherShapes: a network that gives other shapes than it declares is at fault, and ends no process.
func TestOtherShapes(t *testing.T) {
	t.Parallel()
	matte := []int64{1, 1, 64, 64}
	for _, tt := range []struct {
		name   string
		shapes [][]int64
		want   string // the output at fault
	}{
		{"as declared", [][]int64{matte, {1, view.FeatureCount, 8, 6}}, ""},
		{"no matte", [][]int64{{0, 1, 64, 64}, {1, view.FeatureCount, 8, 8}}, "output matte"},
		{"no place", [][]int64{matte, {1, view.FeatureCount, 8, 0}}, "output features"},
		{"few features", [][]int64{matte, {1, view.FeatureCount - 1, 8, 8}}, "output features"},
		{"a row of places", [][]int64{matte, {1, view.FeatureCount, 8}}, "output features"},
	} {
		c := looking(&shapedEngine{shapes: tt.shapes}, ClipOptions{NoCloser: true})
		c.n.contract.outputs = []port{{name: "matte"}, {name: "features"}}
		r, err := c.Estimate(t.Context(), image.NewNRGBA(image.Rect(0, 0, 64, 64)))
		var bad *ModelError
		switch {
		case tt.want == "" && (err != nil || r.Features.W != 6 || r.Features.H != 8):
			t.Errorf("%s: %d×%d places, %v", tt.name, r.Features.W, r.Features.H, err)
		case tt.want != "" && (!errors.As(err, &bad) || !strings.HasPrefix(bad.Reason, tt.want)):
			t.Errorf("%s: error %v, want one of the %s", tt.name, err, tt.want)
		}
	}
}
