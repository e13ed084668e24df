package cli

import (
	"context"
	"errors"

	"golang.org/x/sync/errgroup"

	"github.com/bgremove/bgremove/internal/batch"
	"github.com/bgremove/bgremove/internal/cli/failure"
	"github.com/bgremove/bgremove/pkg/bgremove"
)

// watch processes the named files, then the files in the watched folders and
// new ones there, until ctx ends.
func (r *batchRun) watch(ctx context.Context, search batch.Search, found *batch.Found, items []batch.Item) error {
	search.Paths = found.Folders
	w := &batch.Watch{Search: search, Found: found, CheckComplete: r.checkComplete}
	notifier, err := batch.NewNotifier()
	switch {
	case errors.Is(err, batch.ErrUnsupported):
	case err != nil:
		r.say("the system does not report new files (%v); checking every %v", err, batch.PollInterval)
	default:
		defer notifier.Close()
		w.Wake, w.OnFolder = notifier.Changes(), notifier.Listen
	}
	queue := make(chan batch.Item)
	enqueue := func(item batch.Item) {
		r.addFiles(1)
		select {
		case queue <- item:
		case <-ctx.Done():
		}
	}
	w.OnError = func(err error) { enqueue(batch.Unread(withWatchHint(err))) }
	names := batch.NewNames(r.o.out, r.o.written, items)
	var g errgroup.Group
	g.Go(func() error {
		defer close(queue)
		return w.Run(ctx, func(_ context.Context, in batch.Input) { enqueue(names.Name(in)) })
	})
	runner := r.newRunner()
	runner.Report = func(o batch.Outcome) {
		r.report(o)
		w.Ended(o.Path)
	}
	g.Go(func() error { return runner.Run(ctx, queue) })
	return g.Wait()
}

// withWatchHint adds to the error about a vanished folder that the watch continues;
// other errors are unchanged.
func withWatchHint(err error) error {
	known := (*bgremove.Error)(nil)
	if !errors.As(err, &known) || known.Kind != bgremove.NotFound {
		return err
	}
	gone := *known
	gone.Cause = failure.FolderGone
	return &gone
}

// checkComplete distinguishes a complete file from one that is still being written.
func (r *batchRun) checkComplete(ctx context.Context, path string) error {
	info, err := r.remover.Probe(ctx, path)
	if known := (*bgremove.Error)(nil); errors.As(err, &known) && known.Kind == bgremove.Missing {
		return nil // waiting would not help
	}
	if err == nil && info.Truncated {
		return errors.New("ends early")
	}
	return err
}
