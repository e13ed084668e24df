package model

import (
	"bytes"
	"testing"
)

// The walk ends on any input, and only on a whole network with success.
func FuzzWalkONNX(f *testing.F) {
	whole := []byte{0x08, 8, 0x12, 2, 'h', 'i', 0x3a, 3, 1, 2, 3}
	f.Add(whole)
	f.Add(whole[:9])
	f.Add([]byte("<html>"))
	f.Add([]byte{0x3a, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1})
	f.Fuzz(func(t *testing.T, data []byte) {
		if walkONNX(bytes.NewReader(data), int64(len(data))) == nil && !bytes.ContainsRune(data, 0x3a) {
			t.Errorf("% x has no graph", data)
		}
	})
}

func TestWalkONNX(t *testing.T) {
	t.Parallel()
	whole := []byte{0x08, 8, 0x12, 2, 'h', 'i', 0x3a, 3, 1, 2, 3, 0x42, 1, 0}
	if err := walkONNX(bytes.NewReader(whole), int64(len(whole))); err != nil {
		t.Error(err)
	}
	for n := range len(whole) - 3 { // what lacks the graph or a part of it
		if walkONNX(bytes.NewReader(whole[:n]), int64(n)) == nil {
			t.Errorf("the first %d bytes passed", n)
		}
	}
}

// A sidecar that passes is one that can be used.
func FuzzParseSpec(f *testing.F) {
	f.Add([]byte(`{"kind":"frame","input":{"width":320,"height":320,"mean":[0,0,0],"std":[1,1,1]},"output":{}}`))
	f.Add([]byte(`{} x`))
	f.Fuzz(func(t *testing.T, data []byte) {
		s, err := parseSpec(data)
		if err != nil && s != (Spec{}) {
			t.Error("a spec came with an error")
		}
		if err == nil && s.Validate() != nil {
			t.Errorf("%s passed", data)
		}
	})
}
