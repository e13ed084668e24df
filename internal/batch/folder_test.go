package batch_test

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/bgremove/bgremove/internal/batch"
	"github.com/bgremove/bgremove/pkg/bgremove"
)

func TestPrepare(t *testing.T) {
	t.Parallel()
	dir := tree(t, "file")
	for range 2 {
		out := filepath.Join(dir, "new", "out")
		if err := batch.Prepare(out); err != nil {
			t.Fatal(err)
		}
		if left, err := os.ReadDir(out); err != nil || len(left) > 0 {
			t.Errorf("left behind: %v, %v", left, err)
		}
	}
	bad := map[string]string{filepath.Join(dir, "file"): "is a file", filepath.Join(dir, "file", "out"): "cannot be written to: ",
		filepath.Join(dir, strings.Repeat("x", 300)): "cannot be written to: "}
	if runtime.GOOS == "linux" {
		bad["/proc"] = "cannot be written to: " // not even by root
	}
	for out, want := range bad {
		err := batch.Prepare(out)
		if known := (*bgremove.Error)(nil); !errors.As(err, &known) || known.Path != out || known.Cause == "" || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", out, err)
		}
	}
}
