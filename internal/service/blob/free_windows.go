package blob

import "golang.org/x/sys/windows"

// freeBytes is how many bytes this user may still write at a path.
func freeBytes(path string) (int64, error) {
	at, err := windows.UTF16PtrFromString(path)
	if err != nil {
		return 0, err
	}
	var bytes uint64
	err = windows.GetDiskFreeSpaceEx(at, &bytes, nil, nil)
	return int64(min(bytes, 1<<62)), err
}
