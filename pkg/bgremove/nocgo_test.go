//go:build !cgo

package bgremove_test

import (
	"errors"
	"path/filepath"
	"testing"

	"github.com/bgremove/bgremove/pkg/bgremove"
)

// Without cgo a network is refused for that, whatever else may be missing; fast
// works, and the diagnosis does not send anybody to get a library.
func TestNoCGO(t *testing.T) {
	t.Parallel()
	input, output := "../../testdata/pygif/animation.gif", filepath.Join(t.TempDir(), "out.gif")
	r := bgremove.New(bgremove.Config{ModelsDir: t.TempDir()})
	o := bgremove.Defaults()
	o.Method = bgremove.Rembg
	_, err := r.Remove(t.Context(), input, output, o, bgremove.Extras{})
	if e := (*bgremove.Error)(nil); !errors.As(err, &e) || e.Kind != bgremove.Missing || !errors.Is(err, bgremove.NoNetworks) || e.Without != bgremove.Fast {
		t.Errorf("rembg: %v", err)
	}
	o.Method = bgremove.Fast
	if _, err := r.Remove(t.Context(), input, output, o, bgremove.Extras{}); err != nil {
		t.Errorf("fast: %v", err)
	}
	for _, c := range r.Diagnose(t.Context()).Checks {
		if c.Name == "ONNX Runtime" && (c.OK || !errors.Is(c.Err, bgremove.NoNetworks)) {
			t.Errorf("diagnosis: %+v", c)
		}
	}
}
