package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/bgremove/bgremove/internal/batch"
	"github.com/bgremove/bgremove/internal/bucket"
	"github.com/bgremove/bgremove/internal/cli/failure"
	"github.com/bgremove/bgremove/internal/cli/filearg"
	"github.com/bgremove/bgremove/internal/cli/flags"
	"github.com/bgremove/bgremove/internal/system/cores"
	"github.com/bgremove/bgremove/pkg/bgremove"
	"github.com/bgremove/bgremove/pkg/option"
)

// batchOptions are the flags of a run over many files.
type batchOptions struct {
	bgremove.Options
	out       string
	outFolder *bucket.Folder // nil if out is a path
	sheet     bool
	clips     bool // are written, and not only sheets
	manifest  string
	recursive bool
	jobs      int
	watch     bool
	shardText string
	shard     batch.Shard
	force     bool
	update    bool
	quiet     bool
	json      bool
}

func (a *app) batchCommand() *cobra.Command {
	o := &batchOptions{Options: bgremove.Defaults()}
	cmd := &cobra.Command{
		Use:   "batch PATH... --out DIR",
		Short: "take the background out of many files",
		Long: `batch takes the background out of files, of the animations, videos and pictures in
folders, and of what matches patterns, and writes the outputs into one folder. In
folders the extension tells them:
` + strings.Join(option.InputExtensions(), " ") + `.

PATH and --out can also be addresses in object storage: s3://BUCKET/FOLDER/ or
azblob://CONTAINER/FOLDER/, with the credentials of the environment.

Outputs that exist are skipped, so the same command goes on where it was
interrupted. The failure of one file does not stop the others; the exit code is 3
then.

With --shard K/N it works on one of N parts of the files; runs with the other K do
the rest. "auto" takes K and N from Slurm, Kubernetes or AWS Batch.

--manifest keeps a record of each input: its report, and when it ended. Runs with the
same one skip those that are done, wherever the outputs are now, and try failed ones
again.

With --watch it then goes on with the files that come up in the folders, each when
it has stopped growing. Ctrl-C is the normal end of that: the exit code is 0 unless
files failed (3) or were dropped while they were worked on (130).`,
		Example: `  bgremove batch clips --out cut
  bgremove batch clips --out cut --recursive --format webm --update
  bgremove batch inbox --out cut --watch
  bgremove batch clips --out cut --shard 3/8
  bgremove batch s3://clips/in/ --out s3://clips/out/ --recursive --manifest s3://clips/done/
  bgremove batch 'shots/*.mov' intro.gif --out cut --canvas-w 512 --json`,
		Args: flags.SomeArguments("PATH"), ValidArgsFunction: filearg.CompleteClips,
		RunE: func(cmd *cobra.Command, args []string) error { return a.batch(cmd, args, o) },
	}
	f := cmd.Flags()
	f.StringVarP(&o.out, "out", "o", "", "the `folder` of the outputs, or its address")
	f.StringVar(&o.manifest, "manifest", "", "a `folder`, or its address, for a record of each input; done ones are skipped")
	f.BoolVar(&o.recursive, "recursive", false, "also take the folders below, whose tree the outputs get")
	f.IntVar(&o.jobs, "jobs", 0, "`files` worked on at once (default: half of the cores, 2 to 8)")
	f.BoolVar(&o.watch, "watch", false, "go on with the files that come up in the folders, until interrupted")
	f.StringVar(&o.shardText, "shard", "", "work on one `part` of the files, K/N with K from 1 to N, or auto in an array of tasks")
	f.BoolVar(&o.force, "force", false, "make outputs again that exist")
	f.BoolVar(&o.update, "update", false, "make outputs again that are older than their inputs")
	optionFlags(f, &o.Options)
	f.BoolVar(&o.sheet, "sheet", false, "write sprite sheets, as .png, and their data as .json; the clips only with --format")
	flags.AddQuiet(f, &o.quiet)
	f.BoolVar(&o.json, "json", false, "print a report for each file, a JSON object a line")
	a.removalFlags(f)
	return cmd
}

// checkBatch refuses flags that do not go together, before any work.
func (a *app) checkBatch(cmd *cobra.Command, paths []string, o *batchOptions) error {
	switch {
	case o.out == "":
		return flags.Usage(cmd, errors.New("--out is missing: the folder of the outputs"))
	case o.out == "-":
		return flags.Usage(cmd, filearg.ErrStdoutFolder)
	case looksLikeFile(o.out):
		return flags.Usage(cmd, fmt.Errorf("--out names the folder of the outputs, not a file such as %s", o.out))
	case o.watch && slices.ContainsFunc(append(paths, o.out), bucket.IsAddress):
		return flags.Usage(cmd, errors.New("--watch is for folders of this machine, not for addresses"))
	case o.watch && o.shardText != "":
		return flags.Usage(cmd, errors.New("--watch and --shard do not go together"))
	case checkParallel("jobs", o.jobs) != nil:
		return flags.Usage(cmd, checkParallel("jobs", o.jobs))
	case a.checkRemovalFlags() != nil:
		return flags.Usage(cmd, a.checkRemovalFlags())
	case !o.sheet && checkSheet(cmd, "") != nil:
		return checkSheet(cmd, "")
	}
	var err error
	if o.shard, err = batch.ParseShard(o.shardText, os.Getenv); err != nil {
		return flags.Usage(cmd, err)
	}
	return flags.CheckOptions(cmd, &o.Options)
}

func (a *app) batch(cmd *cobra.Command, paths []string, o *batchOptions) error {
	o.out, o.manifest, paths = bucket.LocalPath(o.out), bucket.LocalPath(o.manifest), localPaths(paths)
	if err := errors.Join(a.checkBatch(cmd, paths, o), filearg.CheckLocal(paths...)); err != nil {
		return err
	}
	if err := o.openOut(cmd.Context()); err != nil {
		return err
	}
	defer o.outFolder.Close()
	search := batch.Search{Paths: paths, Recursive: o.recursive, Out: o.out, OutFolder: o.outFolder}
	found, err := search.Find(cmd.Context())
	if err != nil {
		return err
	}
	defer found.Close()
	switch {
	case o.watch && len(found.Folders) == 0:
		return flags.Usage(cmd, errors.New("no folder to --watch is named"))
	case !o.watch && found.CheckInputs(search) != nil:
		return found.CheckInputs(search)
	}
	o.clips = !o.sheet || flags.Typed(cmd, "format")
	items, err := batch.Name(o.out, o.written, found.Inputs)
	if err != nil {
		return filearg.ExplainCollision(err)
	}
	part := o.shard.Select(items) // after naming: all shards give the same names
	ctx, cancel := context.WithCancelCause(cmd.Context())
	defer cancel(nil)
	r := a.newBatchRun(cmd, o, cancel)
	defer r.board.Close() // the process's end closes the remover, as in remove
	r.printRemarks(found)
	if o.shardText != "" {
		r.say("shard %s: %d of %d inputs", o.shard, len(part), len(items))
	}
	defer r.releasePlaces()
	if err := r.openManifest(ctx); err != nil {
		return err
	}
	if err := r.openNetwork(ctx, part); err != nil {
		return err
	}
	if err := r.remover.CheckBackground(ctx, o.Options); err != nil {
		return err
	}
	if err := r.prepare(ctx, found); err != nil {
		return err
	}
	if o.watch {
		return r.finish(ctx, r.watch(ctx, search, found, items))
	}
	return r.finish(ctx, r.run(ctx, append(found.Unread, part...)))
}

// openNetwork opens the network that all files need, so that a missing one
// fails at once.
func (r *batchRun) openNetwork(ctx context.Context, items []batch.Item) error {
	runner := r.newRunner()
	if bucket.IsAddress(r.o.manifest) {
		runner.Manifest = nil // objects are not asked for one by one only for this
	}
	if r.o.Method != bgremove.Rembg || r.o.outFolder == nil && runner.Remaining(ctx, items) == 0 {
		return nil
	}
	return r.remover.CanSegment(ctx, r.o.Model)
}

func (r *batchRun) newRunner() batch.Runner {
	runner := batch.Runner{Jobs: cmp.Or(r.o.jobs, min(max(2, cores.Count()/2), 8)), Work: r.remove, Report: r.report, Out: r.o.outFolder, Manifest: r.manifest, Line: r.manifestLine}
	if r.copies != nil {
		runner.Scratch = r.copies.Path()
	}
	switch {
	case r.o.force:
		runner.Redo = batch.RedoAll
	case r.o.update:
		runner.Redo = batch.RedoOlder
	}
	return runner
}

func (r *batchRun) run(ctx context.Context, items []batch.Item) error {
	r.addFiles(len(items))
	queue := make(chan batch.Item, len(items))
	for _, item := range items {
		queue <- item
	}
	close(queue)
	return r.newRunner().Run(ctx, queue)
}

// remove works on one file with a progress bar of its own.
func (r *batchRun) remove(ctx context.Context, item batch.Item, overwrite bool) (*bgremove.Result, error) {
	part := r.startFile(item)
	output, sheet := r.o.places(item)
	result, err := r.remover.Remove(ctx, item.Path, output, filearg.KeepFormat(output, r.o.Options), bgremove.Extras{Overwrite: overwrite, Sheet: sheet, Progress: part.progress})
	part.end(ctx.Err() != nil && err != nil)
	return result, err
}

// finish reports the outcome, and makes an error from the failures.
func (r *batchRun) finish(ctx context.Context, err error) error {
	r.board.Close()
	if !r.o.quiet {
		r.printSummary()
	}
	stop := isInterrupted(ctx, err)
	failed := r.counts[batch.Failed]
	some := &failure.PartialError{Failed: failed, Total: r.ended, Missing: r.missing == failed && r.counts[batch.Done] == 0, Lacks: r.lacks}
	switch {
	case stop && (!r.o.watch || r.dropped > 0):
		return &failure.Stopped{Message: fmt.Sprintf("interrupted after %d of %d files; the same command continues from there", r.ended, r.total)}
	case stop && failed > 0:
		return &serviceError{some}
	case stop:
		return nil
	case err != nil:
		return err
	case failed > 0:
		return some
	}
	return nil
}
