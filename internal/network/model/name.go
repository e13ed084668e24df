package model

import (
	"regexp"
	"slices"
	"strings"
)

var (
	namePattern = regexp.MustCompile(`^[a-z0-9][a-z0-9._-]{0,63}$`)
	unsafeChars = regexp.MustCompile(`[^a-z0-9._-]+`)
	// deviceNames cannot be files on Windows, whatever their extension.
	deviceNames = []string{"con", "prn", "aux", "nul",
		"com0", "com1", "com2", "com3", "com4", "com5", "com6", "com7", "com8", "com9",
		"lpt0", "lpt1", "lpt2", "lpt3", "lpt4", "lpt5", "lpt6", "lpt7", "lpt8", "lpt9"}
)

// CheckName reports whether a network can be imported under a name: it must be
// safe as part of a file name on every system. The error is a *NameError.
func CheckName(name string) error {
	stem, _, _ := strings.Cut(name, ".")
	if !namePattern.MatchString(name) || strings.Contains(name, "..") || strings.HasSuffix(name, ".") ||
		strings.HasSuffix(name, extension) || slices.Contains(deviceNames, stem) {
		return &NameError{name}
	}
	return nil
}

// isPath reports whether a value of --model is a path rather than a name.
func isPath(nameOrPath string) bool {
	return strings.ContainsAny(nameOrPath, `/\`) || strings.HasSuffix(strings.ToLower(nameOrPath), extension)
}

// nameFor makes a model name from a file name: My Model (2).onnx becomes
// my-model-2.
func nameFor(path string) string {
	path = strings.ReplaceAll(path, `\`, "/")
	base := strings.ToLower(path[strings.LastIndex(path, "/")+1:])
	return strings.Trim(unsafeChars.ReplaceAllString(strings.TrimSuffix(base, extension), "-"), "._-")
}
