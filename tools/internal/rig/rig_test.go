//go:build unix

package rig_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/bgremove/bgremove/tools/internal/rig"
)

// A kind of database that nobody knows is an error, not SQLite under another name.
func TestDeploy(t *testing.T) {
	t.Parallel()
	r, err := rig.Use(os.Args[0])
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = r.Close() })
	if _, err := r.Deploy(t.Context(), "sqlite"); err != nil {
		t.Error(err)
	}
	if p, err := r.Deploy(t.Context(), "postgresql"); err == nil {
		t.Errorf("postgresql is %s", p.Database)
	}
}

// Nothing outlives a rig, also if what used it failed and stopped no node.
func TestClose(t *testing.T) {
	t.Parallel()
	program := filepath.Join(t.TempDir(), "bgremove")
	if err := os.WriteFile(program, []byte("#!/bin/sh\necho '{\"msg\":\"started\"}' >&2\nexec sleep 60\n"), 0o755); err != nil { //nolint:gosec // a program
		t.Fatal(err)
	}
	r, err := rig.Use(program)
	if err != nil {
		t.Fatal(err)
	}
	p, err := r.SQLite()
	if err != nil {
		t.Fatal(err)
	}
	var nodes []*rig.Node
	for _, name := range []string{"stopped", "left"} {
		n, err := p.Start(t.Context(), name, "all")
		if err != nil {
			t.Fatal(err)
		}
		nodes = append(nodes, n)
	}
	nodes[0].Kill()
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	if nodes[1].Alive() {
		t.Error("a node runs on")
	}
	if _, err := os.Stat(r.Dir); err == nil {
		t.Error("the folder is left")
	}
}
