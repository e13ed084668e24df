package store

import (
	"context"
	"database/sql"
	"path/filepath"
	"runtime"
	"sync"
	"time"

	"github.com/fsnotify/fsnotify"
)

// The polling intervals for other processes' writes to a file: a short one for
// some time after a reported write, and a long one otherwise, which costs an
// idle service little.
const (
	pollBusy = 50 * time.Millisecond
	busyFor  = 2 * time.Second
	pollIdle = time.Second
)

// writeWatcher hears the processes that share a file of SQLite. Nobody sends anything
// there, so it looks whether one of them has written: once for all listeners, as
// long as there are any. It is safe for concurrent use.
type writeWatcher struct {
	path string
	// open makes a connection of the watch's own: SQLite counts the writes of all
	// others, so with one of the pool an own write could look like none.
	open func() (*sql.DB, error)

	mu    sync.Mutex
	wakes map[*func()]struct{}
	stop  func() // ends the polling; nil: nobody listens
}

// listen calls wake once it listens and when others may have written, until ctx
// ends. Its error is that of ctx.
func (w *writeWatcher) listen(ctx context.Context, wake func()) error {
	defer w.add(&wake)()
	wake()
	<-ctx.Done()
	return ctx.Err()
}

// add begins to call wake. The first that is added begins the polling, the last
// that is removed ends it.
func (w *writeWatcher) add(wake *func()) (remove func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.stop == nil {
		w.wakes = make(map[*func()]struct{})
		ctx, cancel := context.WithCancel(context.Background()) // of no single listener: it serves all
		var polling sync.WaitGroup
		polling.Go(func() { w.run(ctx) })
		w.stop = func() { cancel(); polling.Wait() }
	}
	w.wakes[wake] = struct{}{}
	return func() {
		if end := w.remove(wake); end != nil {
			end()
		}
	}
}

// remove returns how to end the polling after the last one.
func (w *writeWatcher) remove(wake *func()) (end func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if delete(w.wakes, wake); len(w.wakes) == 0 {
		end, w.stop = w.stop, nil
	}
	return end
}

func (w *writeWatcher) wakeAll() {
	w.mu.Lock()
	defer w.mu.Unlock()
	for wake := range w.wakes {
		(*wake)()
	}
}

// run wakes the listeners when others have written, until ctx ends. After an error others may
// have written unseen.
func (w *writeWatcher) run(ctx context.Context) {
	for ctx.Err() == nil {
		_ = w.poll(ctx)
		w.wakeAll()
		_ = sleep(ctx, pollBusy)
	}
}

// poll is run until an error. It asks by one statement, which reads a
// word of memory that the processes share.
func (w *writeWatcher) poll(ctx context.Context) error {
	db, err := w.open()
	if err != nil {
		return err
	}
	defer db.Close()
	db.SetMaxOpenConns(1)
	ask, err := db.PrepareContext(ctx, "PRAGMA data_version") // https://sqlite.org/pragma.html#pragma_data_version
	if err != nil {
		return err
	}
	defer ask.Close()
	touched, end := watchFolder(filepath.Dir(w.path))
	defer end()
	last, soon := int64(-1), time.Now().Add(busyFor)
	for {
		var version int64
		if err := ask.QueryRowContext(ctx).Scan(&version); err != nil {
			return err
		}
		if version != last {
			w.wakeAll()
		}
		last = version
		after := pollIdle
		if touched == nil || time.Now().Before(soon) {
			after = pollBusy
		}
		told, err := wait(ctx, after, touched)
		if err != nil {
			return err
		}
		if told { // the write may not be to be seen yet
			soon = time.Now().Add(busyFor)
			if err := sleep(ctx, pollBusy); err != nil {
				return err
			}
		}
	}
}

// watchFolder reports writes to the files of a folder, once for many, until end.
// It is nil if the system does not report them, or must open the files for it:
// closing one releases all locks that SQLite holds on it, see
// https://sqlite.org/howtocorrupt.html, section 2.2.
func watchFolder(dir string) (touched <-chan struct{}, end func()) {
	if runtime.GOOS != "linux" && runtime.GOOS != "windows" {
		return nil, func() {}
	}
	watcher, err := fsnotify.NewWatcher()
	if err != nil {
		return nil, func() {}
	}
	if err := watcher.Add(dir); err != nil {
		_ = watcher.Close()
		return nil, func() {}
	}
	told := make(chan struct{}, 1)
	var hearing sync.WaitGroup
	hearing.Go(func() {
		for {
			select {
			case _, open := <-watcher.Events:
				if !open {
					return
				}
			case _, open := <-watcher.Errors: // some were lost
				if !open {
					return
				}
			}
			select {
			case told <- struct{}{}:
			default:
			}
		}
	})
	return told, func() { _ = watcher.Close(); hearing.Wait() }
}

// sleep waits for a time, or returns why ctx ended.
func sleep(ctx context.Context, d time.Duration) error {
	_, err := wait(ctx, d, nil)
	return err
}

// wait waits for a time, or until a write is reported.
func wait(ctx context.Context, d time.Duration, touched <-chan struct{}) (told bool, err error) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-touched:
		return true, nil
	case <-timer.C:
		return false, nil
	case <-ctx.Done():
		return false, context.Cause(ctx)
	}
}
