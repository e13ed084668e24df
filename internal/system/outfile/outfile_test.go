package outfile_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"github.com/bgremove/bgremove/internal/system/outfile"
)

func write(t *testing.T, path, text string) string {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func checkText(t *testing.T, path, want string) {
	t.Helper()
	if got, err := os.ReadFile(path); err != nil || string(got) != want {
		t.Errorf("%s holds %q, %v; want %q", path, got, err, want)
	}
}

func checkOnly(t *testing.T, dir string, want int) {
	t.Helper()
	if entries, err := os.ReadDir(dir); err != nil || len(entries) != want {
		t.Errorf("%d files, %v; want %d", len(entries), err, want)
	}
}

func TestCommit(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "out")
	for _, text := range []string{"one", "another"} {
		f, err := outfile.Create(path, true)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := f.WriteString(text); err != nil {
			t.Fatal(err)
		}
		if size, err := f.Commit(); err != nil || size != int64(len(text)) {
			t.Errorf("%d bytes, %v", size, err)
		}
		f.Discard() // it does nothing after Commit
		checkText(t, path, text)
	}
	checkOnly(t, dir, 1)
	if runtime.GOOS == "windows" {
		return
	}
	plain, err := os.Create(filepath.Join(dir, "plain"))
	if err != nil {
		t.Fatal(err)
	}
	defer plain.Close()
	want, err := plain.Stat()
	if err != nil {
		t.Fatal(err)
	}
	if got, err := os.Stat(path); err != nil || got.Mode() != want.Mode() {
		t.Errorf("mode %v, %v; any new file has %v", got.Mode(), err, want.Mode())
	}
}

func TestDiscard(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	f, err := outfile.Create(filepath.Join(dir, "out"), false)
	if err != nil {
		t.Fatal(err)
	}
	f.Discard()
	checkOnly(t, dir, 0)
}

func TestInTheWay(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	there := write(t, filepath.Join(dir, "there"), "kept")
	ways := map[string]error{
		there:                             fs.ErrExist,
		dir:                               outfile.ErrFolder,
		os.DevNull:                        outfile.ErrSpecial,
		filepath.Join(dir, "absent", "x"): fs.ErrNotExist,
	}
	dangling := filepath.Join(t.TempDir(), "dangling")
	if err := os.Symlink(filepath.Join(dir, "nowhere"), dangling); err == nil { // Windows may not allow it
		ways[dangling] = outfile.ErrDangling
	}
	if runtime.GOOS != "windows" {
		loop := filepath.Join(t.TempDir(), "loop")
		if err := os.Symlink("loop", loop); err != nil {
			t.Fatal(err)
		}
		ways[loop] = syscall.ELOOP
		ways[filepath.Join(dir, strings.Repeat("x", 300))] = syscall.ENAMETOOLONG
	}
	for path, want := range ways {
		_, err := outfile.Create(path, false)
		if p := (*fs.PathError)(nil); !errors.Is(err, want) || !errors.As(err, &p) || p.Path != path {
			t.Errorf("%s: %v, want %v", path, err, want)
		}
	}
	checkOnly(t, dir, 1)
}

// A file that appears during the writing is not replaced.
func TestCommitMeanwhile(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "out")
	f, err := outfile.Create(path, false)
	if err != nil {
		t.Fatal(err)
	}
	write(t, path, "kept")
	if _, err := f.Commit(); !errors.Is(err, fs.ErrExist) {
		t.Errorf("%v, want ErrExist", err)
	}
	checkText(t, path, "kept")
	checkOnly(t, dir, 1)
}

// A link stays, and its target is replaced.
func TestLink(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	target, link := write(t, filepath.Join(dir, "target"), "old"), filepath.Join(dir, "link")
	if err := os.Symlink(target, link); err != nil {
		t.Skip(err)
	}
	f, err := outfile.Create(link, true)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteString("new"); err != nil {
		t.Fatal(err)
	}
	if _, err := f.Commit(); err != nil {
		t.Fatal(err)
	}
	checkText(t, target, "new")
	if info, err := os.Lstat(link); err != nil || info.Mode()&fs.ModeSymlink == 0 {
		t.Errorf("%v, %v", info, err)
	}
}
