//go:build !windows

package term

import "os"

// supportsEscapes reports whether a terminal moves its cursor by escape sequences.
func supportsEscapes(*os.File) bool { return os.Getenv("TERM") != "dumb" }
