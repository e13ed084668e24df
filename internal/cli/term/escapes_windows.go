package term

import (
	"os"

	"golang.org/x/sys/windows"
)

// supportsEscapes reports whether a terminal moves its cursor by escape sequences,
// and enables that.
func supportsEscapes(f *os.File) bool {
	console := windows.Handle(f.Fd())
	var mode uint32
	return windows.GetConsoleMode(console, &mode) == nil &&
		windows.SetConsoleMode(console, mode|windows.ENABLE_VIRTUAL_TERMINAL_PROCESSING) == nil
}
