package filelock_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/bgremove/bgremove/internal/system/filelock"
)

func TestLock(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "lock")
	open := func() *os.File {
		f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = f.Close() })
		return f
	}
	first, second := open(), open()
	if err := filelock.Lock(first); err != nil {
		t.Fatal(err)
	}
	if err := filelock.TryLock(second); !errors.Is(err, filelock.ErrHeld) {
		t.Errorf("a held lock: %v", err)
	}
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	if err := filelock.TryLock(second); err != nil {
		t.Errorf("a free lock: %v", err)
	}
}

func TestNamed(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "lock")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := filelock.Named(f); err != nil {
		t.Errorf("a file with its name: %v", err)
	}
	if err := os.Rename(path, path+".old"); err != nil {
		t.Skip(err) // Windows keeps the names of open files
	}
	if err := filelock.Named(f); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a file without its name: %v", err)
	}
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := filelock.Named(f); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a name that another file has: %v", err)
	}
}
