package cli

import (
	"context"
	"slices"
	"time"

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

// openManifest opens the manifest, if there is to be one, and checks its place.
func (r *batchRun) openManifest(ctx context.Context) (err error) {
	if r.o.manifest != "" {
		r.manifest, err = batch.OpenManifest(ctx, r.o.manifest)
	}
	return err
}

// prepare checks the place of the outputs, and makes one for copies of objects if there are
// any.
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

// releasePlaces ends the use of the manifest and of the place for copies.
func (r *batchRun) releasePlaces() {
	_ = r.manifest.Close() // all records are written
	if r.copies != nil {
		_ = r.copies.Close() // where it fails, the next process removes them
	}
}

// manifestLine is the record of an outcome: its line of --json, and which version of the
// input it is about.
func (r *batchRun) manifestLine(o batch.Outcome) any {
	return struct {
		batchLine
		batch.Stamp
	}{r.newBatchLine(o), batch.Stamp{InputModified: o.InputModified.UTC(), EndedAt: time.Now().UTC()}}
}
