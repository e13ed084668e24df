package main

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/bgremove/bgremove/internal/cli"
)

func written(t *testing.T) (dir string) {
	t.Helper()
	dir = filepath.Join(t.TempDir(), "pages")
	if err := write(dir); err != nil {
		t.Fatal(err)
	}
	return dir
}

func read(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// Every command has a page of its own, with a section for each flag.
func TestReference(t *testing.T) {
	t.Parallel()
	dir := written(t)
	pages := 0
	var check func(*cobra.Command, string)
	check = func(cmd *cobra.Command, place string) {
		pages++
		path := place + ".md"
		if _, err := os.Stat(filepath.Join(dir, place)); err == nil {
			path = place + "/index.md"
		}
		text := read(t, filepath.Join(dir, path))
		if !strings.HasPrefix(text, "# "+cmd.CommandPath()+"\n") {
			t.Errorf("%s begins %.100q", path, text)
		}
		for _, flags := range []*pflag.FlagSet{cmd.LocalFlags(), cmd.InheritedFlags()} {
			flags.VisitAll(func(f *pflag.Flag) {
				if want := "{ #" + f.Name + " }\n\n"; !f.Hidden && strings.Count(text, want) != 1 {
					t.Errorf("%s has %d sections for --%s", path, strings.Count(text, want), f.Name)
				}
			})
		}
		for _, c := range cmd.Commands() {
			if c.IsAvailableCommand() {
				check(c, place+"/"+c.Name())
			}
		}
	}
	check(cli.Manual(), "reference")
	files := 0
	err := filepath.WalkDir(filepath.Join(dir, "reference"), func(_ string, e fs.DirEntry, err error) error {
		if err == nil && !e.IsDir() {
			files++
		}
		return err
	})
	if err != nil || files != pages || pages < 20 {
		t.Errorf("%d pages for %d commands, %v", files, pages, err)
	}
}

// A flag's section has its value and default, and its text is no Markdown.
func TestFlag(t *testing.T) {
	t.Parallel()
	text := read(t, filepath.Join(written(t), "reference", "remove.md"))
	for _, want := range []string{
		"## Output flags\n",
		"### `--pad pixels` { #pad }\n\npixels around the crop, 0\\.\\.50 \\(default 12\\)\n",
		"### `-o, --output file` { #output }\n",
		"### `--shadow x,y,blur,opacity[=soft]` { #shadow }\n",
		"a colour \\(\\#rrggbb, \\#rgb or",
		"bgremove remove - --format apng -o - <clip.gif >clip.apng\n",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%.3000s", want, text)
		}
	}
}

// Old files are gone, and the operations are there.
func TestWrite(t *testing.T) {
	t.Parallel()
	dir := written(t)
	old := filepath.Join(dir, "reference", "old.md")
	if err := os.WriteFile(old, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := write(dir); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(old); err == nil {
		t.Errorf("%s is still there", old)
	}
	if text := read(t, filepath.Join(dir, "api", "operations.md")); !strings.Contains(text, "{ #createJob }") {
		t.Errorf("api/operations.md begins %.100q", text)
	}
}
