//go:build unix

package rig_test

import (
	"os"
	"testing"

	"github.com/bgremove/bgremove/tools/internal/rig"
	"github.com/bgremove/bgremove/tools/internal/rig/rigtest"
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
	r, p := rigtest.New(t, rigtest.Idle)
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
