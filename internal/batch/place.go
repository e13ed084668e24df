package batch

import "path/filepath"

// places tells files and folders that are named in several ways: from
// elsewhere, with detours, through links to folders. It holds the folders that
// were resolved. Links to files are files of their own, since outputs are
// called by them.
type places map[string]string

// file is the one path of a file.
func (p places) file(path string) string {
	dir, name := filepath.Split(path)
	return filepath.Join(p.folder(dir), name)
}

// folder is the one path of a folder; one that cannot be resolved is as it is
// named.
func (p places) folder(dir string) string {
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
