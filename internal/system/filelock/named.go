package filelock

import (
	"fmt"
	"io/fs"
	"os"
)

// Named fails if an open file is not the one that has its name any more. Who gets a lock asks this:
// the process that held it before may have removed or replaced the file.
func Named(f *os.File) error {
	open, err := f.Stat()
	if err != nil {
		return err
	}
	named, err := os.Lstat(f.Name())
	if err != nil {
		return err
	}
	if !os.SameFile(open, named) {
		return fmt.Errorf("%s: %w", f.Name(), fs.ErrNotExist)
	}
	return nil
}
