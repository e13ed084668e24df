package fetch

// enoughSpace refuses a file for which the disk has no room, before the
// transfer.
func enoughSpace(dir string, need int64) error {
	if free, ok := freeSpace(dir); ok && need > free {
		return &SpaceError{Dir: dir, Need: need, Free: free}
	}
	return nil
}
