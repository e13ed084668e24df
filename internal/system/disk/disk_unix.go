//go:build linux || darwin

package disk

import "golang.org/x/sys/unix"

func free(path string) (int64, error) {
	var s unix.Statfs_t
	if err := unix.Statfs(path, &s); err != nil {
		return 0, err
	}
	return int64(min(uint64(s.Bavail), 1<<62/uint64(s.Bsize)) * uint64(s.Bsize)), nil //nolint:unconvert // it is signed elsewhere
}
