//go:build !cgo

package onnx_test

import (
	"errors"
	"testing"

	"github.com/bgremove/bgremove/internal/matte/onnx"
)

func TestNoCGO(t *testing.T) {
	t.Parallel()
	if err := onnx.Supported(); !errors.Is(err, onnx.ErrNoCGO) {
		t.Errorf("supported: %v", err)
	}
	if _, err := onnx.Open(onnx.Config{Model: nets + "distance.onnx"}); !errors.Is(err, onnx.ErrNoCGO) {
		t.Errorf("error %v", err)
	}
}
