package scratch

import (
	"errors"
	"os"

	"github.com/bgremove/bgremove/internal/system/outfile"
)

// File makes a temporary file for this process alone in dir; empty is the system's folder for
// such files. Where the system allows it, the file has no name from then on, so nothing is left
// even if the process is killed. The caller ends it with Discard.
func File(dir, pattern string) (*os.File, error) {
	f, err := os.CreateTemp(dir, pattern)
	if err == nil {
		_ = os.Remove(f.Name()) // Windows keeps it until it is closed
	}
	return f, err
}

// Discard closes and removes a File.
func Discard(f *os.File) error { return errors.Join(f.Close(), outfile.Remove(f.Name())) }
