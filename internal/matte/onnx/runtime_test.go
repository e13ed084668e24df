package onnx_test

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/bgremove/bgremove/internal/matte/onnx"
)

// fresh reports whether this is a process that again started.
func fresh() bool { return os.Getenv("ONNX_TEST_FRESH") != "" }

// again runs the test in a process of its own, with more in its environment.
func again(t *testing.T, environment ...string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^"+t.Name()+"$")
	cmd.Env = append(append(os.Environ(), "ONNX_TEST_FRESH=1"), environment...)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
}

// loads opens a network with a library.
func loads(t *testing.T, library string) {
	t.Helper()
	n, err := onnx.Open(onnx.Config{Library: library, Model: nets + "distance.onnx"})
	if err != nil {
		t.Fatal(err)
	}
	if err := n.Close(); err != nil {
		t.Error(err)
	}
}

// TestNoRuntime runs itself in a process of its own, since a process that has
// a runtime loads no other.
func TestNoRuntime(t *testing.T) {
	lib := library(t)
	if !fresh() {
		again(t, "BGREMOVE_ONNXRUNTIME=/nowhere/libonnxruntime.so.1", "ONNX_TEST_LIBRARY="+lib)
		return
	}
	text := filepath.Join(t.TempDir(), "libonnxruntime.so.1")
	if err := os.WriteFile(text, []byte("not a library"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{lib, text} {
		_, err := onnx.Open(onnx.Config{Library: path, Model: nets + "distance.onnx"})
		if !errors.Is(err, onnx.ErrNoRuntime) || !strings.Contains(err.Error(), path) {
			t.Errorf("%s: error %v", path, err)
		}
	}
	// Having looked in vain does not keep from using the right one.
	loads(t, os.Getenv("ONNX_TEST_LIBRARY"))
}

// TestSilent runs itself in a process of its own, whose home and temporary
// folders are empty: ONNX Runtime leaves nothing there.
func TestSilent(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("its build knows no such switch")
	}
	lib := library(t)
	if !fresh() {
		home := t.TempDir()
		again(t, "HOME="+home, "XDG_CACHE_HOME="+home, "TMPDIR="+home)
		left, err := os.ReadDir(home)
		if err != nil || len(left) > 0 {
			t.Errorf("left behind: %v, %v", left, err)
		}
		return
	}
	loads(t, lib)
}
