// Package scratch gives a process a folder for temporary files that does not
// outlive it: where the process is killed, the next one removes the folder.
package scratch

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/bgremove/bgremove/internal/system/filelock"
)

const (
	prefix   = "bgremove-scratch-"
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
	if err := removeAbandoned(parent); err != nil {
		return nil, fmt.Errorf("scratch folder: %w", err)
	}
	var taken error
	for range tries {
		path, err := os.MkdirTemp(parent, prefix+"*")
		if err != nil {
			return nil, fmt.Errorf("scratch folder: %w", err)
		}
		lock, err := lockFolder(path)
		if err == nil {
			return &Dir{path, lock}, nil
		}
		taken = errors.Join(err, os.RemoveAll(path))
	}
	return nil, fmt.Errorf("scratch folder: %w", taken)
}

// Path is the folder. It may be used until Close.
func (d *Dir) Path() string { return d.path }

// Close removes the folder and all in it.
func (d *Dir) Close() error {
	err := remove(d.path)
	_ = d.lock.Close() // it was closed before if this is called again
	return err
}

// tries is how many folders Open makes at most. A process that starts at the same time may take one
// for abandoned while its lock is there and not yet held.
const tries = 20

// lockFolder locks a folder. It fails if another process holds it, or removed it meanwhile.
func lockFolder(path string) (*os.File, error) {
	f, err := os.OpenFile(filepath.Join(path, lockName), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	err = filelock.TryLock(f)
	if err == nil {
		err = filelock.Named(f)
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// removeAbandoned removes the folders that nobody holds. It leaves links alone: in a folder
// that all users share, a stranger's may lead to what is ours.
func removeAbandoned(parent string) error {
	entries, err := os.ReadDir(parent)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if !e.IsDir() || !strings.HasPrefix(e.Name(), prefix) {
			continue
		}
		folder := filepath.Join(parent, e.Name())
		f, err := os.OpenFile(filepath.Join(folder, lockName), os.O_RDWR, 0o600)
		if errors.Is(err, fs.ErrNotExist) && abandoned(folder) {
			_ = remove(folder) // what is left is for the next time
		}
		if err != nil {
			continue // another process was faster, or it is another user's
		}
		if filelock.TryLock(f) == nil {
			_ = remove(folder)
		}
		_ = f.Close()
	}
	return nil
}

// lockWithin is more than passes between the making of a folder and its lock.
const lockWithin = time.Minute

// abandoned reports whether a folder without a lock is of a process that was
// killed just after it had made it, and not of one that is about to lock it.
func abandoned(folder string) bool {
	info, err := os.Stat(folder)
	return err == nil && time.Since(info.ModTime()) > lockWithin
}

// remove removes a folder, its lock last: when we are killed meanwhile, the
// next process still knows whose the rest was.
func remove(folder string) error {
	entries, err := os.ReadDir(folder)
	errs := []error{err}
	for _, e := range entries {
		if e.Name() != lockName {
			errs = append(errs, os.RemoveAll(filepath.Join(folder, e.Name())))
		}
	}
	if err := errors.Join(errs...); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return os.RemoveAll(folder)
}
