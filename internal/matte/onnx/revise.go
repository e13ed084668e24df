package onnx

import (
	"context"
	"fmt"
	"image"
	"sync"

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

// Sees reports whether Revise makes use of a plane of its views.
func (n *Network) Sees(p view.Plane) bool { return n.reviser != nil && int(p) < n.reviser.planes }

// reviser is the network that revises mattes. Its session is created with the
// first matte: callers that only ask for a network's description, or work
// without the plate, need none.
type reviser struct {
	config Config
	planes int // of a view
	k      contract
	once   sync.Once
	engine engine // nil before
	err    error
}

// newReviser checks the network that c.Reviser is: from a view.View's
// first planes, uint8 [1 planes height width], to a matte, uint8 [1 1 height width].
func newReviser(c Config) (*reviser, error) {
	c.Model, c.ModelData = "reviser", c.Reviser
	g, _, err := readGraph(c)
	if err != nil {
		return nil, err
	}
	in := ports(g.Inputs)
	if len(in) != 1 || len(in[0].shape) != 4 || in[0].shape[1] < 1 || in[0].shape[1] > int64(view.Count) {
		return nil, &ModelError{Path: c.Model, Reason: fmt.Sprintf("does not take the first of %d planes", view.Count)}
	}
	return &reviser{config: c, planes: int(in[0].shape[1]), k: contract{inputs: in, outputs: []port{{name: "matte", elem: uint8Elem}}}}, nil
}

func (r *reviser) open() (engine, error) {
	r.once.Do(func() { r.engine, r.err = newEngine(r.config, &r.k) })
	return r.engine, r.err
}

// close is for when nothing runs any more.
func (r *reviser) close() error {
	if r == nil || r.engine == nil {
		return nil
	}
	return r.engine.close()
}

// openReviser readies the reviser where n's Spec asks for it, for n's device.
func (n *Network) openReviser(c Config) (err error) {
	if !n.contract.spec.Plate || c.Reviser == nil {
		return nil
	}
	c.Device = Device(n.info.Provider)
	n.reviser, err = newReviser(c)
	n.info.Plate = err == nil
	return err
}

// Revise gives the matte that is better than the one in v, with the clip's plate in
// view, if it Revises that size. It is safe for concurrent use.
func (n *Network) Revise(ctx context.Context, v view.View) (*image.Alpha, error) {
	if !n.Revises(v.W, v.H) {
		return nil, n.modelError("cannot revise mattes", fmt.Errorf("of %d×%d pixels", v.W, v.H))
	}
	slot, err := n.acquire(ctx)
	if err != nil {
		return nil, err
	}
	defer n.release(slot)
	e, err := n.reviser.open()
	if err != nil {
		return nil, err
	}
	m := image.NewAlpha(image.Rect(0, 0, v.W, v.H))
	in := tensor{elem: uint8Elem, shape: []int64{1, int64(n.reviser.planes), int64(v.H), int64(v.W)}, u8: v.Pix[:n.reviser.planes*v.W*v.H]}
	out := tensor{elem: uint8Elem, shape: []int64{1, 1, int64(v.H), int64(v.W)}, u8: m.Pix}
	if err := e.run(ctx, []*tensor{&in}, []*tensor{&out}); err != nil {
		if ctx.Err() != nil {
			return nil, fmt.Errorf("revise matte: %w", context.Cause(ctx))
		}
		return nil, n.modelError("did not revise", err)
	}
	return m, nil
}
