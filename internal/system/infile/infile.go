// Package infile opens files that are read.
package infile

import (
	"errors"
	"io/fs"
	"os"
)

// ErrNotRegular is the error of folders, pipes and devices.
var ErrNotRegular = errors.New("not a regular file")

// Open opens a regular file. It looks before that: a pipe would not open until somebody
// writes to it, and no signal ends that wait. The error is an *fs.PathError.
func Open(path string) (*os.File, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, &fs.PathError{Op: "open", Path: path, Err: ErrNotRegular}
	}
	return os.Open(path)
}
