package batch_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/bgremove/bgremove/internal/batch"
	"github.com/bgremove/bgremove/pkg/bgremove"
)

// writeOutput is the work in most tests: the output names its input.
func writeOutput(_ context.Context, item batch.Item, overwrite bool) (*bgremove.Result, error) {
	flags := os.O_WRONLY | os.O_CREATE | os.O_EXCL
	if overwrite {
		flags = os.O_WRONLY | os.O_CREATE | os.O_TRUNC
	}
	f, err := os.OpenFile(item.Output, flags, 0o666)
	if err != nil {
		return nil, err
	}
	_, err = fmt.Fprintf(f, "of %s", filepath.Base(item.Path))
	return &bgremove.Result{Output: item.Output}, errors.Join(err, f.Close())
}

func items(dir string, n int) []batch.Item {
	var list []batch.Item
	for i := range n {
		list = append(list, batch.Item{Input: batch.Input{Path: filepath.Join(dir, fmt.Sprintf("%d.gif", i))}, Output: filepath.Join(dir, "out", fmt.Sprintf("%d-nobg.gif", i))})
	}
	return list
}

func feed(list []batch.Item) <-chan batch.Item {
	c := make(chan batch.Item, len(list))
	for _, item := range list {
		c <- item
	}
	close(c)
	return c
}

// run returns the outcome of each item, by the input's name.
func run(ctx context.Context, r batch.Runner, list []batch.Item) (map[string]batch.Status, error) {
	got := map[string]batch.Status{}
	r.Report = func(o batch.Outcome) { got[filepath.Base(o.Path)] = o.Status }
	err := r.Run(ctx, feed(list))
	return got, err
}

func TestRunIsolatesFailures(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	broken := errors.New("broken")
	r := batch.Runner{Jobs: 2, Work: func(ctx context.Context, item batch.Item, overwrite bool) (*bgremove.Result, error) {
		if filepath.Base(item.Path) == "1.gif" {
			return nil, broken
		}
		return writeOutput(ctx, item, overwrite)
	}}
	var outcomes []batch.Outcome
	r.Report = func(o batch.Outcome) { outcomes = append(outcomes, o) }
	if err := r.Run(t.Context(), feed(items(dir, 4))); err != nil {
		t.Fatal(err)
	}
	if len(outcomes) != 4 {
		t.Fatalf("%d outcomes, want 4", len(outcomes))
	}
	for _, o := range outcomes {
		fails := filepath.Base(o.Path) == "1.gif"
		if fails != (o.Status == batch.Failed) || fails != errors.Is(o.Err, broken) || fails == (o.Result != nil) {
			t.Errorf("%+v", o)
		}
	}
}

func TestRunKeepsOrRedoes(t *testing.T) {
	t.Parallel()
	const untouched, done = batch.Skipped, batch.Done
	for redo, want := range map[batch.Redo]map[string]batch.Status{
		batch.RedoNone:  {"0.gif": untouched, "1.gif": untouched, "2.gif": done},
		batch.RedoOlder: {"0.gif": done, "1.gif": untouched, "2.gif": done},
		batch.RedoAll:   {"0.gif": done, "1.gif": done, "2.gif": done},
	} {
		dir := tree(t, "0.gif", "1.gif", "2.gif", "out/0-nobg.gif", "out/1-nobg.gif")
		at := time.Now()
		for name, age := range map[string]time.Duration{"0.gif": 1, "out/0-nobg.gif": 2, "1.gif": 2, "out/1-nobg.gif": 1} {
			if err := os.Chtimes(filepath.Join(dir, name), at, at.Add(-age*time.Hour)); err != nil {
				t.Fatal(err)
			}
		}
		r := batch.Runner{Jobs: 1, Redo: redo, Work: writeOutput}
		left := 0
		for _, status := range want {
			if status == done {
				left++
			}
		}
		if got := r.Remaining(t.Context(), items(dir, 3)); got != left {
			t.Errorf("redo %v: %d are left, want %d", redo, got, left)
		}
		got, err := run(t.Context(), r, items(dir, 3))
		if diff := cmp.Diff(want, got); diff != "" || err != nil {
			t.Errorf("redo %v: %v (-want +got):\n%s", redo, err, diff)
		}
		for name, status := range want {
			text, err := os.ReadFile(items(dir, 3)[name[0]-'0'].Output)
			if err != nil || (status == done) != (string(text) == "of "+name) {
				t.Errorf("redo %v: %s holds %q, %v", redo, name, text, err)
			}
		}
	}
}

// An input that changes during the work is done again by the next run, whether
// it was rewritten or replaced by an older file.
func TestRunInputChanges(t *testing.T) {
	t.Parallel()
	before := time.Now().Add(-time.Minute) // before the outputs
	for _, age := range []time.Duration{-time.Hour, time.Hour} {
		dir := tree(t, "0.gif", "out/x")
		if err := os.Chtimes(filepath.Join(dir, "0.gif"), before, before.Add(age-time.Hour)); err != nil {
			t.Fatal(err)
		}
		later := before.Add(-time.Hour)
		r := batch.Runner{Jobs: 1, Redo: batch.RedoOlder, Work: func(ctx context.Context, item batch.Item, overwrite bool) (*bgremove.Result, error) {
			result, err := writeOutput(ctx, item, overwrite)
			return result, errors.Join(err, os.Chtimes(item.Path, later, later))
		}}
		for i, want := range []batch.Status{batch.Done, batch.Done, batch.Skipped} {
			if got, err := run(t.Context(), r, items(dir, 1)); got["0.gif"] != want || err != nil {
				t.Errorf("%v older, run %d: %v %v, want %v", age, i, got, err, want)
			}
		}
	}
}

// An output that another run makes in the meantime is kept, and is not a
// failure. A file in the way beside the output is one: there is no output.
func TestRunOvertaken(t *testing.T) {
	t.Parallel()
	work := func(ctx context.Context, item batch.Item, _ bool) (*bgremove.Result, error) {
		if filepath.Base(item.Path) == "0.gif" {
			if _, err := writeOutput(ctx, item, false); err != nil {
				return nil, err
			}
		}
		return nil, &bgremove.Error{Kind: bgremove.Exists, Path: item.Output}
	}
	got, err := run(t.Context(), batch.Runner{Work: work}, items(t.TempDir(), 2))
	if got["0.gif"] != batch.Skipped || got["1.gif"] != batch.Failed || err != nil {
		t.Errorf("%v, %v", got, err)
	}
}

// Something other than a file in an output's place does not count as the
// output.
func TestRunFolderInTheWay(t *testing.T) {
	t.Parallel()
	dir := tree(t, "out/0-nobg.gif/x", "taken")
	list := items(dir, 1)
	list = append(list, batch.Item{Input: batch.Input{Path: filepath.Join(dir, "1.gif")}, Output: filepath.Join(dir, "taken", "1-nobg.gif")})
	got, err := run(t.Context(), batch.Runner{Work: writeOutput}, list)
	if got["0.gif"] != batch.Failed || got["1.gif"] != batch.Failed || err != nil {
		t.Errorf("%v, %v", got, err)
	}
}

// An interrupted run drops running work and reports only finished work. The
// next run does the rest.
func TestRunGoesOn(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	list := items(dir, 5)
	interrupt := errors.New("interrupt")
	ctx, cancel := context.WithCancelCause(t.Context())
	first, err := run(ctx, batch.Runner{Jobs: 1, Work: func(ctx context.Context, item batch.Item, overwrite bool) (*bgremove.Result, error) {
		if filepath.Base(item.Path) == "2.gif" {
			cancel(interrupt)
			return nil, context.Cause(ctx)
		}
		return writeOutput(ctx, item, overwrite)
	}}, list)
	if !errors.Is(err, interrupt) {
		t.Errorf("error %v", err)
	}
	if diff := cmp.Diff(map[string]batch.Status{"0.gif": batch.Done, "1.gif": batch.Done}, first); diff != "" {
		t.Errorf("first run (-want +got):\n%s", diff)
	}
	second, err := run(t.Context(), batch.Runner{Jobs: 2, Work: writeOutput}, list)
	want := map[string]batch.Status{"0.gif": batch.Skipped, "1.gif": batch.Skipped, "2.gif": batch.Done, "3.gif": batch.Done, "4.gif": batch.Done}
	if diff := cmp.Diff(want, second); diff != "" || err != nil {
		t.Errorf("second run: %v (-want +got):\n%s", err, diff)
	}
}

// Exactly Jobs items are worked on at once.
func TestRunBound(t *testing.T) {
	t.Parallel()
	list := items(t.TempDir(), 8)
	synctest.Test(t, func(t *testing.T) {
		const jobs = 3
		var running atomic.Int32
		end := make(chan struct{})
		work := func(context.Context, batch.Item, bool) (*bgremove.Result, error) {
			running.Add(1)
			<-end
			running.Add(-1)
			return nil, nil
		}
		ended := make(chan error, 1)
		go func() {
			ended <- batch.Runner{Jobs: jobs, Work: work, Report: func(batch.Outcome) {}}.Run(t.Context(), feed(list))
		}()
		for left := len(list); left > 0; left-- {
			synctest.Wait()
			if got := int(running.Load()); got != min(jobs, left) {
				t.Fatalf("%d of %d left are worked on, want %d", got, left, min(jobs, left))
			}
			end <- struct{}{}
		}
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
}
