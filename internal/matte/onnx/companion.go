package onnx

import (
	"context"
	"fmt"
	"sync"

	"github.com/bgremove/bgremove/internal/matte/view"
)

// companion is a small network beside the one that estimates mattes: from planes, uint8
// [1 planes height width], to a matte, uint8 [1 1 height width]. Its session is created
// with the first matte, as callers that only ask for a network's description need none.
type companion struct {
	name     string
	config   Config
	contract contract
	planes   int
	once     sync.Once
	engine   engine // nil before
	err      error
}

// newCompanion checks the network that data is.
func newCompanion(name string, data []byte, planes int, c Config) (*companion, error) {
	c.Model, c.ModelData = name, data
	g, _, err := readGraph(c)
	if err != nil {
		return nil, err
	}
	in := ports(g.Inputs)
	if len(in) != 1 || len(in[0].shape) != 4 || in[0].shape[1] != int64(planes) {
		return nil, &ModelError{Path: name, Reason: fmt.Sprintf("does not take %d planes", planes)}
	}
	outputs := []port{{name: "matte", elem: uint8Elem}}
	return &companion{name: name, config: c, planes: planes, contract: contract{inputs: in, outputs: outputs}}, nil
}

// openCompanions readies the reviser and the chooser where n's Spec asks for them, for
// n's device.
func (n *Network) openCompanions(c Config) (err error) {
	if !n.contract.spec.Plate {
		return nil
	}
	c.Device = Device(n.info.Provider)
	if c.Reviser != nil {
		if n.reviser, err = newCompanion("reviser", c.Reviser, int(view.Count), c); err != nil {
			return err
		}
	}
	if c.Chooser != nil {
		if n.chooser, err = newCompanion("chooser", c.Chooser, int(view.CellCount), c); err != nil {
			return err
		}
	}
	n.info.Plate, n.info.Chooses = n.reviser != nil, n.chooser != nil
	return nil
}

func (p *companion) open() (engine, error) {
	p.once.Do(func() { p.engine, p.err = newEngine(p.config, &p.contract) })
	return p.engine, p.err
}

// run gives the matte, w × h, for planes of that size.
func (p *companion) run(ctx context.Context, n *Network, planes, matte []uint8, w, h int) error {
	slot, err := n.acquire(ctx)
	if err != nil {
		return err
	}
	defer n.release(slot)
	e, err := p.open()
	if err != nil {
		return err
	}
	in := tensor{elem: uint8Elem, shape: []int64{1, int64(p.planes), int64(h), int64(w)}, u8: planes}
	out := tensor{elem: uint8Elem, shape: []int64{1, 1, int64(h), int64(w)}, u8: matte}
	if err := e.run(ctx, []*tensor{&in}, []*tensor{&out}); err != nil {
		if ctx.Err() != nil {
			return fmt.Errorf("run the %s: %w", p.name, context.Cause(ctx))
		}
		return n.modelError("the "+p.name+" failed", err)
	}
	return nil
}

// close is for when nothing runs any more.
func (p *companion) close() error {
	if p == nil || p.engine == nil {
		return nil
	}
	return p.engine.close()
}

// Choose gives the share of each cell, of 255, that is subject, row by row. Only a network
// whose Info has Chooses can. It is safe for concurrent use.
func (n *Network) Choose(ctx context.Context, v *view.Cells) ([]uint8, error) {
	if n.chooser == nil {
		return nil, n.modelError("has no chooser", nil)
	}
	chosen := make([]uint8, v.W*v.H)
	return chosen, n.chooser.run(ctx, n, v.Pix, chosen, v.W, v.H)
}
