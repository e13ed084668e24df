package batch_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/bgremove/bgremove/internal/batch"
	"github.com/bgremove/bgremove/pkg/bgremove"
)

// tree makes a new folder with empty files and links.
func tree(t *testing.T, names ...string) string {
	t.Helper()
	dir := t.TempDir()
	for _, name := range names {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, nil, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestFind(t *testing.T) {
	t.Parallel()
	dir := tree(t, "in/b.GIF", "in/a.mp4", "in/c.txt", "in/a-nobg.gif", "in/.hidden.gif", "in/.cache/x.gif",
		"in/sub/d.mov", "in/sub/deep/e.webm", "in/out/f.gif", "in/out/a-nobg.gif", "in/g[1].gif", "none/x.txt")
	tests := map[string]struct {
		search  batch.Search
		want    string // PATH, or PATH>FOLDER
		empty   string
		outputs string
	}{
		"folder":              {batch.Search{Paths: []string{"in"}}, "in/a.mp4 in/b.GIF in/g[1].gif", "", ""},
		"recursive":           {batch.Search{Paths: []string{"in"}, Recursive: true}, "in/a.mp4 in/b.GIF in/g[1].gif in/out/f.gif>out in/sub/d.mov>sub in/sub/deep/e.webm>sub/deep", "", ""},
		"output folder below": {batch.Search{Paths: []string{"in"}, Recursive: true, Out: "in/out"}, "in/a.mp4 in/b.GIF in/g[1].gif in/sub/d.mov>sub in/sub/deep/e.webm>sub/deep", "", ""},
		"outputs beside":      {batch.Search{Paths: []string{"in/out"}, Recursive: true, Out: "in/out"}, "in/out/f.gif", "", ""},
		"files whatever":      {batch.Search{Paths: []string{"in/c.txt", "in/.hidden.gif"}}, "in/c.txt in/.hidden.gif", "", ""},
		"once each":           {batch.Search{Paths: []string{"in/b.GIF", "in", "in/../in/a.mp4"}}, "in/b.GIF in/a.mp4 in/g[1].gif", "", ""},
		"an output":           {batch.Search{Paths: []string{"in/a-nobg.gif", "in/b.GIF"}}, "in/b.GIF", "", "in/a-nobg.gif"},
		"pattern":             {batch.Search{Paths: []string{"in/*.[Gm]*"}}, "in/a.mp4 in/b.GIF", "", ""},
		"pattern and outputs": {batch.Search{Paths: []string{"in/*.gif"}}, "in/g[1].gif", "", "in/a-nobg.gif"},
		"hidden pattern":      {batch.Search{Paths: []string{"in/.*.gif"}}, "in/.hidden.gif", "", ""},
		"pattern of folders":  {batch.Search{Paths: []string{"in/s*"}}, "in/sub/d.mov", "", ""},
		"a name like one":     {batch.Search{Paths: []string{"in/g[1].gif"}}, "in/g[1].gif", "", ""},
		"without clips":       {batch.Search{Paths: []string{"none", "in/sub"}}, "in/sub/d.mov", "none", ""},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := tt.search
			var paths []string
			for _, p := range s.Paths {
				paths = append(paths, filepath.Join(dir, p))
			}
			s.Paths = paths
			if s.Out != "" {
				s.Out = filepath.Join(dir, s.Out)
			}
			found, err := s.Find(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, in := range found.Inputs {
				name := relative(t, dir, in.Path)
				if in.Folder != "" {
					name += ">" + filepath.ToSlash(in.Folder)
				}
				got = append(got, name)
			}
			if diff := cmp.Diff(strings.Fields(tt.want), got); diff != "" {
				t.Errorf("inputs (-want +got):\n%s", diff)
			}
			if got := relative(t, dir, found.Empty...); got != tt.empty {
				t.Errorf("without clips: %q, want %q", got, tt.empty)
			}
			if got := relative(t, dir, found.Outputs...); got != tt.outputs {
				t.Errorf("left out: %q, want %q", got, tt.outputs)
			}
			if err := found.CheckInputs(s); err != nil {
				t.Errorf("none: %v", err)
			}
		})
	}
}

func relative(t *testing.T, dir string, paths ...string) string {
	t.Helper()
	var names []string
	for _, p := range paths {
		rel, err := filepath.Rel(dir, p)
		if err != nil {
			t.Fatal(err)
		}
		names = append(names, filepath.ToSlash(rel))
	}
	return strings.Join(names, " ")
}

func TestFindNothing(t *testing.T) {
	t.Parallel()
	dir := tree(t, "none/sub/a.gif", "a-nobg.gif", "done/a-nobg.gif")
	tests := []struct {
		path      string
		recursive bool
		reason    string
		cause     bgremove.Cause
	}{
		{"absent.gif", false, "no such file or folder", ""},
		{"*.mp4", false, "no file matches", ""},
		{"a[", false, "no file matches", ""},
		{strings.Repeat("x", 300), false, "cannot be read", ""},
		{"none", false, "there are no clips in", batch.NoClipsOnTop},
		{"a-nobg.gif", false, "all named files are outputs of bgremove", batch.OnlyOutputs},
		{"done", false, "done are outputs of bgremove", batch.OnlyOutputs},
	}
	for _, tt := range tests {
		s := batch.Search{Paths: []string{filepath.Join(dir, tt.path)}}
		found, err := s.Find(t.Context())
		if err == nil {
			err = found.CheckInputs(s)
		}
		var known *bgremove.Error
		if !errors.As(err, &known) || !strings.Contains(err.Error(), tt.reason) || known.Cause != tt.cause {
			t.Errorf("%s: %v", tt.path, err)
		}
	}
}

// Links to files are followed, and so is a named link. Links to folders within
// a folder are not, because they may form a loop.
func TestFindLinks(t *testing.T) {
	t.Parallel()
	dir := tree(t, "in/a.gif", "elsewhere/b.gif")
	for name, target := range map[string]string{"in/round": ".", "in/b.gif": "../elsewhere/b.gif", "in/gone.gif": "nowhere", "in/dir.gif": "../elsewhere", "link": "in"} {
		if err := os.Symlink(target, filepath.Join(dir, name)); err != nil {
			t.Skip(err) // Windows needs a permission for it
		}
	}
	found, err := batch.Search{Paths: []string{filepath.Join(dir, "link")}, Recursive: true}.Find(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, in := range found.Inputs {
		got = append(got, relative(t, dir, in.Path))
	}
	if diff := cmp.Diff([]string{"link/a.gif", "link/b.gif", "link/gone.gif"}, got); diff != "" {
		t.Errorf("inputs (-want +got):\n%s", diff)
	}
}

// An input that is named twice is taken once, under its first name.
func TestFindOnce(t *testing.T) {
	t.Parallel()
	dir := tree(t, "in/a.gif", "in/sub/b.gif", "empty/x")
	for name, target := range map[string]string{"link": "in", "in/c.gif": "a.gif", "deep": "in/sub"} {
		if err := os.Symlink(target, filepath.Join(dir, name)); err != nil {
			t.Skip(err) // Windows needs a permission for it
		}
	}
	as := func(name string) string { return dir + string(filepath.Separator) + filepath.FromSlash(name) }
	for paths, want := range map[string]string{
		"in in/../in ./in":    "in/a.gif in/c.gif",
		"link in":             "link/a.gif link/c.gif",
		"link/a.gif in/a.gif": "link/a.gif",
		"deep/../a.gif in":    "deep/../a.gif in/c.gif",
		"in/sub/.. in empty/": "in/a.gif in/c.gif",
	} {
		s := batch.Search{}
		for _, name := range strings.Fields(paths) {
			s.Paths = append(s.Paths, as(name))
		}
		found, err := s.Find(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, in := range found.Inputs {
			got = append(got, strings.TrimPrefix(in.Path, dir+string(filepath.Separator)))
		}
		if diff := cmp.Diff(strings.Fields(want), got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", paths, diff)
		}
	}
}

// A folder named by a relative path is the same as by its full path.
func TestFindHere(t *testing.T) {
	dir := tree(t, "in/a.gif")
	t.Chdir(dir)
	found, err := batch.Search{Paths: []string{"in", filepath.Join(dir, "in"), "./in/a.gif", filepath.Join(dir, "in", "a.gif")}}.Find(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if want := []batch.Input{{Path: filepath.Join("in", "a.gif")}}; !cmp.Equal(want, found.Inputs) || len(found.Folders) != 1 {
		t.Errorf("inputs %v, folders %v", found.Inputs, found.Folders)
	}
}

// An unreadable folder below does not hide the others. Not even root can open
// one with too long a path.
func TestFindUnread(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("paths have no end")
	}
	dir := tree(t, "a.gif", "z/b.gif")
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	for range 20 {
		name := strings.Repeat("d", 250)
		if err := root.Mkdir(name, 0o777); err != nil {
			t.Fatal(err)
		}
		below, err := root.OpenRoot(name)
		if err != nil {
			t.Fatal(err)
		}
		if err := root.Close(); err != nil {
			t.Fatal(err)
		}
		root = below
	}
	if err := root.Close(); err != nil {
		t.Fatal(err)
	}
	found, err := batch.Search{Paths: []string{dir}, Recursive: true}.Find(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if len(found.Inputs) != 2 || len(found.Unread) != 1 {
		t.Fatalf("inputs %v, unread %v", found.Inputs, found.Unread)
	}
	var known *bgremove.Error
	if err := found.Unread[0].Err; !errors.As(err, &known) || errors.Is(err, fs.ErrNotExist) || !strings.Contains(err.Error(), "cannot be read: ") {
		t.Errorf("unread: %v", err)
	}
}
