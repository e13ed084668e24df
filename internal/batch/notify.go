package batch

import (
	"errors"
	"runtime"

	"github.com/fsnotify/fsnotify"
)

// ErrUnsupported is for systems that report changes in a folder only while each of
// its files is open. A folder of thousands does not allow that.
var ErrUnsupported = errors.New("no word of new files on " + runtime.GOOS)

// Notifier hears of changes in folders from the system, where that tells.
type Notifier struct {
	watcher *fsnotify.Watcher
	changes chan struct{}
}

// NewNotifier listens to nothing yet. The error may be ErrUnsupported.
func NewNotifier() (*Notifier, error) {
	switch runtime.GOOS {
	case "darwin", "dragonfly", "freebsd", "netbsd", "openbsd":
		return nil, ErrUnsupported
	}
	w, err := fsnotify.NewWatcher()
	if err != nil {
		return nil, err
	}
	n := &Notifier{watcher: w, changes: make(chan struct{}, 1)}
	go n.listen()
	return n, nil
}

// Listen adds a folder, but not its subfolders. If that fails, as on disks that
// report nothing or at the system's limit, the error is ignored: a Watch polls
// anyway.
func (n *Notifier) Listen(dir string) { _ = n.watcher.Add(dir) }

// Changes receives something after there were changes, once for many.
func (n *Notifier) Changes() <-chan struct{} { return n.changes }

// Close ends listening.
func (n *Notifier) Close() error { return n.watcher.Close() }

// listen ends when the watcher is closed. An error means that events were
// lost, so it counts as a change.
func (n *Notifier) listen() {
	for {
		select {
		case _, ok := <-n.watcher.Events:
			if !ok {
				return
			}
		case _, ok := <-n.watcher.Errors:
			if !ok {
				return
			}
		}
		select {
		case n.changes <- struct{}{}:
		default:
		}
	}
}
