package mcp

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/bgremove/bgremove/pkg/bgremove"
	"github.com/bgremove/bgremove/pkg/option"
)

// folder is one in which files may be read and written.
type folder struct {
	given string // absolute, as it was named
	real  string // without links
}

func (f folder) has(path string) bool { return below(f.given, path) || below(f.real, path) }

// below reports whether a path is a folder, or lies in it, as far as names tell.
func below(folder, path string) bool {
	rest, err := filepath.Rel(folder, path)
	return err == nil && filepath.IsLocal(rest)
}

// folders are those in which files may be read and written. Links that lead out of
// them are followed before a path is judged. Whoever changes folders to links in the
// same moment is not hindered: that takes rights that reach further than these.
type folders []folder

func openFolders(paths []string) (all folders, err error) {
	for _, path := range paths {
		given, err := filepath.Abs(path)
		if err != nil {
			return nil, err
		}
		found, err := filepath.EvalSymlinks(given)
		if errors.Is(err, fs.ErrNotExist) {
			return nil, &bgremove.Error{Kind: bgremove.NotFound, Path: path, Reason: "no such folder", Err: err}
		}
		if err != nil {
			return nil, err
		}
		if stat, err := os.Stat(found); err != nil || !stat.IsDir() {
			return nil, &bgremove.Error{Kind: bgremove.Failed, Path: path, Reason: "not a folder", Err: err}
		}
		all = append(all, folder{given, found})
	}
	if len(all) == 0 {
		return nil, errors.New("no folder is allowed")
	}
	return all, nil
}

func (f folders) names() (all []string) {
	for _, one := range f {
		all = append(all, one.given)
	}
	return all
}

// input is the real path of a file that exists and may be read.
func (f folders) input(path string) (string, error) {
	asked, err := f.locate(path)
	if err != nil {
		return "", err
	}
	found, err := filepath.EvalSymlinks(asked)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "", &bgremove.Error{Kind: bgremove.NotFound, Path: asked, Reason: "no such file", Err: err}
	case err != nil:
		return "", err
	case !f.have(found):
		return "", f.outside(asked, " leads")
	}
	stat, err := os.Stat(found)
	if err != nil {
		return "", err
	}
	if !stat.Mode().IsRegular() {
		return "", &bgremove.Error{Kind: bgremove.Unreadable, Cause: bgremove.InputNotFile, Path: asked, Reason: "not a regular file"}
	}
	return found, nil
}

// output is the real path of a file that may be written. Its folder exists.
func (f folders) output(path string) (string, error) {
	asked, err := f.locate(path)
	if err != nil {
		return "", err
	}
	if stat, err := os.Stat(asked); err == nil && stat.IsDir() {
		return "", &bgremove.Error{Kind: bgremove.Failed, Cause: bgremove.OutputIsFolder, Path: asked, Reason: "is a folder"}
	}
	if _, ok := option.FormatOf(asked); !ok {
		return "", &bgremove.Error{Kind: bgremove.Invalid, Path: asked, Reason: "its extension is that of no format which is written"}
	}
	parent, err := filepath.EvalSymlinks(filepath.Dir(asked))
	if errors.Is(err, fs.ErrNotExist) {
		return "", &bgremove.Error{Kind: bgremove.Failed, Cause: bgremove.OutputFolderMissing, Path: asked, Reason: "the output's folder does not exist", Err: err}
	}
	if err != nil {
		return "", err
	}
	found := filepath.Join(parent, filepath.Base(asked))
	if stat, err := os.Lstat(found); err == nil && stat.Mode()&fs.ModeSymlink != 0 {
		if found, err = filepath.EvalSymlinks(found); err != nil {
			return "", &bgremove.Error{Kind: bgremove.Failed, Cause: bgremove.OutputBrokenLink, Path: asked, Reason: "a broken link", Err: err}
		}
	}
	if !f.have(found) {
		return "", f.outside(asked, " leads")
	}
	return found, nil
}

// locate makes a path absolute, and refuses one that is outside by its name alone:
// nobody learns what exists there.
func (f folders) locate(path string) (string, error) {
	if path == "" {
		return "", errors.New("the path is empty: name a file")
	}
	if !filepath.IsAbs(path) {
		path = filepath.Join(f[0].given, path)
	}
	path = filepath.Clean(path)
	for _, one := range f {
		if one.has(path) {
			return path, nil
		}
	}
	return "", f.outside(path, " is")
}

// have reports whether a path without links lies in one of the folders.
func (f folders) have(path string) bool {
	for _, one := range f {
		if below(one.real, path) {
			return true
		}
	}
	return false
}

func (f folders) outside(path, verb string) error {
	return fmt.Errorf("%s%s outside the folders that these tools may use: name a file in %s, or ask whoever set the tools up to allow more", path, verb, option.List(f.names(), "or"))
}
