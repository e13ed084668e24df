package mcp_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bgremove/bgremove/internal/mcp"
)

// No tool reads or writes outside the folders, by whatever name.
func TestOutside(t *testing.T) {
	t.Parallel()
	dir := realFolder(t)
	inside, second, secret := filepath.Join(dir, "in"), filepath.Join(dir, "second"), filepath.Join(dir, "secret")
	for _, path := range []string{inside, second, secret} {
		if err := os.Mkdir(path, 0o700); err != nil {
			t.Fatal(err)
		}
		drawGIF(t, filepath.Join(path, "a.gif"), 10)
	}
	for link, to := range map[string]string{
		"link.gif": filepath.Join(secret, "a.gif"), "folder": secret, "out.gif": filepath.Join(secret, "a.gif"), "new.gif": filepath.Join(secret, "new.gif"),
		"good.gif": "a.gif", "other": second, "fall.gif": filepath.Join(secret, "a.gif"),
	} {
		if err := os.Symlink(to, filepath.Join(inside, link)); err != nil {
			t.Skip("this system makes no links:", err)
		}
	}
	before, err := os.ReadFile(filepath.Join(secret, "a.gif"))
	if err != nil {
		t.Fatal(err)
	}
	a := connect(t, nil, inside, second)
	for name, args := range map[string]arguments{
		"an absolute path":          {"input": filepath.Join(secret, "a.gif")},
		"a path upwards":            {"input": "../secret/a.gif"},
		"nothing there":             {"input": "../secret/none.gif"},
		"a link to a file":          {"input": "link.gif"},
		"a link to a folder":        {"input": "folder/a.gif"},
		"a background":              {"input": "a.gif", "output": "b.gif", "background": "link.gif"},
		"an output":                 {"input": "a.gif", "output": filepath.Join(secret, "b.gif")},
		"an output upwards":         {"input": "a.gif", "output": "../secret/b.gif"},
		"an output in a link":       {"input": "a.gif", "output": "folder/b.gif"},
		"an output that is a link":  {"input": "a.gif", "output": "out.gif", "overwrite": true},
		"an output that falls back": {"input": "a.gif", "output": "fall.mp4", "overwrite": true},
	} {
		refusal := a.call(t, "remove", args, nil)
		if !strings.Contains(refusal, "outside the folders that these tools may use: name a file in "+inside+" or "+second) {
			t.Errorf("%s: %s", name, refusal)
		}
	}
	if refusal := a.call(t, "probe", arguments{"input": "link.gif"}, nil); !strings.Contains(refusal, "leads outside the folders") {
		t.Error(refusal)
	}
	if refusal := a.call(t, "remove", arguments{"input": "a.gif", "output": "new.gif"}, nil); !strings.Contains(refusal, "a broken link") {
		t.Error(refusal)
	}
	if after, err := os.ReadFile(filepath.Join(secret, "a.gif")); err != nil || string(after) != string(before) {
		t.Errorf("the file outside was changed: %v", err)
	}
	if all, err := os.ReadDir(secret); err != nil || len(all) != 1 {
		t.Errorf("outside there are %v, %v", all, err)
	}
	// Links within the folders are followed.
	var got removed
	a.must(t, "remove", arguments{"input": "good.gif", "output": "other/b.gif"}, &got)
	if got.Path != filepath.Join(second, "b.gif") {
		t.Error(got.Path)
	}
}

// A folder that does not exist, or is none, is told at the start.
func TestRoots(t *testing.T) {
	t.Parallel()
	dir := realFolder(t)
	drawGIF(t, filepath.Join(dir, "a.gif"), 10)
	for want, root := range map[string]string{"no such folder": filepath.Join(dir, "none"), "not a folder": filepath.Join(dir, "a.gif")} {
		if _, err := mcp.New(mcp.Config{Roots: []string{root}}); err == nil || err.Error() != root+": "+want {
			t.Errorf("%s: %v", root, err)
		}
	}
	if _, err := mcp.New(mcp.Config{}); err == nil {
		t.Error("no folder is taken for all")
	}
}
