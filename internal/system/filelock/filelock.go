// Package filelock keeps other processes away by a lock on a file. The lock
// ends when the file is closed, and with the process, however that ends.
package filelock

import "errors"

// ErrHeld is a lock that another process, or another open file, has.
var ErrHeld = errors.New("the lock is held by another process")
