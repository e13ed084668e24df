package onnx

import (
	"context"
	"fmt"

	"github.com/bgremove/bgremove/internal/buffer"
)

// elem is the type of a tensor's elements, numbered as in onnx.proto3
// (TensorProto.DataType), which is also ONNX Runtime's numbering.
type elem int

const (
	float32Elem elem = 1
	uint8Elem   elem = 2
	float16Elem elem = 10
)

func (e elem) String() string {
	switch e {
	case float32Elem:
		return "float32"
	case uint8Elem:
		return "uint8"
	case float16Elem:
		return "float16"
	}
	return fmt.Sprintf("element type %d", int(e))
}

func (e elem) known() bool { return e == float32Elem || e == uint8Elem || e == float16Elem }

// tensor is a dense array; the slice that elem says holds its values.
type tensor struct {
	elem  elem
	shape []int64
	f32   []float32
	f16   []uint16
	u8    []uint8
}

// resize gives t a shape, keeping its memory where it fits.
func (t *tensor) resize(e elem, shape ...int64) {
	n := 1
	for _, d := range shape {
		n *= int(d)
	}
	t.elem, t.shape = e, shape
	switch e {
	case float32Elem:
		t.f32 = buffer.Sized(t.f32, n)
	case float16Elem:
		t.f16 = buffer.Sized(t.f16, n)
	case uint8Elem:
		t.u8 = buffer.Sized(t.u8, n)
	}
}

// engine runs a network. Its methods but close are safe for concurrent use.
type engine interface {
	// run reads in, in the contract's order of inputs, and writes out, in its
	// order of outputs. An output with no shape is given one, and memory; any
	// other must have the shape that the network gives. Outputs of float16
	// arrive as float32.
	run(ctx context.Context, in, out []*tensor) error
	// provider names the execution provider in use.
	provider() string
	// refused is the reason why the preferred provider is not used, or nil.
	refused() error
	close() error
}
