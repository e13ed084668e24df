// Package rigtest makes rigs of scripts that stand for bgremove, for tests.
package rigtest

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/bgremove/bgremove/tools/internal/rig"
)

// Idle are the commands of a service that starts, and does nothing.
const Idle = `echo '{"msg":"started"}' >&2; exec sleep 60`

// New makes a rig whose program runs the commands of a shell, and a deployment on SQLite. The test's end closes
// the rig.
func New(t *testing.T, commands string) (*rig.Rig, *rig.Deployment) {
	t.Helper()
	program := filepath.Join(t.TempDir(), "bgremove")
	if err := os.WriteFile(program, []byte("#!/bin/sh\n"+commands+"\n"), 0o755); err != nil { //nolint:gosec // a program
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
	return r, p
}
