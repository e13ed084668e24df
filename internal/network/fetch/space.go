package fetch

import "github.com/bgremove/bgremove/internal/system/disk"

// enoughSpace refuses a file for which the disk has no room, before the
// transfer.
func enoughSpace(dir string, need int64) error {
	if free, err := disk.Free(dir); err == nil && need > free {
		return &SpaceError{Dir: dir, Need: need, Free: free}
	}
	return nil
}
