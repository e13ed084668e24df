package model

import "testing"

// A sidecar that passes can be used.
func FuzzParseSpec(f *testing.F) {
	f.Add([]byte(`{"kind":"frame","input":{"width":320,"height":320,"mean":[0,0,0],"std":[1,1,1]},"output":{}}`))
	f.Add([]byte(`{} x`))
	f.Fuzz(func(t *testing.T, data []byte) {
		s, err := ParseSpec(data)
		if err != nil && s != (Spec{}) {
			t.Error("a spec came with an error")
		}
		if err == nil && s.Validate() != nil {
			t.Errorf("%s passed", data)
		}
	})
}
