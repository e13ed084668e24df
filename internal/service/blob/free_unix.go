//go:build unix

package blob

import "golang.org/x/sys/unix"

// freeBytes is how many bytes this user may still write at a path.
func freeBytes(path string) (int64, error) {
	var s unix.Statfs_t
	if err := unix.Statfs(path, &s); err != nil {
		return 0, err
	}
	return int64(min(uint64(s.Bavail), 1<<62/uint64(s.Bsize)) * uint64(s.Bsize)), nil //nolint:unconvert // it is signed elsewhere
}
