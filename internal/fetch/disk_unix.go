//go:build linux || darwin

package fetch

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// freeSpace is the room on the disk of dir in bytes.
func freeSpace(dir string) (int64, bool) {
	var s unix.Statfs_t
	if err := unix.Statfs(dir, &s); err != nil {
		return 0, false
	}
	return int64(s.Bavail) * int64(s.Bsize), true //nolint:unconvert // Bsize has another type on other systems
}

// lock keeps other processes away until the file is closed.
func lock(f *os.File) error {
	err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
	if errors.Is(err, unix.EWOULDBLOCK) {
		return ErrBusy
	}
	return nil // a file system without locks still takes files
}
