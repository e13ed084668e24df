package client

import (
	"crypto/rand"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// part is a temporary file beside the one that it will be.
type part struct {
	*os.File
	path      string
	overwrite bool
}

// createPart creates the temporary file. An existing file is an error,
// fs.ErrExist, unless overwrite is set. A link stays, and its target is
// replaced. Errors are *fs.PathError of path.
func createPart(path string, overwrite bool) (*part, error) {
	target := path
	if stat, err := os.Stat(path); err == nil {
		switch {
		case !stat.Mode().IsRegular():
			return nil, pathError(path, errors.New("is no regular file"))
		case !overwrite:
			return nil, pathError(path, fs.ErrExist)
		}
		if target, err = filepath.EvalSymlinks(path); err != nil {
			return nil, pathError(path, err)
		}
	}
	name := filepath.Join(filepath.Dir(target), ".bgremove-"+rand.Text()+".part")
	f, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return nil, pathError(path, err)
	}
	return &part{File: f, path: target, overwrite: overwrite}, nil
}

// pathError is about path, though its cause may be about the temporary file.
func pathError(path string, err error) error {
	if p := (*fs.PathError)(nil); errors.As(err, &p) {
		err = p.Err
	}
	return &fs.PathError{Op: "create", Path: path, Err: err}
}

// restart empties it.
func (p *part) restart() error {
	if err := p.Truncate(0); err != nil {
		return err
	}
	_, err := p.Seek(0, 0)
	return err
}

// discard removes the temporary file, unless commit has renamed it.
func (p *part) discard() {
	_ = p.Close() // it may be closed already
	_ = os.Remove(p.Name())
}

// commit gives the complete file its name.
func (p *part) commit() error {
	defer p.discard()
	if err := errors.Join(p.Sync(), p.Close()); err != nil {
		return err
	}
	if p.overwrite {
		return os.Rename(p.Name(), p.path)
	}
	// A link, unlike a rename, does not replace a file that has appeared
	// meanwhile.
	switch err := os.Link(p.Name(), p.path); {
	case err == nil:
		return nil
	case errors.Is(err, fs.ErrExist):
		return pathError(p.path, fs.ErrExist)
	}
	return os.Rename(p.Name(), p.path) // file systems without links
}
