package cli

import (
	"context"
	"slices"

	"github.com/bgremove/bgremove/internal/batch"
	"github.com/bgremove/bgremove/internal/bucket"
	"github.com/bgremove/bgremove/internal/system/scratch"
)

// localPaths are arguments with file:///PATH as PATH.
func localPaths(args []string) (paths []string) {
	for _, arg := range args {
		paths = append(paths, bucket.LocalPath(arg))
	}
	return paths
}

// openOut opens the folder of the outputs if it is in a bucket. From then on its name
// has no options: names of outputs begin with it.
func (o *batchOptions) openOut(ctx context.Context) (err error) {
	if !bucket.IsAddress(o.out) {
		return nil
	}
	if o.outFolder, err = bucket.Open(ctx, o.out); err == nil {
		o.out = o.outFolder.Address()
	}
	return err
}

// prepare checks the place of the outputs, and makes one for copies of objects if there
// are any.
func (r *batchRun) prepare(ctx context.Context, found *batch.Found) (err error) {
	if r.o.outFolder == nil {
		err = batch.Prepare(r.o.out)
	} else {
		err = r.o.outFolder.Check(ctx)
	}
	if err != nil {
		return err
	}
	if r.o.outFolder != nil || slices.ContainsFunc(found.Inputs, func(in batch.Input) bool { return in.From != nil }) {
		r.copies, err = scratch.Open("")
	}
	return err
}

// removeCopies ends the use of the place for copies.
func (r *batchRun) removeCopies() {
	if r.copies != nil {
		_ = r.copies.Close() // where it fails, the next process removes them
	}
}
