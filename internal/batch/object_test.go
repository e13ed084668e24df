package batch_test

import (
	"context"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/bgremove/bgremove/internal/batch"
	"github.com/bgremove/bgremove/internal/bucket"
	"github.com/bgremove/bgremove/internal/bucket/buckettest"
	"github.com/bgremove/bgremove/pkg/bgremove"
)

func put(t *testing.T, s *buckettest.Server, keys ...string) {
	t.Helper()
	for _, key := range keys {
		if err := s.Put(key, "content of "+key); err != nil {
			t.Fatal(err)
		}
	}
}

// findObjects are the inputs of addresses.
func findObjects(t *testing.T, s batch.Search) *batch.Found {
	t.Helper()
	found, err := s.Find(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = found.Close() })
	return found
}

func TestFindObjects(t *testing.T) {
	t.Parallel()
	s := buckettest.New(t)
	put(t, s, "in/a.gif", "in/a-nobg.gif", "in/b.MP4", "in/notes.txt", "in/.hidden.gif", "in/.d/c.gif", "in/day/c.gif", "in/out/d.gif",
		"in/../e.gif", "in/day//f.gif", `in/g\h.gif`, "in2/x.gif", "in")
	out := buckettest.Open(t, s.Address("in/out"))
	for name, c := range map[string]struct {
		paths     []string
		recursive bool
		want      []string
		unread    []string
	}{
		"folder":     {paths: []string{"in/"}, want: []string{"in/a.gif", "in/b.MP4"}, unread: []string{`in/g\h.gif`}},
		"recursive":  {[]string{"in/"}, true, []string{"in/a.gif", "in/b.MP4", "in/day/c.gif"}, []string{"in/../e.gif", "in/day//f.gif", `in/g\h.gif`}},
		"no slash":   {paths: []string{"in2"}, want: []string{"in2/x.gif"}},
		"object":     {paths: []string{"in/a.gif"}, want: []string{"in/a.gif"}},
		"any name":   {paths: []string{"in"}, want: []string{"in"}},
		"each once":  {paths: []string{"in2/x.gif", "in2/", "in2"}, want: []string{"in2/x.gif"}},
		"an output":  {paths: []string{"in/a-nobg.gif"}},
		"none there": {paths: []string{"none/"}},
	} {
		search := batch.Search{Recursive: c.recursive, OutFolder: out}
		for _, p := range c.paths {
			search.Paths = append(search.Paths, s.Address(p))
		}
		found := findObjects(t, search)
		var got, unread []string
		for _, in := range found.Inputs {
			got = append(got, strings.TrimPrefix(in.Path, "s3://clips/"))
		}
		for _, item := range found.Unread {
			unread = append(unread, strings.TrimPrefix(item.Path, "s3://clips/"))
			if !errors.Is(item.Err, batch.BadObjectName) {
				t.Errorf("%s: %v", name, item.Err)
			}
		}
		slices.Sort(unread)
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
		if diff := cmp.Diff(c.unread, unread); diff != "" {
			t.Errorf("%s: unread (-want +got):\n%s", name, diff)
		}
	}
}

// objectRun does all inputs below an address, and returns the outcomes by output.
func objectRun(t *testing.T, r batch.Runner, shard batch.Shard, in, out string) map[string]batch.Status {
	t.Helper()
	found := findObjects(t, batch.Search{Paths: []string{in}, Recursive: true})
	if bucket.IsAddress(out) {
		r.Out = buckettest.Open(t, out)
		out = r.Out.Address()
	}
	list, err := batch.Name(out, batch.Always(bgremove.GIF), found.Inputs)
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]batch.Status{}
	r.Scratch = t.TempDir()
	r.Report = func(o batch.Outcome) {
		if got[o.Output] = o.Status; o.Status == batch.Done && o.Result.Output != o.Output {
			t.Errorf("the result of %s names %s", o.Output, o.Result.Output)
		}
	}
	if err := r.Run(t.Context(), feed(shard.Select(list))); err != nil {
		t.Fatal(err)
	}
	if left, err := os.ReadDir(r.Scratch); len(left) > 0 || err != nil {
		t.Errorf("copies are left: %v, %v", left, err)
	}
	return got
}

// Shards share the objects of a bucket: each output is made once, and the second run
// of a shard skips its own.
func TestRunShardsOfObjects(t *testing.T) {
	t.Parallel()
	s := buckettest.New(t)
	put(t, s, "in/a.gif", "in/b.gif", "in/b.mp4", "in/day/c.gif", "in/day/d.gif", "in/day/e.gif")
	made := map[string]batch.Status{}
	for k := 1; k <= 3; k++ {
		shard := batch.Shard{Number: k, Count: 3}
		for _, want := range []batch.Status{batch.Done, batch.Skipped} {
			for output, status := range objectRun(t, batch.Runner{Jobs: 2, Work: writeOutput}, shard, s.Address("in/"), s.Address("out/")) {
				if status != want {
					t.Errorf("%s: %s, want %s", output, status, want)
				}
				if made[output] == want {
					t.Errorf("%s twice", output)
				}
				made[output] = want
			}
		}
	}
	want := map[string]string{
		"out/a-nobg.gif": "of a.gif", "out/b-gif-nobg.gif": "of b.gif", "out/b-mp4-nobg.gif": "of b.mp4",
		"out/day/c-nobg.gif": "of c.gif", "out/day/d-nobg.gif": "of d.gif", "out/day/e-nobg.gif": "of e.gif",
	}
	got, err := s.Objects()
	maps.DeleteFunc(got, func(key, _ string) bool { return strings.HasPrefix(key, "in/") })
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
}

// Inputs and outputs may be in different kinds of places.
func TestRunMixesPlaces(t *testing.T) {
	t.Parallel()
	s, dir := buckettest.New(t), tree(t, "in/a.gif")
	put(t, s, "in/day/b.gif")
	objectRun(t, batch.Runner{Work: writeOutput}, batch.Shard{}, s.Address("in/"), filepath.Join(dir, "out"))
	if text, err := os.ReadFile(filepath.Join(dir, "out", "day", "b-nobg.gif")); err != nil || string(text) != "of b.gif" {
		t.Errorf("%q, %v", text, err)
	}
	objectRun(t, batch.Runner{Work: writeOutput}, batch.Shard{}, filepath.Join(dir, "in"), s.Address("out/"))
	if got, err := s.Objects(); err != nil || got["out/a-nobg.gif"] != "of a.gif" {
		t.Errorf("%v, %v", got, err)
	}
}

// All files of an output are stored, and it is one that exists only with the last.
func TestRunStoresAllFiles(t *testing.T) {
	t.Parallel()
	s := buckettest.New(t)
	put(t, s, "in/a.gif")
	sheet := func(ctx context.Context, item batch.Item, overwrite bool) (*bgremove.Result, error) {
		result, err := writeOutput(ctx, item, overwrite)
		data := strings.TrimSuffix(item.Output, ".gif") + ".json"
		if err == nil {
			result.Sheet = &bgremove.Sheet{Pages: []bgremove.SheetPage{{Image: item.Output, Data: data}}}
			err = os.WriteFile(data, []byte("{}"), 0o600)
		}
		return result, err
	}
	r := batch.Runner{Work: sheet}
	objectRun(t, r, batch.Shard{}, s.Address("in/"), s.Address("out/"))
	want := []string{"in/a.gif", "out/a-nobg.gif", "out/a-nobg.json"}
	if got, err := s.Keys(); err != nil || !cmp.Equal(got, want) {
		t.Errorf("%v, %v", got, err)
	}
}

// A run that ends between the files of an output does it again, whatever it left.
func TestRunEndsWhole(t *testing.T) {
	t.Parallel()
	s := buckettest.New(t)
	put(t, s, "in/a.gif", "in/b.gif")
	ctx, cancel := context.WithCancel(t.Context())
	killed := batch.Runner{Jobs: 1, Out: buckettest.Open(t, s.Address("out/")), Scratch: t.TempDir(), Report: func(batch.Outcome) {}}
	killed.Work = func(ctx context.Context, item batch.Item, overwrite bool) (*bgremove.Result, error) {
		if filepath.Base(item.Path) == "b.gif" {
			cancel() // the file is written, but not stored
		}
		return writeOutput(ctx, item, overwrite)
	}
	found := findObjects(t, batch.Search{Paths: []string{s.Address("in/")}})
	list, err := batch.Name(killed.Out.Address(), batch.Always(bgremove.GIF), found.Inputs)
	if err != nil {
		t.Fatal(err)
	}
	if err := killed.Run(ctx, feed(list)); !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	if got, err := s.Keys(); err != nil || !cmp.Equal(got, []string{"in/a.gif", "in/b.gif", "out/a-nobg.gif"}) {
		t.Errorf("%v, %v", got, err)
	}
	if left, err := os.ReadDir(killed.Scratch); len(left) > 0 || err != nil {
		t.Errorf("copies are left: %v, %v", left, err)
	}
	want := map[string]batch.Status{"s3://clips/out/a-nobg.gif": batch.Skipped, "s3://clips/out/b-nobg.gif": batch.Done}
	if diff := cmp.Diff(want, objectRun(t, batch.Runner{Work: writeOutput}, batch.Shard{}, s.Address("in/"), s.Address("out/"))); diff != "" {
		t.Error(diff)
	}
}

// An input that changes meanwhile is a failure: the output would look newer.
func TestRunNoticesChanges(t *testing.T) {
	t.Parallel()
	s, dir := buckettest.New(t), tree(t, "in/a.gif")
	input := filepath.Join(dir, "in", "a.gif")
	r := batch.Runner{Work: func(ctx context.Context, item batch.Item, overwrite bool) (*bgremove.Result, error) {
		result, err := writeOutput(ctx, item, overwrite)
		stat, err2 := os.Stat(input)
		if err2 != nil {
			return nil, err2
		}
		return result, errors.Join(err, os.Chtimes(input, stat.ModTime(), stat.ModTime().Add(1e9)))
	}}
	want := map[string]batch.Status{"s3://clips/out/a-nobg.gif": batch.Failed}
	if diff := cmp.Diff(want, objectRun(t, r, batch.Shard{}, filepath.Join(dir, "in"), s.Address("out/"))); diff != "" {
		t.Error(diff)
	}
	if got, err := s.Keys(); err != nil || len(got) > 0 {
		t.Errorf("%v, %v", got, err)
	}
}

// Errors and results name the objects and not their copies.
func TestRunNamesObjects(t *testing.T) {
	t.Parallel()
	s := buckettest.New(t)
	put(t, s, "in/a.gif")
	r := batch.Runner{Out: buckettest.Open(t, s.Address("out/")), Scratch: t.TempDir(), Work: func(_ context.Context, item batch.Item, _ bool) (*bgremove.Result, error) {
		return nil, &bgremove.Error{Path: item.Path, Reason: "not for " + item.Output}
	}}
	r.Report = func(o batch.Outcome) {
		if want := "s3://clips/in/a.gif: not for s3://clips/out/a-nobg.gif"; o.Err == nil || o.Err.Error() != want {
			t.Errorf("%v, want %s", o.Err, want)
		}
	}
	found := findObjects(t, batch.Search{Paths: []string{s.Address("in/")}})
	list, err := batch.Name(r.Out.Address(), batch.Always(bgremove.GIF), found.Inputs)
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Run(t.Context(), feed(list)); err != nil {
		t.Fatal(err)
	}
}
