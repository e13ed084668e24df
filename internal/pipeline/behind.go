package pipeline

import (
	"context"
	"fmt"

	"github.com/bgremove/bgremove/internal/canvas"
	"github.com/bgremove/bgremove/internal/scene"
)

// behind is a pass over the scene; without a scene it places nothing.
type behind struct{ pass scene.Pass }

func (r *runner) openScene(ctx context.Context, l canvas.Layout) (*behind, error) {
	if r.Scene == nil {
		return &behind{}, nil
	}
	p, err := r.Scene.Open(ctx, l)
	if err != nil {
		return nil, fmt.Errorf("open what stands behind: %w", err)
	}
	return &behind{p}, nil
}

// place gives a frame what stands behind it.
func (b *behind) place(ctx context.Context, it *item) (err error) {
	if b.pass == nil {
		return nil
	}
	if it.behind, err = b.pass.At(ctx, it.frame.PTS); err != nil {
		return fmt.Errorf("what stands behind frame %d: %w", it.index, err)
	}
	return nil
}

// Close ends the pass. It may be called more than once.
func (b *behind) Close() error {
	if b.pass == nil {
		return nil
	}
	return b.pass.Close()
}

// see shows the frame to what stands behind it, once, before the subject is cut out.
func (it *item) see() {
	if it.behind != nil && !it.seen {
		it.behind.See(it.Image, it.Matte)
		it.seen = true
	}
}
