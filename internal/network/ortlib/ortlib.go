// Package ortlib finds ONNX Runtime's shared library on this machine, and
// installs it if it is missing. It does not load it.
package ortlib

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/adrg/xdg"

	"github.com/bgremove/bgremove/internal/system/infile"
)

// Version is the release that Install installs. The Go binding needs 1.24 or
// newer. deploy/onnxruntime holds the notices that go with it.
const Version = "1.30.0"

// Library is a shared library that Find found.
type Library struct {
	Path string `json:"path"` // absolute
	// Source says where it was found: "named", "beside the executable", "cache"
	// or "system".
	Source string `json:"source"`
}

// NotFoundError lists the places that were searched.
type NotFoundError struct {
	Explicit string   // the path that the user named; may be empty
	Looked   []string // folders
}

func (e *NotFoundError) Error() string {
	if e.Explicit != "" {
		return "ONNX Runtime's shared library is not at " + e.Explicit
	}
	return "ONNX Runtime's shared library is not installed"
}

// ErrNotLibrary means that a file is not a shared library of this system.
var ErrNotLibrary = errors.New("not a shared library of this system")

// Places are the places that Find searches, in this order.
type Places struct {
	// Explicit is the library, or its folder, as the user named it. If it is
	// set, no other place is searched.
	Explicit string
	// Beside are the folders at the executable.
	Beside []string
	// Cache is the folder that Install fills.
	Cache string
	// System are the folders of the system's linker.
	System []string
}

// DefaultCache is the folder in the user's cache.
func DefaultCache() string { return filepath.Join(xdg.CacheHome, "bgremove", "onnxruntime") }

// Find looks for the library in the usual places. explicit is the path from the
// user's flag or environment; it may be empty. The error is a *NotFoundError or
// wraps ErrNotLibrary.
func Find(explicit string) (Library, error) {
	return Places{Explicit: explicit, Beside: besideExecutable(), Cache: DefaultCache(), System: systemFolders()}.Find()
}

func besideExecutable() []string {
	exe, err := os.Executable()
	if err != nil {
		return nil
	}
	if target, err := filepath.EvalSymlinks(exe); err == nil {
		exe = target
	}
	return beside(filepath.Dir(exe))
}

// beside lists the folders at an executable in dir. Packages of systems put the
// library into lib/bgremove, where no other program's linker finds it.
func beside(dir string) []string {
	above := filepath.Dir(dir)
	return []string{dir, filepath.Join(dir, "lib"), filepath.Join(above, "lib", "bgremove"), filepath.Join(above, "lib")}
}

// Find looks in these places. The error is a *NotFoundError or wraps
// ErrNotLibrary.
func (p Places) Find() (Library, error) {
	if p.Explicit != "" {
		return findNamed(p.Explicit)
	}
	var looked []string
	for _, place := range []struct {
		source  string
		folders []string
	}{{"beside the executable", p.Beside}, {"cache", []string{p.Cache}}, {"system", p.System}} {
		for _, dir := range place.folders {
			if path, ok := inFolder(dir); ok {
				return Library{path, place.source}, nil
			}
			looked = append(looked, dir)
		}
	}
	return Library{}, &NotFoundError{Looked: looked}
}

func findNamed(path string) (Library, error) {
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return Library{}, &NotFoundError{Explicit: path}
	case info.IsDir():
		found, ok := inFolder(path)
		if !ok {
			return Library{}, &NotFoundError{Explicit: path, Looked: []string{path}}
		}
		path = found
	}
	if err := checkLibrary(path, runtime.GOOS); err != nil {
		return Library{}, err
	}
	// The linker searches its own folders for a name without a slash.
	path, err = filepath.Abs(path)
	return Library{path, "named"}, err
}

// inFolder finds the library under one of its names. It skips files that are
// not libraries, such as linker scripts.
func inFolder(dir string) (string, bool) {
	if dir == "" {
		return "", false
	}
	for _, name := range fileNames(runtime.GOOS) {
		path := filepath.Join(dir, name)
		if checkLibrary(path, runtime.GOOS) == nil {
			return path, true
		}
	}
	return "", false
}

// fileNames are the names of the library, the exact version first.
func fileNames(goos string) []string {
	major, _, _ := strings.Cut(Version, ".")
	switch goos {
	case "windows":
		return []string{"onnxruntime.dll"}
	case "darwin", "ios":
		return []string{"libonnxruntime." + Version + ".dylib", "libonnxruntime." + major + ".dylib", "libonnxruntime.dylib"}
	}
	return []string{"libonnxruntime.so." + Version, "libonnxruntime.so." + major, "libonnxruntime.so"}
}

// cacheName is the name that Install gives the library.
func cacheName(goos string) string {
	names := fileNames(goos)
	return names[len(names)-1]
}

// checkLibrary checks by the first bytes of a file that it is a shared library
// of a system.
func checkLibrary(path, goos string) error {
	f, err := infile.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	head := make([]byte, 4)
	n, err := f.Read(head)
	if err != nil || !isLibrary(head[:n], goos) {
		return fmt.Errorf("%s: %w", path, ErrNotLibrary)
	}
	return nil
}

func isLibrary(head []byte, goos string) bool {
	switch goos {
	case "windows":
		return bytes.HasPrefix(head, []byte("MZ"))
	case "darwin", "ios":
		return bytes.Equal(head, []byte{0xcf, 0xfa, 0xed, 0xfe}) || bytes.Equal(head, []byte{0xca, 0xfe, 0xba, 0xbe})
	}
	return bytes.Equal(head, []byte("\x7fELF"))
}
