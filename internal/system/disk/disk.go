// Package disk tells how much room is left on disks.
package disk

// Free is how many bytes this user may still write to the disk of a file or folder, which must
// exist. The error is the system's, or errors.ErrUnsupported.
func Free(path string) (int64, error) { return free(path) }
