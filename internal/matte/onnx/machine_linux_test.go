package onnx

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
)

// TestMachine: what would end the process is refused before.
func TestMachine(t *testing.T) {
	t.Parallel()
	old := machine{available: func() (int64, bool) { return 0, false }}
	if err := old.canRun(); !errors.Is(err, ErrProcessor) {
		t.Errorf("without AVX: %v", err)
	}
	if err := old.canHold(1 << 40); err != nil {
		t.Errorf("of memory nothing is known: %v", err)
	}
	small := machine{avx: true, available: func() (int64, bool) { return 900e6, true }}
	if err := small.canRun(); err != nil {
		t.Errorf("with AVX: %v", err)
	}
	if err := small.canHold(449e6); err != nil {
		t.Errorf("a network that fits: %v", err)
	}
	if err := small.canHold(973e6); !errors.Is(err, ErrMemory) {
		t.Errorf("a network that does not fit: %v", err)
	}
}

func TestAvailableMemory(t *testing.T) {
	t.Parallel()
	if n, known := availableMemory(); !known || n < 1<<20 || n > 1<<50 {
		t.Errorf("%d bytes, known: %v", n, known)
	}
	bad := filepath.Join(t.TempDir(), "meminfo")
	if err := os.WriteFile(bad, []byte("MemFree: 12 kB\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, known := readField(bad, "MemAvailable:"); known {
		t.Error("known without MemAvailable")
	}
}

// TestCgroupAvailable: files that the kernel has cached take no memory away.
func TestCgroupAvailable(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	put := func(name, text string) {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	put("memory.current", "2400\n")
	put("memory.stat", "anon 300\nfile 2000\ninactive_file 1500\nactive_file 500\n")
	put("memory.max", "max\n")
	if _, limited := cgroupAvailable(dir); limited {
		t.Error("limited by max")
	}
	put("memory.max", "2500\n")
	if n, limited := cgroupAvailable(dir); n != 2100 || !limited {
		t.Errorf("%d left, limited: %v", n, limited)
	}
}
