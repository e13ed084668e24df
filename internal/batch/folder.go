package batch

import (
	"errors"
	"io/fs"
	"os"

	"github.com/bgremove/bgremove/pkg/bgremove"
)

// Prepare creates the folder of outputs if it is missing, and checks that files
// can be created in it. Errors are *bgremove.Error.
func Prepare(dir string) error {
	if stat, err := os.Stat(dir); err == nil && !stat.IsDir() {
		return &bgremove.Error{Kind: bgremove.Failed, Cause: OutIsFile, Path: dir, Reason: "is a file, not a folder"}
	}
	err := os.MkdirAll(dir, 0o777)
	if err == nil {
		err = checkWritable(dir)
	}
	if err == nil {
		return nil
	}
	return &bgremove.Error{Kind: bgremove.Failed, Cause: OutReadOnly, Path: dir, Reason: "the outputs' folder cannot be written to: " + pathReason(err), Err: err}
}

// pathReason is an error without the path that it is about.
func pathReason(err error) string {
	if p := (*fs.PathError)(nil); errors.As(err, &p) {
		return p.Err.Error()
	}
	return err.Error()
}

func checkWritable(dir string) error {
	f, err := os.CreateTemp(dir, ".bgremove-*.part")
	if err != nil {
		return err
	}
	return errors.Join(f.Close(), os.Remove(f.Name()))
}
