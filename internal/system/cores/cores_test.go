package cores_test

import (
	"runtime"
	"testing"

	"github.com/bgremove/bgremove/internal/system/cores"
)

// What computes must not grow with the processors that wait for C.
func TestSpareLeavesCount(t *testing.T) {
	before := cores.Count()
	if before != runtime.GOMAXPROCS(0) {
		t.Fatalf("%d cores at first, want %d", before, runtime.GOMAXPROCS(0))
	}
	cores.Spare()
	if n := cores.Count(); n != before {
		t.Errorf("%d cores with spare processors, want %d as before", n, before)
	}
	if n := runtime.GOMAXPROCS(0); n <= before {
		t.Errorf("Go has %d processors, want more than %d", n, before)
	}
}
