package term

import (
	"os"

	"golang.org/x/sys/windows"
)

// moves reports whether a terminal moves its cursor by escape sequences, and
// enables that.
func moves(f *os.File) bool {
	console := windows.Handle(f.Fd())
	var mode uint32
	return windows.GetConsoleMode(console, &mode) == nil &&
		windows.SetConsoleMode(console, mode|windows.ENABLE_VIRTUAL_TERMINAL_PROCESSING) == nil
}
