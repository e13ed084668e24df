package store

import (
	"os"

	"golang.org/x/sys/windows"
)

// lockFile waits until no other process has the lock. Closing f gives it up.
func lockFile(f *os.File) error {
	return windows.LockFileEx(windows.Handle(f.Fd()), windows.LOCKFILE_EXCLUSIVE_LOCK, 0, 1, 0, new(windows.Overlapped))
}
