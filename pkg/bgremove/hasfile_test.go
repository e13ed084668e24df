package bgremove_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/bgremove/bgremove/pkg/bgremove"
)

// The pictures of an input have their numbers with zeros or without. Those of an output need
// not exist.
func TestHasFile(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, name := range []string{"f08.png", "f09.png", "clip.gif"} {
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		place, path string
		want        bool
	}{
		{"f%d.png", "f08.png", true},
		{"f%d.png", "f7.png", true},
		{"f%d.png", "g08.png", false},
		{"f%02d.png", "f10.png", true},
		{"clip.gif", "clip.gif", true},
		{"clip.gif", "f08.png", false},
	} {
		if got := bgremove.HasFile(filepath.Join(dir, c.place), filepath.Join(dir, c.path)); got != c.want {
			t.Errorf("%s has %s: %v", c.place, c.path, got)
		}
	}
}
