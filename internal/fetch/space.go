package fetch

// enoughSpace refuses what the disk has no room for before it is brought.
func enoughSpace(dir string, need int64) error {
	if free, ok := freeSpace(dir); ok && need > free {
		return &SpaceError{Dir: dir, Need: need, Free: free}
	}
	return nil
}
