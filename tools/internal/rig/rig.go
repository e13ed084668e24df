// Package rig runs the service as operators do: processes of its binary, on a
// database and storage of their own. The tools that measure it and kill it
// share this.
package rig

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// Rig is a built binary and a temporary folder in which all else lies.
type Rig struct {
	// Dir is gone after Close.
	Dir    string
	binary string
}

// Open builds the binary of the module in the working directory. Close the rig
// when all its nodes have ended.
func Open(ctx context.Context) (*Rig, error) {
	dir, err := os.MkdirTemp("", "bgremove-rig-*")
	if err != nil {
		return nil, err
	}
	r := &Rig{Dir: dir, binary: filepath.Join(dir, "bgremove")}
	build := exec.CommandContext(ctx, "go", "build", "-o", r.binary, "./cmd/bgremove")
	if out, err := build.CombinedOutput(); err != nil {
		_ = r.Close()
		return nil, fmt.Errorf("build: %w: %s", err, out)
	}
	return r, nil
}

// Use takes a binary that is built already. Close the rig as one of Open.
func Use(binary string) (*Rig, error) {
	binary, err := filepath.Abs(binary)
	if err == nil {
		_, err = os.Stat(binary)
	}
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "bgremove-rig-*")
	return &Rig{Dir: dir, binary: binary}, err
}

// Close removes the folder.
func (r *Rig) Close() error { return os.RemoveAll(r.Dir) }

// environment is that of nodes: settings come from their command lines alone,
// and they find no neural network, whose start would be in every measurement.
func (r *Rig) environment(more []string) []string {
	var env []string
	for _, v := range os.Environ() {
		if !strings.HasPrefix(v, "BGREMOVE_") {
			env = append(env, v)
		}
	}
	env = append(env, "XDG_CACHE_HOME="+filepath.Join(r.Dir, "cache"), "XDG_CONFIG_HOME="+filepath.Join(r.Dir, "config"))
	return append(env, more...)
}
