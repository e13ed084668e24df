//go:build unix

package main

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/bgremove/bgremove/tools/internal/rig"
)

// TestMember checks that a member whose node is killed and does not start again, as after Ctrl-C,
// can still be told to stop.
func TestMember(t *testing.T) {
	t.Parallel()
	program := filepath.Join(t.TempDir(), "bgremove")
	if err := os.WriteFile(program, []byte("#!/bin/sh\necho '{\"msg\":\"started\"}' >&2\nexec sleep 60\n"), 0o755); err != nil { //nolint:gosec // a program
		t.Fatal(err)
	}
	r, err := rig.Use(program)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = r.Close() })
	p, err := r.SQLite()
	if err != nil {
		t.Fatal(err)
	}
	m := &member{name: "all", role: "all"}
	if err := m.start(t.Context(), p); err != nil {
		t.Fatal(err)
	}
	m.Kill()
	ended, end := context.WithCancel(t.Context())
	end()
	if err := m.start(ended, p); err == nil {
		t.Error("it starts after the end")
	}
	if err := m.Stop(); err == nil {
		t.Error("a killed node stops in order")
	}
}
