package onnx

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"github.com/bgremove/bgremove/internal/matte/view"
	"github.com/bgremove/bgremove/internal/network/model"
	"github.com/bgremove/bgremove/internal/system/cores"
)

// companion is a small network beside the one that estimates mattes: from inputs of some
// planes each, uint8 [1 planes height width], to a matte, uint8 [1 1 height width]. Its
// session is created with the first matte, as callers that only ask for a network's
// description need none.
type companion struct {
	name     string
	config   Config
	contract contract
	once     sync.Once
	engine   engine // nil before
	err      error
}

// newCompanion checks the network of data, with so many planes in each of its inputs.
func newCompanion(name string, data model.Forms, c Config, planes ...int) (*companion, error) {
	c.Model, c.ModelData = name, data
	g, _, err := readGraph(c)
	if err != nil {
		return nil, err
	}
	in := ports(g.Inputs)
	fits := func(p port, n int) bool { return len(p.shape) == 4 && p.shape[1] == int64(n) }
	if !slices.EqualFunc(in, planes, fits) {
		return nil, &ModelError{Path: name, Reason: fmt.Sprintf("does not take %d planes", planes)}
	}
	outputs := []port{{name: "matte", elem: uint8Elem}}
	return &companion{name: name, config: c, contract: contract{inputs: in, outputs: outputs}}, nil
}

// openCompanions readies the reviser, the chooser and the guide where n's Spec asks for them, for
// n's device.
func (n *Network) openCompanions(c Config) (err error) {
	if !n.contract.spec.Plate {
		return nil
	}
	c.Device = Device(n.info.Provider)
	if c.Reviser.Float != nil {
		if n.reviser, err = newCompanion("reviser", c.Reviser, c, int(view.Count)); err != nil {
			return err
		}
	}
	if c.Chooser.Float != nil {
		if n.chooser, err = newCompanion("chooser", c.Chooser, c, int(view.CellCount), view.FeatureCount); err != nil {
			return err
		}
	}
	if c.Guide.Float != nil {
		alone := c // each frame needs the one before
		alone.Threads, _ = parallelism(cores.Count(), 0, 1, true)
		if n.guide, err = newCompanion("guide", c.Guide, alone, int(view.MarkCount)); err != nil {
			return err
		}
	}
	n.info.Plate, n.info.Chooses, n.info.Guided = n.reviser != nil, n.chooser != nil, n.guide != nil
	return nil
}

func (p *companion) open() (engine, error) {
	p.once.Do(func() { p.engine, p.err = newEngine(p.config, &p.contract) })
	return p.engine, p.err
}

// planes is an input of a companion, count planes of w × h.
func planes(pix []uint8, count, w, h int) *tensor {
	return &tensor{elem: uint8Elem, shape: []int64{1, int64(count), int64(h), int64(w)}, u8: pix}
}

// run gives the matte, w × h, for its inputs.
func (p *companion) run(ctx context.Context, n *Network, matte []uint8, w, h int, in ...*tensor) error {
	slot, err := n.acquire(ctx)
	if err != nil {
		return err
	}
	defer n.release(slot)
	e, err := p.open()
	if err != nil {
		return err
	}
	if err := e.run(ctx, in, []*tensor{planes(matte, 1, w, h)}); err != nil {
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
		return nil, n.modelError("cannot choose a subject", nil)
	}
	chosen, seen := make([]uint8, v.W*v.H), &v.Features
	return chosen, n.chooser.run(ctx, n, chosen, v.W, v.H,
		planes(v.Pix, int(view.CellCount), v.W, v.H), planes(seen.Pix, view.FeatureCount, seen.W, seen.H))
}

// Guide gives the matte of what hints mark, row by row. Only a network whose Info has Guided
// can. It is safe for concurrent use.
func (n *Network) Guide(ctx context.Context, v *view.Marked) ([]uint8, error) {
	if n.guide == nil {
		return nil, n.modelError("cannot follow hints", nil)
	}
	found := make([]uint8, v.W*v.H)
	return found, n.guide.run(ctx, n, found, v.W, v.H, planes(v.Pix, int(view.MarkCount), v.W, v.H))
}
