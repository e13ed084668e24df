//go:build !cgo

package onnx

func loadRuntime(string) error { return ErrNoCGO }

func runtimeVersion() string { return "" }

func newEngine(Config, *contract) (engine, error) { return nil, ErrNoCGO }
