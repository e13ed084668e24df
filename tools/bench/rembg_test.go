//go:build linux && cgo

package main

import (
	"os/exec"
	"testing"
)

// TestPiped checks that a program that fails early, or cannot start, does not leave the one
// before it waiting for a reader.
func TestPiped(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		reader string
		fails  bool
	}{
		"reads all": {"cat >/dev/null", false}, "fails early": {"exit 3", true},
	} {
		_, err := piped(exec.CommandContext(t.Context(), "head", "-c", "10000000", "/dev/zero"), exec.CommandContext(t.Context(), "sh", "-c", c.reader))
		if c.fails != (err != nil) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := piped(exec.CommandContext(t.Context(), "head", "-c", "10000000", "/dev/zero"), exec.CommandContext(t.Context(), "/nothing")); err == nil {
		t.Error("a program that is missing runs")
	}
}
