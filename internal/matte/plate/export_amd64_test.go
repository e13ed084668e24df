//go:build !purego

package plate

// Plain runs f without vector instructions. It reports false where there are none.
func Plain(f func()) bool {
	old := hasAVX2
	hasAVX2 = false
	defer func() { hasAVX2 = old }()
	f()
	return old
}
