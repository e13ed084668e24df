package batch_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/bgremove/bgremove/internal/batch"
	"github.com/bgremove/bgremove/pkg/bgremove"
)

// A file with a number's place in its name is no pattern: it keeps its name.
func TestNameWithPercent(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "50%d.gif")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{file, "s3://clips/in/50%d.gif"} {
		items, err := batch.Name("out", batch.Always(bgremove.GIF), files(path))
		if want := filepath.Join("out", "50%d-nobg.gif"); err != nil || items[0].Output != want {
			t.Errorf("%s: %s, %v; want %s", path, items[0].Output, err, want)
		}
	}
}

func TestName(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		inputs []batch.Input
		want   []string // outputs below out; empty where they collide
		both   []string // the inputs of each collision
	}{
		"plain":                {files("a.gif", "b.mov"), []string{"a-nobg.gif", "b-nobg.gif"}, nil},
		"mirrored":             {[]batch.Input{{Path: "in/x/a.gif", Folder: "x"}, {Path: "in/y/z/a.gif", Folder: "y/z"}}, []string{"x/a-nobg.gif", "y/z/a-nobg.gif"}, nil},
		"one stem":             {files("a.gif", "b.gif", "a.mp4"), []string{"a-gif-nobg.gif", "b-nobg.gif", "a-mp4-nobg.gif"}, nil},
		"only where needed":    {[]batch.Input{{Path: "in/x/a.gif", Folder: "x"}, {Path: "in/x/a.mp4", Folder: "x"}, {Path: "in/a.gif", Folder: ""}}, []string{"x/a-gif-nobg.gif", "x/a-mp4-nobg.gif", "a-nobg.gif"}, nil},
		"dots":                 {files("v1.2.gif", "v1.2.webm"), []string{"v1.2-gif-nobg.gif", "v1.2-webm-nobg.gif"}, nil},
		"case of extensions":   {files("a.gif", "a.MP4"), []string{"a-gif-nobg.gif", "a-mp4-nobg.gif"}, nil},
		"case of stems":        {files("a.gif", "A.mp4"), []string{"a-gif-nobg.gif", "A-mp4-nobg.gif"}, nil},
		"no extension":         {files("a", "a.gif"), []string{"a-nobg.gif", "a-gif-nobg.gif"}, nil},
		"one folder, two ways": {files("x/a.gif", "./x/../x/a.mp4"), []string{"a-gif-nobg.gif", "a-mp4-nobg.gif"}, nil},
		"longer name taken": {files("a.gif", "a.mp4", "a-gif.mov"),
			[]string{"a-gif-nobg.gif", "a-mp4-nobg.gif", "a-gif-mov-nobg.gif"}, nil},
		"two folders":       {files("x/a.gif", "b.gif", "y/a.gif"), nil, []string{"x/a.gif and of y/a.gif"}},
		"two extensions":    {files("x/a.gif", "y/a.mp4"), nil, []string{"x/a.gif and of y/a.mp4"}},
		"differ in case":    {files("a.gif", "a.GIF"), nil, []string{"a.gif and of a.GIF"}},
		"each is said":      {files("x/a.gif", "y/a.gif", "x/b.gif", "y/b.gif"), nil, []string{"x/a.gif and of y/a.gif", "x/b.gif and of y/b.gif"}},
		"not UTF-8":         {files("a\xff.gif", "a\xfe.gif", "É.gif"), []string{"a\xff-nobg.gif", "a\xfe-nobg.gif", "É-nobg.gif"}, nil},
		"accents":           {files("x/É.gif", "y/é.gif"), nil, []string{"x/É.gif and of y/é.gif"}},
		"sibling and other": {files("x/a.gif", "x/a.mp4", "y/a.gif"), []string{"a-gif-nobg.gif", "a-mp4-nobg.gif", "a-nobg.gif"}, nil},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			items, err := batch.Name("out", batch.Always(bgremove.GIF), tt.inputs)
			if tt.both != nil {
				checkCollisions(t, err, tt.both)
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for i, item := range items {
				rel, err := filepath.Rel("out", item.Output)
				if err != nil || item.Input != tt.inputs[i] {
					t.Errorf("item %+v of %+v, %v", item, tt.inputs[i], err)
				}
				got = append(got, filepath.ToSlash(rel))
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("outputs (-want +got):\n%s", diff)
			}
		})
	}
}

func files(paths ...string) []batch.Input {
	var inputs []batch.Input
	for _, p := range paths {
		inputs = append(inputs, batch.Input{Path: p})
	}
	return inputs
}

func checkCollisions(t *testing.T, err error, want []string) {
	t.Helper()
	if e := (*batch.CollisionError)(nil); !errors.As(err, &e) {
		t.Fatalf("error %v", err)
	}
	lines := strings.Split(err.Error(), "\n")
	if len(lines) != len(want) {
		t.Fatalf("%q, want %d collisions", lines, len(want))
	}
	for i, w := range want {
		if !strings.Contains(lines[i], w) {
			t.Errorf("%q, want %q", lines[i], w)
		}
	}
}

func TestNameFormat(t *testing.T) {
	t.Parallel()
	items, err := batch.Name("out", batch.Always(bgremove.APNG), files("a.gif"))
	if err != nil || items[0].Output != filepath.Join("out", "a-nobg.apng") {
		t.Errorf("%v, %v", items, err)
	}
}

// Later inputs do not change earlier names.
func TestNames(t *testing.T) {
	t.Parallel()
	inputs := files("in/a.gif", "in/b.gif", "in/b.mp4")
	items, err := batch.Name("out", batch.Always(bgremove.GIF), inputs)
	if err != nil {
		t.Fatal(err)
	}
	names := batch.NewNames("out", batch.Always(bgremove.GIF), items)
	for range 2 {
		for i, in := range inputs {
			if got := names.Name(in); got != items[i] {
				t.Errorf("%+v, want %+v", got, items[i])
			}
		}
		for in, want := range map[batch.Input]string{
			{Path: "in/c.gif"}:                     "c-nobg.gif",
			{Path: "in/a.mp4"}:                     "a-mp4-nobg.gif",
			{Path: "in/sub/a.gif", Folder: "sub"}:  "sub/a-nobg.gif",
			{Path: "elsewhere/A.webm", Folder: ""}: "A-webm-nobg.gif",
		} {
			if got := names.Name(in); got.Output != filepath.Join("out", filepath.FromSlash(want)) || got.Err != nil {
				t.Errorf("%s: %+v", in.Path, got)
			}
		}
		checkCollisions(t, names.Name(batch.Input{Path: "elsewhere/a.mp4"}).Err, []string{"of in/a.mp4 and of elsewhere/a.mp4"})
	}
}
