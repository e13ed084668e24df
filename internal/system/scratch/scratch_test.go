package scratch_test

import (
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/bgremove/bgremove/internal/system/scratch"
)

func TestScratch(t *testing.T) {
	t.Parallel()
	parent := filepath.Join(t.TempDir(), "made")
	open := func() *scratch.Dir {
		d, err := scratch.Open(parent)
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
	dead := filepath.Join(parent, "bgremove-scratch-1")
	live := open()
	if err := os.Mkdir(dead, 0o700); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{".lock", "file"} { // as left by a killed process
		if err := os.WriteFile(filepath.Join(dead, name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	second := open()
	if _, err := os.Stat(dead); !os.IsNotExist(err) {
		t.Errorf("the folder of a dead process: %v", err)
	}
	if _, err := os.Stat(live.Path()); err != nil {
		t.Errorf("the folder of a live one: %v", err)
	}
	for _, d := range []*scratch.Dir{live, second} {
		if err := d.Close(); err != nil {
			t.Error(err)
		}
	}
	if left, err := os.ReadDir(parent); len(left) != 0 || err != nil {
		t.Errorf("left: %v %v", left, err)
	}
}

// A process may be killed after it makes its folder and before it locks it. A
// process that is about to lock its folder must not lose it.
func TestWithoutLock(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		age  time.Duration
		stay bool
	}{"just made": {0, true}, "left behind": {time.Hour, false}} {
		parent := t.TempDir()
		folder := filepath.Join(parent, "bgremove-scratch-1")
		if err := os.MkdirAll(filepath.Join(folder, "job"), 0o700); err != nil {
			t.Fatal(err)
		}
		made := time.Now().Add(-c.age)
		if err := os.Chtimes(folder, made, made); err != nil {
			t.Fatal(err)
		}
		d, err := scratch.Open(parent)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := os.Stat(folder); (err == nil) != c.stay {
			t.Errorf("%s: %v", name, err)
		}
		if err := d.Close(); err != nil {
			t.Error(err)
		}
	}
}

// A link with the name of an abandoned folder stays, and so does what it leads to.
func TestLinkStays(t *testing.T) {
	t.Parallel()
	parent, theirs := t.TempDir(), t.TempDir()
	file, link := filepath.Join(theirs, "file"), filepath.Join(parent, "bgremove-scratch-1")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	made := time.Now().Add(-time.Hour)
	if err := os.Chtimes(theirs, made, made); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(theirs, link); err != nil {
		t.Skip("this system makes no links: ", err)
	}
	d, err := scratch.Open(parent)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	for _, path := range []string{file, link} {
		if _, err := os.Lstat(path); err != nil {
			t.Error(err)
		}
	}
}

// The parent's name may have the characters of a pattern.
func TestNameOfParent(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"[", "[a]"} {
		parent := filepath.Join(t.TempDir(), name)
		dead := filepath.Join(parent, "bgremove-scratch-1")
		if err := os.MkdirAll(dead, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dead, ".lock"), nil, 0o600); err != nil {
			t.Fatal(err)
		}
		d, err := scratch.Open(parent)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if _, err := os.Stat(dead); !os.IsNotExist(err) {
			t.Errorf("%s: the folder of a dead process: %v", name, err)
		}
		if err := d.Close(); err != nil {
			t.Error(err)
		}
	}
}

// Processes that start at the same time do not take each other's new folders for abandoned ones.
func TestOpenTogether(t *testing.T) {
	t.Parallel()
	const rounds, together = 50, 8
	for range rounds {
		parent, dirs := t.TempDir(), make([]*scratch.Dir, together)
		var all sync.WaitGroup
		for i := range dirs {
			all.Go(func() {
				var err error
				if dirs[i], err = scratch.Open(parent); err != nil {
					t.Error(err)
				}
			})
		}
		all.Wait()
		for _, d := range dirs {
			if d == nil {
				continue
			}
			if _, err := os.Stat(d.Path()); err != nil {
				t.Error(err)
			}
			if err := d.Close(); err != nil {
				t.Error(err)
			}
		}
	}
}
