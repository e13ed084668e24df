//go:build linux || darwin

package fetch

import "golang.org/x/sys/unix"

// freeSpace is the free space on the disk of dir in bytes.
func freeSpace(dir string) (int64, bool) {
	var s unix.Statfs_t
	if err := unix.Statfs(dir, &s); err != nil {
		return 0, false
	}
	return int64(s.Bavail) * int64(s.Bsize), true //nolint:unconvert // Bsize has another type on other systems
}
