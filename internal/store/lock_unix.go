//go:build unix

package store

import (
	"os"

	"golang.org/x/sys/unix"
)

// lockFile waits until no other process has the lock. Closing f gives it up.
func lockFile(f *os.File) error {
	for {
		if err := unix.Flock(int(f.Fd()), unix.LOCK_EX); err != unix.EINTR {
			return err
		}
	}
}
