// Package rig runs the service as operators do: as processes of its binary, on
// a database and storage of their own. The tools that measure or kill the
// service share it.
package rig

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
)

// Rig is a built binary and a temporary folder for everything else.
type Rig struct {
	// Dir is removed by Close.
	Dir    string
	binary string

	mu    sync.Mutex
	kills []func() // of all processes that were started
}

// Open builds the binary from the module in the working directory. The caller must
// Close the rig, or End it.
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

// Use takes an existing binary. Close or End the rig as after Open.
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

// Binary is the path of the binary.
func (r *Rig) Binary() string { return r.binary }

// Unlimited raises the rate limits of a node out of reach, without turning them off.
func Unlimited() []string {
	return []string{"--rate", "6000000", "--burst", "1000000", "--account-rate", "6000000", "--account-burst", "1000000"}
}

// ends notes how to kill a process that was started.
func (r *Rig) ends(kill func()) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.kills = append(r.kills, kill)
}

// End kills the processes that still run, as after an error, and keeps the folder.
func (r *Rig) End() {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, kill := range r.kills {
		kill()
	}
	r.kills = nil
}

// Close ends the rig and removes the folder.
func (r *Rig) Close() error {
	r.End()
	return os.RemoveAll(r.Dir)
}

// environment is the environment of nodes. Their settings come only from their
// command lines. They find no neural network, because its start would be in
// every measurement.
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
