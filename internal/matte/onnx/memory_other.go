//go:build !linux

package onnx

// availableMemory is not known here.
func availableMemory() (int64, bool) { return 0, false }
