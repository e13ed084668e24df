package batch_test

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/bgremove/bgremove/internal/batch"
	"github.com/bgremove/bgremove/internal/bucket/buckettest"
	"github.com/bgremove/bgremove/pkg/bgremove"
)

type line struct {
	batch.Stamp
	Status batch.Status `json:"status"`
}

func newLine(o batch.Outcome) any {
	return line{batch.Stamp{InputModified: o.InputModified, EndedAt: time.Now()}, o.Status}
}

func manifest(t *testing.T, place string) *batch.Manifest {
	t.Helper()
	m, err := batch.OpenManifest(t.Context(), place)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = m.Close() })
	return m
}

// With the same manifest, done inputs are skipped wherever their outputs are, and
// failed ones tried again.
func TestManifestResumes(t *testing.T) {
	t.Parallel()
	s := buckettest.New(t)
	for name, place := range map[string]string{"folder": filepath.Join(t.TempDir(), "manifest"), "bucket": s.Address("manifest/")} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := tree(t, "0.gif", "1.gif", "2.gif")
			broken := true
			r := batch.Runner{Jobs: 1, Manifest: manifest(t, place), Line: newLine}
			r.Work = func(ctx context.Context, item batch.Item, overwrite bool) (*bgremove.Result, error) {
				if broken && filepath.Base(item.Path) == "1.gif" {
					return nil, errors.New("broken")
				}
				return writeOutput(ctx, item, overwrite)
			}
			list := items(dir, 3)
			check := func(want ...batch.Status) {
				t.Helper()
				got, err := run(t.Context(), r, list)
				if diff := cmp.Diff(map[string]batch.Status{"0.gif": want[0], "1.gif": want[1], "2.gif": want[2]}, got); diff != "" || err != nil {
					t.Errorf("%v (-want +got):\n%s", err, diff)
				}
			}
			check(batch.Done, batch.Failed, batch.Done)
			if err := os.RemoveAll(filepath.Join(dir, "out")); err != nil {
				t.Fatal(err)
			}
			if left := r.Remaining(t.Context(), list); left != 1 {
				t.Errorf("%d inputs remain", left)
			}
			broken = false
			check(batch.Skipped, batch.Done, batch.Skipped)
			check(batch.Skipped, batch.Skipped, batch.Skipped)
			r.Redo = batch.RedoOlder
			check(batch.Skipped, batch.Skipped, batch.Skipped)
			later := time.Now().Add(time.Hour)
			if err := os.Chtimes(list[2].Path, later, later); err != nil {
				t.Fatal(err)
			}
			check(batch.Skipped, batch.Skipped, batch.Done)
			r.Redo = batch.RedoAll
			check(batch.Done, batch.Done, batch.Done)
		})
	}
}

// An output without its record, as a killed run may leave it, gets one.
func TestManifestCompletes(t *testing.T) {
	t.Parallel()
	dir := tree(t, "0.gif", "out/0-nobg.gif")
	r := batch.Runner{Manifest: manifest(t, filepath.Join(dir, "manifest")), Line: newLine, Work: writeOutput}
	if got, err := run(t.Context(), r, items(dir, 1)); err != nil || got["0.gif"] != batch.Skipped {
		t.Fatalf("%v, %v", got, err)
	}
	text, err := os.ReadFile(filepath.Join(dir, "manifest", "0-nobg.gif.json"))
	if err != nil {
		t.Fatal(err)
	}
	var got line
	if err := json.Unmarshal(text, &got); err != nil || got.Status != batch.Skipped || got.InputModified.IsZero() || got.EndedAt.IsZero() {
		t.Errorf("%s, %v", text, err)
	}
}

// Shards of objects write one manifest, with a record for each.
func TestManifestOfShards(t *testing.T) {
	t.Parallel()
	s := buckettest.New(t)
	put(t, s, "in/a.gif", "in/b.gif", "in/day/a.gif", "in/day/c.gif")
	for k := 1; k <= 2; k++ {
		r := batch.Runner{Jobs: 2, Work: writeOutput, Manifest: manifest(t, s.Address("out/manifest")), Line: newLine}
		objectRun(t, r, batch.Shard{Number: k, Count: 2}, s.Address("in"), s.Address("out"))
	}
	all, err := s.Objects()
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"a-nobg.gif", "b-nobg.gif", "day/a-nobg.gif", "day/c-nobg.gif"} {
		var got line
		if err := json.Unmarshal([]byte(all["out/manifest/"+name+".json"]), &got); err != nil || got.Status != batch.Done || got.InputModified.IsZero() {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
	}
}

// A record that cannot be read or written is a failure of its input.
func TestManifestFails(t *testing.T) {
	t.Parallel()
	dir := tree(t, "0.gif", "1.gif", "manifest/0-nobg.gif.json", "manifest/1-nobg.gif.json/x")
	r := batch.Runner{Manifest: manifest(t, filepath.Join(dir, "manifest")), Line: newLine, Work: writeOutput}
	got := map[string]error{}
	r.Report = func(o batch.Outcome) { got[filepath.Base(o.Path)] = o.Err }
	if err := r.Run(t.Context(), feed(items(dir, 2))); err != nil {
		t.Fatal(err)
	}
	if !errors.Is(got["0.gif"], batch.BadRecord) || got["1.gif"] == nil {
		t.Errorf("%v", got)
	}
	was, err := os.ReadFile(filepath.Join(tree(t, "manifest/0-nobg.gif.json"), "manifest", "0-nobg.gif.json"))
	if err != nil {
		t.Fatal(err)
	}
	if text, err := os.ReadFile(filepath.Join(dir, "manifest", "0-nobg.gif.json")); err != nil || !cmp.Equal(text, was) {
		t.Errorf("it was replaced by %s, %v", text, err)
	}
	if _, err := batch.OpenManifest(t.Context(), filepath.Join(dir, "0.gif")); !errors.Is(err, batch.ManifestReadOnly) {
		t.Error(err)
	}
}
