//go:build !windows

package term

import "os"

// moves reports whether a terminal moves its cursor by escape sequences.
func moves(*os.File) bool { return os.Getenv("TERM") != "dumb" }
