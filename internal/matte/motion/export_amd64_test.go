//go:build !purego

package motion

// Plain runs f without vector instructions. It reports false where there are none.
func Plain(f func()) bool {
	old := vector
	vector = false
	defer func() { vector = old }()
	f()
	return old
}
