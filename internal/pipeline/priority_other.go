//go:build !linux

package pipeline

// lowerPriority does nothing: threads have no priorities of their own here, or none
// that matters.
func lowerPriority() {}
