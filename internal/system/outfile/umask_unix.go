//go:build unix

package outfile

import (
	"io/fs"
	"sync"
	"syscall"
)

// umask is the process's mask for new files. It can be read only by setting it,
// so it is read once.
var umask = sync.OnceValue(func() fs.FileMode {
	mask := syscall.Umask(0o077)
	syscall.Umask(mask)
	return fs.FileMode(mask)
})
