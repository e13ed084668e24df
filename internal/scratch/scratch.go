// Package scratch gives a process a folder for temporary files that does not
// outlive it: where the process is killed, the next one removes the folder.
package scratch

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/bgremove/bgremove/internal/filelock"
)

const (
	pattern  = "bgremove-scratch-*"
	lockName = ".lock"
)

// Dir is a folder of this process.
type Dir struct {
	path string
	lock *os.File
}

// Open makes a folder in parent, which is made too if it does not exist; empty
// is the system's folder for temporary files. It removes the folders there of
// processes that have ended.
func Open(parent string) (*Dir, error) {
	if parent == "" {
		parent = os.TempDir()
	}
	if err := os.MkdirAll(parent, 0o700); err != nil {
		return nil, fmt.Errorf("scratch folder: %w", err)
	}
	if err := tidy(parent); err != nil {
		return nil, fmt.Errorf("scratch folder: %w", err)
	}
	path, err := os.MkdirTemp(parent, pattern)
	if err != nil {
		return nil, fmt.Errorf("scratch folder: %w", err)
	}
	d := &Dir{path: path}
	if d.lock, err = hold(path); err != nil {
		return nil, errors.Join(fmt.Errorf("scratch folder: %w", err), os.RemoveAll(path))
	}
	return d, nil
}

// Path is the folder. It may be used until Close.
func (d *Dir) Path() string { return d.path }

// Close removes the folder and all in it.
func (d *Dir) Close() error {
	err := os.RemoveAll(d.path)
	_ = d.lock.Close() // it was closed before if this is called again
	return err
}

// hold locks a folder.
func hold(path string) (*os.File, error) {
	f, err := os.OpenFile(filepath.Join(path, lockName), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	if err := filelock.TryLock(f); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// tidy removes the folders that nobody holds. A folder without a lock file is
// one that another process has just made.
func tidy(parent string) error {
	locks, err := filepath.Glob(filepath.Join(parent, pattern, lockName))
	if err != nil {
		return err
	}
	for _, name := range locks {
		f, err := os.OpenFile(name, os.O_RDWR, 0o600)
		if err != nil {
			continue // another process was faster, or it is another user's
		}
		if filelock.TryLock(f) == nil {
			_ = os.RemoveAll(filepath.Dir(name)) // what is left is for the next time
		}
		_ = f.Close()
	}
	return nil
}
