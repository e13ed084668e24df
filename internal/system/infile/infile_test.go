package infile_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/bgremove/bgremove/internal/system/infile"
)

func TestOpen(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "clip")
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := infile.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Error(err)
	}
	for path, want := range map[string]error{dir: infile.ErrNotRegular, filepath.Join(dir, "none"): fs.ErrNotExist} {
		if _, err := infile.Open(path); !errors.Is(err, want) || !errors.As(err, new(*fs.PathError)) {
			t.Errorf("%s: %v, want %v", path, err, want)
		}
	}
}
