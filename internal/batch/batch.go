// Package batch works on many files: it says which inputs there are and where
// the output of each goes before anything is done, does them with a bound on
// how many at once, and watches folders for more.
package batch

// Input is a file to work on.
type Input struct {
	Path string
	// Folder is where below the outputs' folder its output goes; empty is the
	// top.
	Folder string
}

// Item is an input and the place of its output.
type Item struct {
	Input, Output string
}
