package batch_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bgremove/bgremove/internal/batch"
)

// watched is a Watch that runs in a bubble on a real folder.
type watched struct {
	t    *testing.T
	dir  string
	wake chan struct{}
	*batch.Watch

	mu            sync.Mutex
	given, faults []string
	working       bool // given inputs do not end by themselves
}

// watch runs f beside a Watch of dir. A file with the text "half" cannot be
// opened as a clip.
func watch(t *testing.T, dir string, recursive bool, f func(*watched)) {
	t.Helper()
	watchAs(t, dir, batch.Search{Paths: []string{dir}, Recursive: recursive, Out: filepath.Join(dir, "out")}, nil, f)
}

// watchAs is watch with another search.
func watchAs(t *testing.T, dir string, search batch.Search, found *batch.Found, f func(*watched)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		w := &watched{t: t, dir: dir, wake: make(chan struct{}, 1), Watch: &batch.Watch{Search: search, Found: found, CheckComplete: opens}}
		w.OnError = func(err error) { w.add(&w.faults, err.Error()) }
		w.Wake = w.wake
		ended := errors.New("ended")
		ctx, cancel := context.WithCancelCause(t.Context())
		done := make(chan error)
		go func() { done <- w.Run(ctx, w.take) }()
		f(w)
		cancel(ended)
		if err := <-done; !errors.Is(err, ended) {
			t.Errorf("the watch ended with %v", err)
		}
	})
}

func opens(_ context.Context, path string) error {
	if text, err := os.ReadFile(path); err != nil || string(text) == "half" {
		return errors.New("breaks off")
	}
	return nil
}

// take works on an input. The work ends at once unless the test holds it.
func (w *watched) take(_ context.Context, in batch.Input) {
	w.add(&w.given, strings.TrimPrefix(in.Path, w.dir+string(filepath.Separator)))
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.working {
		w.Ended(in.Path)
	}
}

func (w *watched) work(long bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.working = long
}

func (w *watched) add(to *[]string, text string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	*to = append(*to, text)
}

// read returns a list and empties it.
func (w *watched) read(from *[]string) string {
	w.mu.Lock()
	defer w.mu.Unlock()
	text := strings.Join(*from, " ")
	*from = nil
	return text
}

// write writes a file now, by the bubble's clock.
func (w *watched) write(name, text string) {
	w.t.Helper()
	path := filepath.Join(w.dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		w.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
		w.t.Fatal(err)
	}
	if err := os.Chtimes(path, time.Now(), time.Now()); err != nil {
		w.t.Fatal(err)
	}
}

// after lets time pass and checks that these files were given during that time.
func (w *watched) after(d time.Duration, want string) {
	w.t.Helper()
	time.Sleep(d) // the bubble's clock
	synctest.Wait()
	if got := w.read(&w.given); got != want {
		w.t.Errorf("given %q, want %q", got, want)
	}
}

func TestWatchWaitsForTheEnd(t *testing.T) {
	t.Parallel()
	watch(t, t.TempDir(), false, func(w *watched) {
		w.after(0, "")
		w.write("a.gif", "G")
		for i := range 10 { // a slow copy
			w.after(time.Second, "")
			w.write("a.gif", "GIF"+strings.Repeat("x", i))
		}
		w.after(batch.QuietPeriod-time.Millisecond, "")
		w.after(batch.QuietPeriod, "a.gif")
		w.after(10*batch.PollInterval, "")
		w.write("a.gif", "another")
		w.after(batch.PollInterval+2*batch.QuietPeriod, "a.gif")
	})
}

// Files that existed long before are given at once, and only clips are given.
func TestWatchBegins(t *testing.T) {
	t.Parallel()
	dir := tree(t, "a.gif", "b.txt", "c-nobg.gif", "out/d.gif", "sub/e.MP4", ".x.gif")
	long := time.Date(1999, 1, 1, 0, 0, 0, 0, time.UTC) // bubbles begin in 2000
	for _, name := range []string{"a.gif", "b.txt", "c-nobg.gif", "out/d.gif", "sub/e.MP4", ".x.gif"} {
		if err := os.Chtimes(filepath.Join(dir, name), long, long); err != nil {
			t.Fatal(err)
		}
	}
	watch(t, dir, true, func(w *watched) {
		w.after(0, "a.gif sub/e.MP4")
		w.write("new/deep/f.gif", "GIF")
		w.after(batch.PollInterval+2*batch.QuietPeriod, "new/deep/f.gif")
	})
	watch(t, dir, false, func(w *watched) { w.after(batch.PollInterval, "a.gif") })
}

// A notification saves the wait, but not every notification causes a look.
func TestWatchWakes(t *testing.T) {
	t.Parallel()
	watch(t, t.TempDir(), false, func(w *watched) {
		w.after(batch.QuietPeriod, "")
		w.write("a.gif", "GIF")
		w.wake <- struct{}{}
		w.after(batch.QuietPeriod, "a.gif")
		w.write("b.gif", "GIF")
		w.wake <- struct{}{}
		w.after(batch.QuietPeriod-time.Millisecond, "")
		w.after(time.Millisecond, "b.gif")
	})
}

// A file that has stopped growing but does not open gets more time. In the end
// it is given, so that its error is reported.
func TestWatchOpens(t *testing.T) {
	t.Parallel()
	watch(t, t.TempDir(), false, func(w *watched) {
		w.after(batch.QuietPeriod, "") // so that both are seen at the same time
		w.write("a.gif", "half")
		w.write("b.gif", "half")
		w.wake <- struct{}{}
		w.after(batch.OpenTimeout-batch.QuietPeriod, "")
		w.write("a.gif", "whole")
		w.after(3*batch.QuietPeriod, "a.gif b.gif")
		w.after(10*batch.PollInterval, "")
	})
}

// A file that vanishes and returns is a new one. A vanished folder is reported
// once.
func TestWatchGone(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "in")
	watch(t, dir, false, func(w *watched) {
		w.write("a.gif", "GIF")
		w.after(2*batch.PollInterval, "a.gif")
		w.read(&w.faults)
		if err := os.RemoveAll(dir); err != nil {
			t.Fatal(err)
		}
		w.after(5*batch.PollInterval, "")
		if got := w.read(&w.faults); strings.Count(got, "no such file or folder") != 1 {
			t.Errorf("problems %q", got)
		}
		w.write("a.gif", "GIF")
		w.after(batch.PollInterval+2*batch.QuietPeriod, "a.gif")
	})
}

// A file that changes during its work is given again afterwards, however often
// it changes. It does not delay others.
func TestWatchInWork(t *testing.T) {
	t.Parallel()
	watch(t, t.TempDir(), false, func(w *watched) {
		w.work(true)
		w.write("a.gif", "GIF")
		w.after(batch.PollInterval+2*batch.QuietPeriod, "a.gif")
		w.write("a.gif", "another")
		w.after(batch.OpenTimeout+batch.PollInterval, "")
		if err := os.Remove(filepath.Join(w.dir, "a.gif")); err != nil {
			t.Fatal(err)
		}
		w.after(batch.PollInterval, "")
		w.write("a.gif", "a third")
		w.write("b.gif", "GIF")
		w.after(batch.PollInterval+2*batch.QuietPeriod, "b.gif")
		w.work(false)
		w.Ended(filepath.Join(w.dir, "a.gif"))
		w.after(2*batch.QuietPeriod, "a.gif")
		w.after(2*batch.PollInterval, "")
	})
}

// Each input is given once under its first name, whatever its other names.
func TestWatchOnce(t *testing.T) {
	t.Parallel()
	dir := tree(t, "in/a.gif", "in/b.gif", "in/sub/c.gif", "d.gif")
	if err := os.Symlink("in", filepath.Join(dir, "link")); err != nil {
		t.Skip(err) // Windows needs a permission for it
	}
	as := func(name string) string { return dir + string(filepath.Separator) + filepath.FromSlash(name) }
	search := batch.Search{Recursive: true, Paths: []string{as("in/../in/b.gif"), as("d.gif"), as("link"), as("./in"), as("in/sub")}}
	found, err := search.Find(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	search.Paths = found.Folders
	watchAs(t, dir, search, found, func(w *watched) {
		w.after(batch.QuietPeriod, "in/../in/b.gif d.gif link/a.gif link/sub/c.gif")
		w.write("in/sub/e.gif", "GIF")
		w.write("in/a.gif", "another")
		w.write("in/b.gif", "another")
		w.after(batch.PollInterval+2*batch.QuietPeriod, "link/a.gif in/../in/b.gif link/sub/e.gif")
	})
}

// The real system reports new files in watched folders.
func TestNotifier(t *testing.T) {
	t.Parallel()
	dir := tree(t, "in/x")
	n, err := batch.NewNotifier()
	if errors.Is(err, batch.ErrUnsupported) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	n.Listen(filepath.Join(dir, "in"))
	n.Listen(filepath.Join(dir, "absent"))
	for _, name := range []string{"a.gif", "b.gif"} {
		if err := os.WriteFile(filepath.Join(dir, "in", name), []byte("GIF"), 0o666); err != nil {
			t.Fatal(err)
		}
		<-n.Changes()
	}
	if err := n.Close(); err != nil {
		t.Error(err)
	}
}
