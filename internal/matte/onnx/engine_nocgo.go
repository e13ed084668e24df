//go:build !cgo

package onnx

// Supported is ErrNoCGO where this program cannot load ONNX Runtime.
func Supported() error { return ErrNoCGO }

func loadRuntime(string) error { return ErrNoCGO }

func runtimeVersion() string { return "" }

func newEngine(Config, *contract) (engine, error) { return nil, ErrNoCGO }
