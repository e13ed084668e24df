//go:build unix

package main

import (
	"context"
	"testing"

	"github.com/bgremove/bgremove/tools/internal/rig/rigtest"
)

// TestMember checks that a member whose node is killed and does not start again, as after Ctrl-C,
// can still be told to stop.
func TestMember(t *testing.T) {
	t.Parallel()
	_, p := rigtest.New(t, rigtest.Idle)
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
