package disk_test

import (
	"errors"
	"io/fs"
	"path/filepath"
	"testing"

	"github.com/bgremove/bgremove/internal/system/disk"
)

// A folder that is there has some room, and of one that is not the error says so.
func TestFree(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if n, err := disk.Free(dir); err != nil || n <= 0 {
		t.Errorf("%d bytes, %v", n, err)
	}
	if _, err := disk.Free(filepath.Join(dir, "none")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a folder that does not exist: %v", err)
	}
}
