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

// watch hears the processes that share a file of SQLite. Nobody sends anything
// there, so it looks whether one of them has written: once for all listeners, as
// long as there are any. It is safe for concurrent use.
type watch struct {
	path string
	// open makes a connection of the watch's own: SQLite counts the writes of all
	// others, so with one of the pool an own write could look like none.
	open func() (*sql.DB, error)

	mu    sync.Mutex
	wakes map[*func()]struct{}
	stop  func() // ends the polling; nil: nobody listens
}

// listen calls ring once it listens and when others may have written, until ctx
// ends. Its error is that of ctx.
func (w *watch) listen(ctx context.Context, ring func()) error {
	defer w.add(&ring)()
	ring()
	<-ctx.Done()
	return ctx.Err()
}

// add begins to call ring. The first that is added begins the polling, the last
// that is removed ends it.
func (w *watch) add(ring *func()) (remove func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.stop == nil {
		w.wakes = make(map[*func()]struct{})
		ctx, cancel := context.WithCancel(context.Background()) // of no single listener: it serves all
		var polling sync.WaitGroup
		polling.Go(func() { w.run(ctx) })
		w.stop = func() { cancel(); polling.Wait() }
	}
	w.wakes[ring] = struct{}{}
	return func() {
		if end := w.remove(ring); end != nil {
			end()
		}
	}
}

// remove returns how to end the polling after the last one.
func (w *watch) remove(ring *func()) (end func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if delete(w.wakes, ring); len(w.wakes) == 0 {
		end, w.stop = w.stop, nil
	}
	return end
}

func (w *watch) wakeAll() {
	w.mu.Lock()
	defer w.mu.Unlock()
	for ring := range w.wakes {
		(*ring)()
	}
}

// run wakes the listeners when others have written, until ctx ends. After an error others may
// have written unseen.
func (w *watch) run(ctx context.Context) {
	for ctx.Err() == nil {
		_ = w.follow(ctx)
		w.wakeAll()
		_ = pause(ctx, pollBusy)
	}
}

// follow is run that ends with an error. It asks by one statement, which reads a
// word of memory that the processes share.
func (w *watch) follow(ctx context.Context) error {
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
	touched, end := listenTo(filepath.Dir(w.path))
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
			if err := pause(ctx, pollBusy); err != nil {
				return err
			}
		}
	}
}

// listenTo reports writes to the files of a folder, once for many, until end.
// It is nil if the system does not report them, or must open the files for it:
// closing one releases all locks that SQLite holds on it, see
// https://sqlite.org/howtocorrupt.html, section 2.2.
func listenTo(dir string) (touched <-chan struct{}, end func()) {
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

// pause waits for a time, or returns why ctx ended.
func pause(ctx context.Context, d time.Duration) error {
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
