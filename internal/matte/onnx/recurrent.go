package onnx

import (
	"context"
	"image"
	"slices"
)

// state is a recurrent network's memory: its tensors r1 to r4.
type state struct {
	size image.Point // of the input that they are for
	now  [4]*tensor
	next [4]*tensor // memory for what follows now
}

// newState is a state that knows nothing: single zeros, which the network
// broadcasts.
func newState() *state {
	s := &state{}
	for i := range s.now {
		s.now[i] = &tensor{elem: float32Elem, shape: []int64{1, 1, 1, 1}, f32: []float32{0}}
		s.next[i] = &tensor{}
	}
	return s
}

// runRecurrent runs a recurrent network on p, which is in slot. The caller holds
// the clip's turn.
func (c *Clip) runRecurrent(ctx context.Context, slot *slot, p *image.NRGBA, v *letterbox) (Result, error) {
	k := &c.n.contract
	if size := image.Pt(v.w, v.h); c.state.size != size {
		c.state = newState()
		c.state.size = size
	}
	st := c.state
	in := []*tensor{&slot.in}
	for i, r := range st.now {
		in = append(in, r.as(k.inputs[1+i].elem))
	}
	in = append(in, ratio(v.w, v.h))
	out := append([]*tensor{&slot.out, &slot.fgr}, st.next[:]...)
	// The contract says what size these have.
	slot.out.resize(float32Elem, 1, 1, int64(v.h), int64(v.w))
	slot.fgr.resize(float32Elem, 1, 3, int64(v.h), int64(v.w))
	if err := c.n.engine.run(ctx, in, out); err != nil {
		c.state = newState()
		return Result{}, c.failed(ctx, err)
	}
	for i, r := range st.next {
		// The first state is a single zero: no memory for the one after next.
		if !slices.Equal(st.now[i].shape, r.shape) {
			st.now[i] = &tensor{}
		}
	}
	st.now, st.next = st.next, st.now
	return c.recurrentResult(&slot.out, &slot.fgr, p, v)
}

func (c *Clip) recurrentResult(matte, foreground *tensor, p *image.NRGBA, v *letterbox) (Result, error) {
	m, err := c.matte(matte, v)
	if err != nil {
		c.state = newState()
		return Result{}, err
	}
	if c.o.NoForeground {
		return Result{Matte: m, Picture: p}, nil
	}
	f, err := toPicture(foreground, v.inner)
	if err != nil {
		c.state = newState()
		return Result{}, c.n.modelError("output "+c.n.contract.outputs[1].name, err)
	}
	return Result{Matte: m, Picture: p, Foreground: f}, nil
}

// ratio is downsample_ratio as its authors recommend: it scales the longer side
// to 512, and is 1 for smaller pictures (Robust Video Matting, inference
// documentation).
func ratio(w, h int) *tensor {
	r := min(512/float32(max(w, h)), 1)
	return &tensor{elem: float32Elem, shape: []int64{1}, f32: []float32{r}}
}

// as is t, which is float32, with elements of type e.
func (t *tensor) as(e elem) *tensor {
	if e != float16Elem {
		return t
	}
	h := &tensor{}
	h.resize(e, t.shape...)
	for i, v := range t.f32 {
		h.f16[i] = toHalf(v)
	}
	return h
}
