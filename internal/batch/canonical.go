package batch

import (
	"path/filepath"

	"github.com/bgremove/bgremove/internal/bucket"
)

// canonicalPaths recognises files and folders with several names: absolute, with
// detours, through links to folders. It caches resolved folders. Links to files
// are files of their own, because outputs are named after them.
type canonicalPaths map[string]string

// file is the one path of a file.
func (p canonicalPaths) file(path string) string {
	dir, name := filepath.Split(path)
	return filepath.Join(p.folder(dir), name)
}

// folder is the one path of a folder; one that cannot be resolved is as it is
// named.
func (p canonicalPaths) folder(dir string) string {
	if bucket.IsAddress(dir) {
		return dir
	}
	at, ok := p[dir]
	if !ok {
		at = absolute(resolved(dir))
		at = resolved(at) // the working directory may be a link's
		p[dir] = at
	}
	return at
}

func resolved(dir string) string {
	if at, err := filepath.EvalSymlinks(dir); err == nil && dir != "" {
		return at
	}
	return filepath.Clean(dir)
}

func absolute(path string) string {
	if abs, err := filepath.Abs(path); err == nil {
		return abs
	}
	return path
}
