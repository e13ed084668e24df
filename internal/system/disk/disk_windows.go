package disk

import "golang.org/x/sys/windows"

func free(path string) (int64, error) {
	at, err := windows.UTF16PtrFromString(path)
	if err != nil {
		return 0, err
	}
	var bytes uint64
	err = windows.GetDiskFreeSpaceEx(at, &bytes, nil, nil)
	return int64(min(bytes, 1<<62)), err
}
