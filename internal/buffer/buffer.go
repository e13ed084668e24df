// Package buffer has a helper for buffers that are used again.
package buffer

// Sized is a slice of length n, in the memory of s if that is enough. Its content is undefined.
func Sized[T any](s []T, n int) []T {
	if cap(s) < n {
		return make([]T, n)
	}
	return s[:n]
}
