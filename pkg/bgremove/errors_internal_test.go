package bgremove

import (
	"errors"
	"io/fs"
	"testing"
)

// A file that cannot be opened is named once, and its cause is known.
func TestExplainOpen(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		path    string
		err     error
		message string
		cause   Cause
	}{
		{"clip.mp4", fs.ErrPermission, "clip.mp4: cannot be read: permission denied", InputForbidden},
		{"clip.mp4", fs.ErrNotExist, "clip.mp4: no such file", ""},
		{"temporary", fs.ErrPermission, "clip.mp4: open temporary: permission denied", ""},
	} {
		err := explain("clip.mp4", &fs.PathError{Op: "open", Path: c.path, Err: c.err})
		known, ok := errors.AsType[*Error](err)
		if !ok || err.Error() != c.message || known.Cause != c.cause || known.Kind == Unreadable {
			t.Errorf("%s, %v: %v, cause %q", c.path, c.err, err, known.Cause)
		}
	}
}
