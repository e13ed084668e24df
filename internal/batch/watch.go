package batch

import (
	"context"
	"io/fs"
	"os"
	"slices"
	"sync"
	"time"
)

// QuietPeriod is how long a file must stay unchanged to count as complete.
// PollInterval is how often folders are scanned without a report, because network
// disks report nothing. A file that does not open has OpenTimeout to change.
const (
	QuietPeriod  = 2 * time.Second
	PollInterval = 10 * time.Second
	OpenTimeout  = 30 * time.Second
)

// Watch finds the inputs that are in folders and those that come up, each when
// it has stopped growing, and again whenever it has changed. A file is passed on
// once for all ways in which it can be named.
type Watch struct {
	// Search names the folders; other paths are not watched.
	Search
	// Found is the result of an earlier search, or nil. Its files are passed on
	// at once, and its inputs keep their names.
	Found *Found
	// CheckComplete reports whether a file that has stopped growing is complete.
	CheckComplete func(ctx context.Context, path string) error
	// OnError hears of folders that cannot be looked into, once each.
	OnError func(error)
	// Wake says that something may have changed, and OnFolder hears of each
	// folder that is looked into, so that it can be listened to. They may be
	// nil.
	Wake     <-chan struct{}
	OnFolder func(dir string)

	files    map[string]*fileState
	inputs   map[string]Input // by canonical path: how each was named first
	reported map[string]bool  // problems of the last scan

	mu   sync.Mutex
	busy map[string]bool // dispatched and not Ended
}

// fileState is the state of a file.
type fileState struct {
	stamp      stamp
	since      time.Time // when it was first seen so
	dispatched bool      // as it is
	round      int       // of the last scan that saw it
}

type stamp struct {
	size  int64
	mtime time.Time
}

// Run passes inputs on until ctx ends, and then returns its cause. An input
// comes again only after Ended.
func (w *Watch) Run(ctx context.Context, handle func(context.Context, Input)) error {
	w.files, w.inputs, w.reported, w.busy = map[string]*fileState{}, map[string]Input{}, map[string]bool{}, map[string]bool{}
	w.dispatchNamed(ctx, handle)
	for round := 1; ; round++ {
		pending := w.scan(ctx, round, handle)
		if err := w.wait(ctx, pending); err != nil {
			return err
		}
	}
}

// Ended says that the work on an input that was dispatched is over, for which a
// change of the file waits.
func (w *Watch) Ended(path string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.busy, path)
}

func (w *Watch) isBusy(path string) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.busy[path]
}

// dispatch passes an input on, and remembers that it is being worked on.
func (w *Watch) dispatch(ctx context.Context, in Input, handle func(context.Context, Input)) {
	w.mu.Lock()
	w.busy[in.Path] = true
	w.mu.Unlock()
	handle(ctx, in)
}

// dispatchNamed dispatches the files that were named.
func (w *Watch) dispatchNamed(ctx context.Context, handle func(context.Context, Input)) {
	if w.Found == nil {
		return
	}
	at := canonicalPaths{}
	for _, in := range w.Found.Inputs {
		w.inputs[at.file(in.Path)] = in
		if !slices.Contains(w.Found.Files, in.Path) {
			continue
		}
		if stat, err := os.Stat(in.Path); err == nil {
			w.file(in.Path, stat).dispatched = true
		}
		w.dispatch(ctx, in, handle)
	}
}

// wait ends after a while; scans are at least QuietPeriod apart, however much is
// heard.
func (w *Watch) wait(ctx context.Context, pending bool) error {
	soon, late := time.NewTimer(QuietPeriod), time.NewTimer(PollInterval)
	defer soon.Stop()
	defer late.Stop()
	select {
	case <-soon.C:
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	if pending {
		return nil
	}
	select {
	case <-w.Wake:
	case <-late.C:
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	return nil
}

// scan goes through the folders once, and reports whether some files may still
// be growing.
func (w *Watch) scan(ctx context.Context, round int, handle func(context.Context, Input)) (pending bool) {
	for _, in := range w.listInputs() {
		switch complete, growing := w.checkFile(ctx, in.Path, round); {
		case ctx.Err() != nil:
			return false
		case complete:
			w.dispatch(ctx, in, handle)
		case growing:
			pending = true
		}
	}
	for path, f := range w.files {
		if f.round != round {
			delete(w.files, path)
		}
	}
	return pending
}

// listInputs are the inputs in all folders now, each once. A problem is reported
// once, until it is over.
func (w *Watch) listInputs() []Input {
	walk := &walk{Search: w.Search, onFolder: w.OnFolder}
	walk.out, _ = os.Stat(w.Out)
	reported := map[string]bool{}
	var all []Input
	for _, root := range w.Paths {
		inputs, unread, err := walk.scan(root)
		if err != nil {
			unread = append(unread, err)
		}
		for _, err := range unread {
			if !w.reported[err.Error()] {
				w.OnError(err)
			}
			reported[err.Error()] = true
		}
		all = append(all, inputs...)
	}
	w.reported = reported
	return w.unique(all)
}

// unique are inputs as they were named first, without those named again.
func (w *Watch) unique(inputs []Input) []Input {
	at, seen := canonicalPaths{}, map[string]bool{}
	var all []Input
	for _, in := range inputs {
		place := at.file(in.Path)
		if seen[place] {
			continue
		}
		seen[place] = true
		if _, known := w.inputs[place]; !known {
			w.inputs[place] = in
		}
		all = append(all, w.inputs[place])
	}
	return all
}

// checkFile reports whether a file is to be dispatched, or else may be growing.
func (w *Watch) checkFile(ctx context.Context, path string, round int) (complete, growing bool) {
	stat, err := os.Stat(path)
	if err != nil {
		return false, false
	}
	f := w.file(path, stat)
	f.round = round
	switch {
	case f.dispatched:
		return false, false
	case w.isBusy(path):
		return false, true
	}
	unchanged := time.Since(f.since)
	if unchanged < QuietPeriod && time.Since(f.stamp.mtime) < QuietPeriod {
		return false, true
	}
	if err := w.CheckComplete(ctx, path); err != nil && unchanged < OpenTimeout {
		return false, true
	}
	f.dispatched = true
	return true, false
}

// file is the state of a file, forgotten if the file has changed.
func (w *Watch) file(path string, stat fs.FileInfo) *fileState {
	now := stamp{stat.Size(), stat.ModTime()}
	f := w.files[path]
	if f == nil || f.stamp.size != now.size || !f.stamp.mtime.Equal(now.mtime) {
		f = &fileState{stamp: now, since: time.Now()}
		w.files[path] = f
	}
	return f
}
