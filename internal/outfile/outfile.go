// Package outfile writes files that appear under their names when they are
// complete.
package outfile

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// What may be in the way of a file, in an *fs.PathError, beside fs.ErrExist.
var (
	// ErrFolder is a folder of that name.
	ErrFolder = errors.New("is a folder")
	// ErrSpecial is a device, pipe or socket of that name.
	ErrSpecial = errors.New("not a regular file")
	// ErrDangling is a link of that name that leads nowhere.
	ErrDangling = errors.New("a broken link")
)

// File is a temporary file beside the one that it will be.
type File struct {
	*os.File
	path      string
	overwrite bool
}

// Create makes the temporary file for path, in whose folder there must be room
// anyway. A file that is there is an error, fs.ErrExist, unless overwrite is
// set. If it is a link, it stays; what it points to is replaced, and must be there. Errors are
// *fs.PathError of path.
func Create(path string, overwrite bool) (*File, error) {
	target := path
	if stat, err := os.Stat(path); err == nil {
		switch {
		case stat.IsDir():
			return nil, failed(path, ErrFolder)
		case !stat.Mode().IsRegular():
			return nil, failed(path, ErrSpecial)
		case !overwrite:
			return nil, failed(path, fs.ErrExist)
		}
		if target, err = filepath.EvalSymlinks(path); err != nil {
			return nil, failed(path, err)
		}
	} else if _, linkErr := os.Lstat(path); linkErr == nil && errors.Is(err, fs.ErrNotExist) {
		return nil, failed(path, ErrDangling)
	}
	f, err := os.CreateTemp(filepath.Dir(target), ".bgremove-*.part")
	if err != nil {
		return nil, failed(path, err)
	}
	return &File{File: f, path: target, overwrite: overwrite}, nil
}

// failed is an error about path whose cause may be about the temporary file.
func failed(path string, err error) error {
	if p := (*fs.PathError)(nil); errors.As(err, &p) {
		err = p.Err
	}
	return &fs.PathError{Op: "create", Path: path, Err: err}
}

// Discard removes what was written, unless Commit gave it its name.
func (f *File) Discard() {
	_ = f.Close() // it may be closed already
	_ = os.Remove(f.Name())
}

// Commit gives the complete file its name and returns its size in bytes.
func (f *File) Commit() (size int64, err error) {
	defer f.Discard()
	if err := f.Sync(); err != nil {
		return 0, err
	}
	stat, err := os.Stat(f.Name()) // by name: an encoder may have replaced it
	if err != nil {
		return 0, err
	}
	_ = os.Chmod(f.Name(), 0o666&^umask()) // shared folders of other systems refuse it
	if err := f.Close(); err != nil {
		return 0, err
	}
	if f.overwrite {
		return stat.Size(), os.Rename(f.Name(), f.path)
	}
	// A link, unlike a rename, does not replace what has come up meanwhile.
	switch err := os.Link(f.Name(), f.path); {
	case err == nil:
		return stat.Size(), nil
	case errors.Is(err, fs.ErrExist):
		return 0, failed(f.path, fs.ErrExist)
	}
	return stat.Size(), os.Rename(f.Name(), f.path) // file systems without links
}

// Remove removes a file, if it is there.
func Remove(path string) error {
	if err := os.Remove(path); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}
