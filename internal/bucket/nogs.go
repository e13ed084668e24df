//go:build !gs

package bucket

// built are the schemes that not every build knows.
var built []string
