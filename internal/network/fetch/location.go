package fetch

import (
	"net/url"
	"path/filepath"
	"runtime"
	"strings"
)

// LocalPath returns the path that a place means, if it is not an http or https
// URL.
func LocalPath(from string) (string, bool) {
	lower := strings.ToLower(from)
	switch {
	case strings.HasPrefix(lower, "http://"), strings.HasPrefix(lower, "https://"):
		return "", false
	case strings.HasPrefix(lower, "file:"):
		u, err := url.Parse(from)
		if err != nil {
			return from, true
		}
		path := u.Path
		if runtime.GOOS == "windows" {
			path = strings.TrimPrefix(path, "/")
		}
		return filepath.FromSlash(path), true
	}
	return from, true
}

// Join returns the place of a file on a mirror, below a URL or a folder. name
// must be a plain file name.
func Join(base, name string) string {
	if path, ok := LocalPath(base); ok {
		return filepath.Join(path, name)
	}
	u, err := url.Parse(base)
	if err != nil {
		return strings.TrimSuffix(base, "/") + "/" + url.PathEscape(name)
	}
	return u.JoinPath(url.PathEscape(name)).String()
}

// Redacted returns a place without its URL's password and query, since the
// query may be a signature.
func Redacted(from string) string {
	u, err := url.Parse(from)
	switch {
	case err != nil && strings.Contains(from, "://"):
		return "a malformed URL"
	case err != nil || u.Host == "":
		return from
	}
	u.RawQuery = ""
	return u.Redacted()
}
