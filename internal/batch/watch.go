package batch

import (
	"context"
	"io/fs"
	"os"
	"slices"
	"sync"
	"time"
)

// Settle is how long a file must stay unchanged to count as complete. Poll is
// the interval at which folders are scanned without a report, because network
// disks report nothing. A file that does not open has Patience to change.
const (
	Settle   = 2 * time.Second
	Poll     = 10 * time.Second
	Patience = 30 * time.Second
)

// Watch finds the inputs that are in folders and those that come up, each when
// it has stopped growing, and again whenever it has changed. A file is given
// once for all ways in which it can be named.
type Watch struct {
	// Search names the folders; other paths are not watched.
	Search
	// Found is the result of an earlier search, or nil. Its files are passed on
	// at once, and its inputs keep their names.
	Found *Found
	// Opens reports whether a file that has stopped growing is complete.
	Opens func(ctx context.Context, path string) error
	// Problem hears of folders that cannot be looked into, once each.
	Problem func(error)
	// Wake says that something may have changed, and Visit hears of each
	// folder that is looked into, so that it can be listened to. They may be
	// nil.
	Wake  <-chan struct{}
	Visit func(dir string)

	files  map[string]*growing
	inputs map[string]Input // by canonical path: how each was named first
	broken map[string]bool  // problems of the last scan

	mu   sync.Mutex
	busy map[string]bool // given and not Ended
}

// growing is the state of a file.
type growing struct {
	stamp stamp
	since time.Time // when it was first seen so
	given bool      // as it is
	round int       // of the last scan that saw it
}

type stamp struct {
	size  int64
	mtime time.Time
}

// Run passes inputs on until ctx ends, and then returns its cause. An input
// comes again only after Ended.
func (w *Watch) Run(ctx context.Context, give func(context.Context, Input)) error {
	w.files, w.inputs, w.broken, w.busy = map[string]*growing{}, map[string]Input{}, map[string]bool{}, map[string]bool{}
	w.begin(ctx, give)
	for round := 1; ; round++ {
		pending := w.scan(ctx, round, give)
		if err := w.wait(ctx, pending); err != nil {
			return err
		}
	}
}

// Ended says that the work on an input that was given is over, for which a
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

func (w *Watch) hand(ctx context.Context, in Input, give func(context.Context, Input)) {
	w.mu.Lock()
	w.busy[in.Path] = true
	w.mu.Unlock()
	give(ctx, in)
}

// begin gives the files that were named.
func (w *Watch) begin(ctx context.Context, give func(context.Context, Input)) {
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
			w.file(in.Path, stat).given = true
		}
		w.hand(ctx, in, give)
	}
}

// wait ends after a while; scans are at least Settle apart, however much is
// heard.
func (w *Watch) wait(ctx context.Context, pending bool) error {
	soon, late := time.NewTimer(Settle), time.NewTimer(Poll)
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
func (w *Watch) scan(ctx context.Context, round int, give func(context.Context, Input)) (pending bool) {
	for _, in := range w.listInputs() {
		switch complete, growing := w.checkFile(ctx, in.Path, round); {
		case ctx.Err() != nil:
			return false
		case complete:
			w.hand(ctx, in, give)
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
	walk := &walk{Search: w.Search, visit: w.Visit}
	walk.out, _ = os.Stat(w.Out)
	broken := map[string]bool{}
	var all []Input
	for _, root := range w.Paths {
		inputs, unread, err := walk.scan(root)
		if err != nil {
			unread = append(unread, err)
		}
		for _, err := range unread {
			if !w.broken[err.Error()] {
				w.Problem(err)
			}
			broken[err.Error()] = true
		}
		all = append(all, inputs...)
	}
	w.broken = broken
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

// checkFile reports whether a file is to be given, or else may be growing.
func (w *Watch) checkFile(ctx context.Context, path string, round int) (complete, growing bool) {
	stat, err := os.Stat(path)
	if err != nil {
		return false, false
	}
	f := w.file(path, stat)
	f.round = round
	switch {
	case f.given:
		return false, false
	case w.isBusy(path):
		return false, true
	}
	unchanged := time.Since(f.since)
	if unchanged < Settle && time.Since(f.stamp.mtime) < Settle {
		return false, true
	}
	if err := w.Opens(ctx, path); err != nil && unchanged < Patience {
		return false, true
	}
	f.given = true
	return true, false
}

// file is the state of a file, forgotten if the file has changed.
func (w *Watch) file(path string, stat fs.FileInfo) *growing {
	now := stamp{stat.Size(), stat.ModTime()}
	f := w.files[path]
	if f == nil || f.stamp.size != now.size || !f.stamp.mtime.Equal(now.mtime) {
		f = &growing{stamp: now, since: time.Now()}
		w.files[path] = f
	}
	return f
}
