// Package batch works on many files: it says which inputs there are and where
// the output of each goes before anything is done, does them with a bound on
// how many at once, and watches folders for more.
package batch

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/bgremove/bgremove/internal/bucket"
	"github.com/bgremove/bgremove/pkg/bgremove"
)

// Input is a file to work on.
type Input struct {
	Path string
	// Folder is where below the outputs' folder its output goes; empty is the
	// top.
	Folder string
	// From is where Path is an object; nil if it is a file of this machine.
	From *bucket.Folder
}

// Item is an input and the place of its output.
type Item struct {
	Input
	Output string
	// Err is why it cannot be done, where that is known beforehand.
	Err error
}

// Status is what became of an item.
type Status string

// The results of items. Items cut short by the context's end have none.
const (
	Done    Status = "done"
	Skipped Status = "skipped" // the output was there
	Failed  Status = "failed"
)

// Outcome is what became of an item: a Result if it was Done, an Err if it
// Failed.
type Outcome struct {
	Item
	Status Status
	Result *bgremove.Result
	// InputModified is when the input was written, as far as it was asked for.
	InputModified time.Time

	recorded bool // the manifest has it
}

// Redo says which outputs that exist are made again. The zero value is none.
type Redo int

// Which existing outputs are redone.
const (
	RedoNone  Redo = iota
	RedoOlder      // those older than their inputs
	RedoAll
)

// Runner does items, Jobs at once.
type Runner struct {
	Jobs int
	Redo Redo
	// Out is where outputs are objects; nil if they are files of this machine.
	Out *bucket.Folder
	// Manifest gets a record of each outcome, and tells what needs no work; may be nil.
	Manifest *Manifest
	// Line is the record of an outcome, as encoding/json takes it. It has a Stamp, and
	// the status as "status". It is called from several goroutines.
	Line func(Outcome) any
	// Scratch is a folder for copies of objects, of those items that are worked on.
	Scratch string
	// Work makes an output, replacing one that exists if overwrite is set, or
	// leaves none. It is called from several goroutines.
	Work func(ctx context.Context, item Item, overwrite bool) (*bgremove.Result, error)
	// Report hears of each item as it ends, one after the other.
	Report func(Outcome)
}

// Run processes items until there are no more or ctx ends, and then returns its
// cause. If one fails, the others continue. Missing folders of outputs are
// created.
func (r Runner) Run(ctx context.Context, items <-chan Item) error {
	var (
		g  errgroup.Group
		mu sync.Mutex
	)
	for range max(1, r.Jobs) {
		g.Go(func() error {
			for item := range until(ctx, items) {
				o := r.process(ctx, item)
				if o.Err != nil && ctx.Err() != nil {
					break
				}
				o = r.record(context.WithoutCancel(ctx), o)
				mu.Lock()
				r.Report(o)
				mu.Unlock()
			}
			return context.Cause(ctx)
		})
	}
	return g.Wait()
}

// Remaining is how many items there is work for, by the manifest and by their outputs.
// Those that cannot be told count.
func (r Runner) Remaining(ctx context.Context, items []Item) int {
	count := 0
	for _, item := range items {
		if item.Err != nil {
			continue
		}
		if done, _ := r.isRecorded(ctx, item); done {
			continue
		}
		if _, skip, _ := r.resolveExisting(ctx, item); !skip {
			count++
		}
	}
	return count
}

// until are the items that come before ctx ends.
func until(ctx context.Context, items <-chan Item) func(yield func(Item) bool) {
	return func(yield func(Item) bool) {
		for ctx.Err() == nil {
			select {
			case item, ok := <-items:
				if !ok || !yield(item) {
					return
				}
			case <-ctx.Done():
			}
		}
	}
}

func (r Runner) process(ctx context.Context, item Item) Outcome {
	if item.Err != nil {
		return Outcome{Item: item, Status: Failed}
	}
	if done, err := r.isRecorded(ctx, item); done || err != nil {
		o := Outcome{Item: item, Status: Skipped}.orFailed(err)
		o.recorded = true // also one that cannot be read stays
		return o
	}
	overwrite, skip, err := r.resolveExisting(ctx, item)
	if err != nil {
		return failed(item, err)
	}
	if skip {
		return r.skipped(ctx, item)
	}
	if r.Out == nil {
		if err := os.MkdirAll(filepath.Dir(item.Output), 0o777); err != nil {
			return failed(item, fmt.Errorf("folder of the output: %w", err))
		}
	}
	began, err := item.modified(ctx)
	if err != nil {
		return failed(item, err)
	}
	read := began
	result, err := r.work(ctx, item, began, overwrite)
	if known := (*bgremove.Error)(nil); !overwrite && errors.As(err, &known) && known.Kind == bgremove.Exists {
		return r.unlessAbsent(ctx, item, err)
	}
	if err != nil {
		return failed(item, err)
	}
	if now, err := item.modified(ctx); err == nil && r.Out == nil && !now.Equal(began) {
		// It shows the version that was read: another run is to see that it is
		// older than what is there now, also where that was moved there and is
		// older itself. Some disks count seconds in twos.
		if !now.IsZero() && now.Before(began) {
			began = now.Add(-2 * time.Second)
		}
		_ = os.Chtimes(item.Output, began, began)
	}
	return Outcome{Item: item, Status: Done, Result: result, InputModified: read}
}

// modified is when an input was written last, the newest of numbered pictures; zero where
// that cannot be told. The error is that of a bucket.
func (in Input) modified(ctx context.Context) (newest time.Time, err error) {
	if in.From != nil {
		return in.From.Modified(ctx, in.name())
	}
	for _, path := range append(bgremove.Pictures(in.Path), in.Path) {
		if info, err := os.Stat(path); err == nil && info.ModTime().After(newest) {
			newest = info.ModTime()
		}
	}
	return newest, nil
}

// made is when an item's output was written; zero where there is none. The error is
// that of a bucket.
func (r Runner) made(ctx context.Context, item Item) (time.Time, error) {
	if r.Out != nil {
		return r.Out.Modified(ctx, r.outName(item))
	}
	info, err := os.Stat(item.Output)
	if err != nil || !info.Mode().IsRegular() {
		return time.Time{}, nil
	}
	return info.ModTime(), nil
}

// skipped is the outcome of an item with an output. Its record, if there is to be one,
// is of the version of the input that is there now.
func (r Runner) skipped(ctx context.Context, item Item) Outcome {
	o := Outcome{Item: item, Status: Skipped}
	if r.Manifest == nil {
		return o
	}
	var err error
	o.InputModified, err = item.modified(ctx)
	return o.orFailed(err)
}

// unlessAbsent is the outcome of an item with a file in its way. Where that is the output,
// another run was faster; where it is a file beside the output, such as its sheet, there
// is none.
func (r Runner) unlessAbsent(ctx context.Context, item Item, inTheWay error) Outcome {
	made, err := r.made(ctx, item)
	if err == nil && made.IsZero() {
		err = inTheWay
	}
	if err != nil {
		return failed(item, err)
	}
	return r.skipped(ctx, item)
}

// orFailed is the outcome, or a failure if there is an error.
func (o Outcome) orFailed(err error) Outcome {
	if err != nil {
		return failed(o.Item, err)
	}
	return o
}

func failed(item Item, err error) Outcome {
	item.Err = err
	return Outcome{Item: item, Status: Failed}
}

// resolveExisting reports whether an item's output exists and stays, or whether it must
// be replaced. Work refuses an existing output that is not a file.
func (r Runner) resolveExisting(ctx context.Context, item Item) (overwrite, skip bool, err error) {
	if r.Redo == RedoAll {
		return true, false, nil
	}
	made, err := r.made(ctx, item)
	if err != nil || made.IsZero() || r.Redo == RedoNone {
		return false, err == nil && !made.IsZero(), err
	}
	written, err := item.modified(ctx)
	older := made.Before(written)
	return older, err == nil && !older, err
}
