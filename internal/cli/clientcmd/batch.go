package clientcmd

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/bgremove/bgremove/internal/batch"
	"github.com/bgremove/bgremove/internal/cli/failure"
	"github.com/bgremove/bgremove/internal/cli/filearg"
	"github.com/bgremove/bgremove/internal/cli/flags"
	"github.com/bgremove/bgremove/internal/cli/term"
	"github.com/bgremove/bgremove/pkg/api"
	"github.com/bgremove/bgremove/pkg/client"
	"github.com/bgremove/bgremove/pkg/option"
)

// batchSubmission is a submission of many files.
type batchSubmission struct {
	*submission
	askAbove  int
	yes       bool
	recursive bool

	outputs     []string // in the order of the files, with --wait
	results     []fileResult
	batchIDs    []string
	creditsLeft int
}

func (c *remote) batchCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "batch FILE...",
		Short: "send several files",
		Long: `batch sends files, and the ` + option.List(option.UploadExtensions(), "and") + ` files in folders, to the
service, up to 20 in a batch, and prints the batches' ids. With --wait it waits for
all and downloads the results.

It asks before it spends more than --ask-above credits; --yes answers.`,
		Example: `  bgremove client batch *.gif --wait --out stickers --format apng
  bgremove client batch clips --recursive --wait --out stickers
  bgremove client batch a.mp4 b.mov --dry-run`,
		Args:              flags.SomeArguments("FILE"),
		ValidArgsFunction: filearg.CompleteUploads,
	}
	b := &batchSubmission{submission: c.newSubmission(cmd)}
	f := cmd.Flags()
	f.StringVarP(&b.output, "out", "o", "", "with --wait: the `folder` of the outputs (default: beside the inputs)")
	f.BoolVar(&b.recursive, "recursive", false, "also take the folders below, whose tree --out gets")
	f.IntVar(&b.askAbove, "ask-above", 100, "ask before more than so many `credits` are spent")
	f.BoolVar(&b.yes, "yes", false, "do not ask")
	cmd.RunE = func(cmd *cobra.Command, args []string) error { return b.run(cmd, args) }
	return cmd
}

func (b *batchSubmission) run(cmd *cobra.Command, paths []string) error {
	if b.wait && b.output == "-" {
		return flags.Usage(cmd, filearg.ErrStdoutFolder)
	}
	files, err := b.findInputs(cmd.Context(), paths)
	if err != nil {
		return err
	}
	var inputs []string
	for _, file := range files {
		inputs = append(inputs, file.Path)
	}
	if err := b.validate(cmd, "out", inputs); err != nil {
		return err
	}
	if b.dryRun {
		return b.printPrice(cmd.Context(), inputs)
	}
	s, err := b.connect()
	if err != nil {
		return err
	}
	if b.wait {
		if err := b.nameOutputs(files); err != nil {
			return err
		}
	}
	if !b.yes {
		if err := b.confirm(cmd, inputs, b.askAbove); err != nil {
			return err
		}
	}
	err = b.send(cmd.Context(), s, inputs)
	if err == nil && b.wait {
		err = b.waitAndDownload(cmd.Context(), s)
	}
	return b.print(err)
}

// findInputs finds the inputs like batch. If a folder below cannot be read, it
// fails and nothing is sent.
func (b *batchSubmission) findInputs(ctx context.Context, paths []string) ([]batch.Input, error) {
	search := batch.Search{Paths: paths, Recursive: b.recursive, Out: b.output, Uploads: true}
	found, err := search.Find(ctx)
	if err != nil {
		return nil, err
	}
	for _, path := range found.Outputs {
		b.say("%s: skipped, because its name is that of an output", path)
	}
	for _, dir := range found.Empty {
		b.say("%s: no clips in it", dir)
	}
	for _, item := range found.Unread {
		return nil, item.Err
	}
	return found.Inputs, found.CheckInputs(search)
}

// nameOutputs names every output, and checks that it can be written, before any
// payment.
func (b *batchSubmission) nameOutputs(files []batch.Input) error {
	files = slices.Clone(files)
	for i, file := range files {
		if b.output == "" {
			files[i].Folder = filepath.Dir(file.Path)
		}
	}
	items, err := batch.Name(b.output, batch.Always(b.options.EffectiveFormat()), files)
	if err != nil {
		return filearg.ExplainCollision(err)
	}
	if b.output != "" {
		if err := createFolders(b.output, items); err != nil {
			return err
		}
	}
	for _, item := range items {
		if err := CheckOutput(item.Path, item.Output, b.force); err != nil {
			return err
		}
		b.outputs = append(b.outputs, item.Output)
	}
	return nil
}

// createFolders creates the folders of the outputs.
func createFolders(dir string, items []batch.Item) error {
	if err := batch.Prepare(dir); err != nil {
		return err
	}
	for _, item := range items {
		if folder := filepath.Dir(item.Output); item.Folder != "" {
			if err := os.MkdirAll(folder, 0o777); err != nil {
				return explainOutput(folder, err)
			}
		}
	}
	return nil
}

// send submits the files, with as many as possible in each batch.
func (b *batchSubmission) send(ctx context.Context, s *client.Client, inputs []string) error {
	n := 0
	for chunk := range slices.Chunk(inputs, client.MaxBatch) {
		n++
		settings := b.jobOptions()
		settings.IdempotencyKey = fmt.Sprintf("%s-%d", b.idempotencyKey, n)
		var files []client.File
		for _, input := range chunk {
			files = append(files, client.File{Path: input})
		}
		var end func()
		settings.Progress, end = b.startTransfer("uploading")
		reply, err := s.SubmitBatch(ctx, files, settings)
		end()
		if uncertain := (*client.UncertainError)(nil); errors.As(err, &uncertain) {
			uncertain.IdempotencyKey = b.idempotencyKey
		}
		if err != nil && len(b.batchIDs) > 0 {
			return &unfinishedError{submitted: b.batchIDs, idempotencyKey: b.idempotencyKey, err: err}
		}
		if err != nil {
			return err
		}
		b.record(ctx, s, reply, chunk)
	}
	return nil
}

// record records a submitted batch.
func (b *batchSubmission) record(ctx context.Context, s *client.Client, reply client.BatchSubmission, inputs []string) {
	b.batchIDs, b.creditsLeft = append(b.batchIDs, reply.ID), reply.CreditsRemaining
	for i, j := range reply.Jobs {
		d := fileResult{Batch: reply.ID, ID: j.ID, Status: string(api.JobStatusQueued)}
		if i < len(inputs) {
			d.Input = inputs[i]
		}
		b.results = append(b.results, d)
	}
	b.announce("%s: %s submitted%s", reply.ID, term.Count(len(reply.Jobs), "file"), b.balanceText(ctx, s, reply.CreditsRemaining))
}

// waitAndDownload waits for the batches in turn, and downloads finished results.
func (b *batchSubmission) waitAndDownload(ctx context.Context, s *client.Client) error {
	for i, id := range b.batchIDs {
		ended, err := b.waitBatch(ctx, s, id)
		if err != nil {
			return &unfinishedError{commands: b.resumeCommands(b.batchIDs[i:], false), err: err}
		}
		for _, job := range ended.Jobs {
			if err := b.downloadJob(ctx, s, job); err != nil {
				return &unfinishedError{commands: b.resumeCommands(b.batchIDs[i:], true), ended: true, err: err}
			}
		}
	}
	err := partialError(b.results)
	if commands := b.downloadCommands(func(fileResult) bool { return true }); err != nil && len(commands) > 0 {
		return &unfinishedError{commands: commands, ended: true, err: err}
	}
	return err
}

// downloadJob downloads the output of one job. A failure to store one output does
// not affect the others.
func (b *batchSubmission) downloadJob(ctx context.Context, s *client.Client, job client.Job) error {
	at := slices.IndexFunc(b.results, func(d fileResult) bool { return d.ID == job.ID })
	if at < 0 {
		return nil
	}
	return b.downloadResult(ctx, s, job, &b.results[at], b.outputs[at], b.force)
}

// downloadResult downloads the output of a job if it is done, and records the outcome.
// It returns only errors about a signal or the service.
func (c *remote) downloadResult(ctx context.Context, s *client.Client, job client.Job, d *fileResult, output string, force bool) error {
	d.Status = string(job.Status)
	if failed, ok := errors.AsType[*client.JobFailedError](client.Failure(job)); ok {
		d.Error = failed.Code
		c.line.Clear()
		c.Message("%s: %s", d.Input, failed.Reason())
		if hint := serviceHint(failed); hint != c.hinted {
			c.hinted = hint
			c.Hint(hint)
		}
		return nil
	}
	size, err := c.download(ctx, s, job.ID, output, force)
	switch {
	case err == nil:
		d.Output, d.OutputSize = output, size
		return nil
	case ctx.Err() != nil, errors.Is(err, client.ErrUnauthorized), errors.As(err, new(*client.ConnectionError)):
		return err
	}
	d.Error = err.Error()
	c.line.Clear()
	c.Message("%v", err)
	return nil
}

// partialError is the error for results if some failed.
func partialError(all []fileResult) error {
	failed := 0
	for _, d := range all {
		if d.Error != "" {
			failed++
		}
	}
	if failed == 0 {
		return nil
	}
	return &failure.PartialError{Failed: failed, Total: len(all)}
}

// waitBatch waits for a batch and shows its progress.
func (c *remote) waitBatch(ctx context.Context, s *client.Client, id string) (client.Batch, error) {
	begun := time.Now()
	defer c.line.Clear()
	return s.WaitBatch(ctx, id, func(b client.Batch) {
		ended := 0
		for _, j := range b.Jobs {
			if client.Ended(j) {
				ended++
			}
		}
		c.line.Set(fmt.Sprintf("%s: %d of %d, %.0f s", id, ended, len(b.Jobs), time.Since(begun).Seconds()))
	})
}

// print prints the outcome of every file, even after failures.
func (b *batchSubmission) print(err error) error {
	switch {
	case len(b.batchIDs) == 0:
		return err
	case b.asJSON:
		printed := b.JSON(map[string]any{"batches": b.batchIDs, "files": b.results, "creditsRemaining": b.creditsLeft})
		if printed != nil {
			return printed
		}
	case !b.wait:
		for _, id := range b.batchIDs {
			if _, printed := fmt.Fprintln(b.Out, term.Printable(id)); printed != nil {
				return printed
			}
		}
	}
	return err
}
