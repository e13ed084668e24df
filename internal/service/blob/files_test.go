package blob_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/bgremove/bgremove/internal/service/blob"
)

// The unfinished file of a killed process is never visible, and is removed once
// it is old.
func TestSweepFiles(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := open(t, "file://"+dir, blob.Options{})
	u, err := s.Receive(t.Context(), "inputs/1", bytes.NewReader(content(10)), 10)
	if err != nil {
		t.Fatal(err)
	}
	defer u.Release()
	part := filepath.Join(dir, "inputs", "2.18fa0.tmp")
	if err := os.WriteFile(part, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if found := keys(t, s, ""); len(found) != 1 {
		t.Errorf("seen: %v", found)
	}
	for _, c := range []struct {
		before time.Time
		want   int
	}{{time.Now().Add(-time.Hour), 0}, {time.Now().Add(time.Hour), 1}} {
		if n, err := s.Sweep(t.Context(), c.before); n != c.want || err != nil {
			t.Errorf("%d swept, not %d: %v", n, c.want, err)
		}
	}
	if _, err := os.Stat(part); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
	if found := keys(t, s, ""); len(found) != 1 {
		t.Errorf("left: %v", found)
	}
}

// A list does not fail if objects appear and vanish during it.
func TestListFilesThatGo(t *testing.T) {
	t.Parallel()
	s := open(t, "file://"+t.TempDir(), blob.Options{})
	ctx, stop := context.WithCancel(t.Context())
	var busy sync.WaitGroup
	for n := range 4 {
		busy.Go(func() {
			for i := 0; ctx.Err() == nil; i++ {
				key := fmt.Sprintf("jobs/%d-%d/out", n, i)
				u, err := s.Receive(t.Context(), key, bytes.NewReader(nil), 0)
				if err != nil {
					t.Error(err)
					return
				}
				u.Release()
				if err := s.Delete(t.Context(), key); err != nil {
					t.Error(err)
				}
			}
		})
	}
	for range 100 {
		for _, err := range s.List(t.Context(), "jobs/") {
			if err != nil {
				t.Errorf("list: %v", err)
			}
		}
	}
	stop()
	busy.Wait()
}

// The folder of a job is removed with its last file.
func TestNoEmptyFolders(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := open(t, "file://"+dir, blob.Options{})
	u, err := s.Receive(t.Context(), "jobs/1/out-1.gif", bytes.NewReader(nil), 10)
	if err != nil {
		t.Fatal(err)
	}
	if stat, err := os.Stat(u.Path); err != nil || stat.Mode().Perm() != 0o600 {
		t.Errorf("its mode is %v, %v", stat.Mode(), err)
	}
	if err := s.Delete(t.Context(), "jobs/1/out-1.gif"); err != nil {
		t.Fatal(err)
	}
	if left, err := os.ReadDir(dir); len(left) > 0 || err != nil {
		t.Errorf("left: %v %v", left, err)
	}
}

// The name of an object is synced in each of its folders, however the store's is written.
func TestFolders(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for url, root := range map[string]string{dir: dir, dir + "/": dir, dir + "//": dir, dir + "/x/..": dir, "/": "/"} {
		s := open(t, "file://"+url, blob.Options{})
		want := []string{filepath.Join(root, "jobs", "1"), filepath.Join(root, "jobs"), root}
		if diff := cmp.Diff(want, blob.Folders(s, "jobs/1/out-1.gif")); diff != "" {
			t.Errorf("%s: %s", url, diff)
		}
	}
}

// A folder is found by its URL, whatever characters and letters of drives are in its path.
func TestFolderURL(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "50% of #1")
	s := open(t, blob.FolderURL(dir), blob.Options{})
	if got, want := blob.Folders(s, "a"), []string{dir}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	if got, want := blob.FolderURL("C:/Users/ada/objects"), "file:///C:/Users/ada/objects"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// A failure of the storage is distinguished from one of a stream.
func TestStorageFails(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := open(t, "file://"+dir, blob.Options{})
	if err := os.WriteFile(filepath.Join(dir, "inputs"), nil, 0o600); err != nil { // instead of a folder
		t.Fatal(err)
	}
	_, err := s.Receive(t.Context(), "inputs/1", bytes.NewReader(content(10)), 10)
	if e := (*blob.Error)(nil); !errors.As(err, &e) {
		t.Errorf("the error is %v", err)
	}
}
