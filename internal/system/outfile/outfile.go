// Package outfile writes files that get their names only when they are
// complete.
package outfile

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// Errors about an existing file, in an *fs.PathError. fs.ErrExist is another
// one.
var (
	// ErrFolder means that a folder has that name.
	ErrFolder = errors.New("is a folder")
	// ErrSpecial means that a device, pipe or socket has that name.
	ErrSpecial = errors.New("not a regular file")
	// ErrDangling means that a broken link has that name.
	ErrDangling = errors.New("a broken link")
)

// File is a temporary file beside its final place.
type File struct {
	*os.File
	path      string
	overwrite bool
	size      int64 // bytes, once it is complete
	complete  bool
}

// Create makes the temporary file for path, in the folder of the final file,
// since the disk needs room there anyway. An existing file is an error,
// fs.ErrExist, unless overwrite is set. A link stays and its target is
// replaced; the target must exist. Errors are *fs.PathError of path.
func Create(path string, overwrite bool) (*File, error) {
	target := path
	if stat, err := os.Stat(path); err == nil {
		switch {
		case stat.IsDir():
			return nil, createError(path, ErrFolder)
		case !stat.Mode().IsRegular():
			return nil, createError(path, ErrSpecial)
		case !overwrite:
			return nil, createError(path, fs.ErrExist)
		}
		if target, err = filepath.EvalSymlinks(path); err != nil {
			return nil, createError(path, err)
		}
	} else if !errors.Is(err, fs.ErrNotExist) {
		return nil, createError(path, err) // Commit could not use such a name
	} else if _, err := os.Lstat(path); err == nil {
		return nil, createError(path, ErrDangling)
	}
	f, err := os.CreateTemp(filepath.Dir(target), ".bgremove-*.part")
	if err != nil {
		return nil, createError(path, err)
	}
	return &File{File: f, path: target, overwrite: overwrite}, nil
}

// createError is an error about path; its cause may be about the temporary file.
func createError(path string, err error) error {
	if p := (*fs.PathError)(nil); errors.As(err, &p) {
		err = p.Err
	}
	return &fs.PathError{Op: "create", Path: path, Err: err}
}

// Discard removes the temporary file, unless Commit has renamed it.
func (f *File) Discard() {
	_ = f.Close() // it may already be closed
	_ = os.Remove(f.Name())
}

// Complete stores and closes the file, which has all its bytes, before Commit: so many
// files can wait for their names.
func (f *File) Complete() error {
	if f.complete {
		return nil
	}
	if err := f.Sync(); err != nil {
		return err
	}
	stat, err := os.Stat(f.Name()) // by name: an encoder may have replaced it
	if err != nil {
		return err
	}
	f.size = stat.Size()
	_ = os.Chmod(f.Name(), 0o666&^umask()) // network file systems may refuse it
	if err := f.Close(); err != nil {
		return err
	}
	f.complete = true
	return nil
}

// Commit gives the complete file its name and returns its size in bytes.
func (f *File) Commit() (size int64, err error) {
	defer f.Discard()
	if err := f.Complete(); err != nil {
		return 0, err
	}
	if f.overwrite {
		return f.size, os.Rename(f.Name(), f.path)
	}
	// A link, unlike a rename, does not replace a file that was created since.
	switch err := os.Link(f.Name(), f.path); {
	case err == nil:
		return f.size, nil
	case errors.Is(err, fs.ErrExist):
		return 0, createError(f.path, fs.ErrExist)
	}
	return f.size, os.Rename(f.Name(), f.path) // the file system has no links
}

// Remove removes a file if it exists.
func Remove(path string) error {
	if err := os.Remove(path); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}
