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
)

// bulk is an order for many files.
type bulk struct {
	*order
	askAbove  int
	yes       bool
	recursive bool

	outputs    []string // in the order of the files, with --wait
	deliveries []delivery
	batches    []string
	left       int // credits
}

func (c *customer) batchCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "batch FILE...",
		Short: "send several files",
		Long: `batch sends files, and the .gif, .mp4, .mov and .webm files in folders, to the
service, up to 20 in a batch, and prints the batches' ids. With --wait it waits for
all and downloads the results.

It asks before it spends more than --ask-above credits; --yes answers.`,
		Example: `  bgremove client batch *.gif --wait --out stickers --format apng
  bgremove client batch clips --recursive --wait --out stickers
  bgremove client batch a.mp4 b.mov --dry-run`,
		Args:              flags.SomeArguments("FILE"),
		ValidArgsFunction: filearg.CompleteClips,
	}
	b := &bulk{order: c.newOrder(cmd)}
	f := cmd.Flags()
	f.StringVarP(&b.output, "out", "o", "", "with --wait: the `folder` of the outputs (default: beside the inputs)")
	f.BoolVar(&b.recursive, "recursive", false, "also take the folders below, whose tree --out gets")
	f.IntVar(&b.askAbove, "ask-above", 100, "ask before more than so many `credits` are spent")
	f.BoolVar(&b.yes, "yes", false, "do not ask")
	cmd.RunE = func(cmd *cobra.Command, args []string) error { return b.run(cmd, args) }
	return cmd
}

func (b *bulk) run(cmd *cobra.Command, paths []string) error {
	files, err := b.find(paths)
	if err != nil {
		return err
	}
	var inputs []string
	for _, file := range files {
		inputs = append(inputs, file.Path)
	}
	if err := b.settle(cmd, "out", inputs); err != nil {
		return err
	}
	if b.dryRun {
		return b.quote(cmd.Context(), inputs)
	}
	s, err := b.connect()
	if err != nil {
		return err
	}
	if b.wait {
		if err := b.place(files); err != nil {
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
		err = b.fetch(cmd.Context(), s)
	}
	return b.report(err)
}

// find finds the inputs like batch. If a folder below cannot be read, find
// fails and nothing is sent.
func (b *bulk) find(paths []string) ([]batch.Input, error) {
	search := batch.Search{Paths: paths, Recursive: b.recursive, Out: b.output}
	found, err := search.Find()
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
	return found.Inputs, found.None(search)
}

// place finds a place for every output, before any payment.
func (b *bulk) place(files []batch.Input) error {
	files = slices.Clone(files)
	for i, file := range files {
		if b.output == "" {
			files[i].Folder = filepath.Dir(file.Path)
		}
	}
	items, err := batch.Name(b.output, b.options.EffectiveFormat(), files)
	if err != nil {
		return filearg.ExplainCollision(err)
	}
	if b.output != "" {
		if err := prepare(b.output, items); err != nil {
			return err
		}
	}
	for _, item := range items {
		if err := reserve(item.Output, b.force); err != nil {
			return err
		}
		b.outputs = append(b.outputs, item.Output)
	}
	return nil
}

// prepare creates the folders of the outputs.
func prepare(dir string, items []batch.Item) error {
	if err := batch.Prepare(dir); err != nil {
		return err
	}
	for _, item := range items {
		if folder := filepath.Dir(item.Output); item.Folder != "" {
			if err := os.MkdirAll(folder, 0o777); err != nil {
				return inTheWay(folder, err)
			}
		}
	}
	return nil
}

// send submits the files, with as many as possible in each batch.
func (b *bulk) send(ctx context.Context, s *client.Client, inputs []string) error {
	n := 0
	for chunk := range slices.Chunk(inputs, client.MaxBatch) {
		n++
		settings := b.settings()
		settings.IdempotencyKey = fmt.Sprintf("%s-%d", b.once, n)
		var files []client.File
		for _, input := range chunk {
			files = append(files, client.File{Path: input})
		}
		var end func()
		settings.Progress, end = b.moving("uploading")
		made, err := s.SubmitBatch(ctx, files, settings)
		end()
		if uncertain := (*client.UncertainError)(nil); errors.As(err, &uncertain) {
			uncertain.IdempotencyKey = b.once
		}
		if err != nil && len(b.batches) > 0 {
			return &goOn{taken: b.batches, once: b.once, err: err}
		}
		if err != nil {
			return err
		}
		b.taken(made, chunk)
	}
	return nil
}

// taken records a submitted batch.
func (b *bulk) taken(made client.BatchSubmission, inputs []string) {
	b.batches, b.left = append(b.batches, made.ID), made.CreditsRemaining
	for i, j := range made.Jobs {
		d := delivery{Batch: made.ID, ID: j.ID, Status: string(api.JobStatusQueued)}
		if i < len(inputs) {
			d.Input = inputs[i]
		}
		b.deliveries = append(b.deliveries, d)
	}
	b.announce("%s: %d files submitted, %d credits are left", made.ID, len(made.Jobs), made.CreditsRemaining)
}

// fetch waits for the batches in turn, and downloads finished results.
func (b *bulk) fetch(ctx context.Context, s *client.Client) error {
	for i, id := range b.batches {
		ended, err := b.awaitBatch(ctx, s, id)
		if err != nil {
			return &goOn{commands: b.rest(b.batches[i:], false), err: err}
		}
		for _, job := range ended.Jobs {
			if err := b.deliver(ctx, s, job); err != nil {
				return &goOn{commands: b.rest(b.batches[i:], true), ended: true, err: err}
			}
		}
	}
	err := failures(b.deliveries)
	if left := b.singly(func(delivery) bool { return true }); err != nil && len(left) > 0 {
		return &goOn{commands: left, ended: true, err: err}
	}
	return err
}

// deliver downloads the output of one job. A failure to store one output does
// not affect the others.
func (b *bulk) deliver(ctx context.Context, s *client.Client, job client.Job) error {
	at := slices.IndexFunc(b.deliveries, func(d delivery) bool { return d.ID == job.ID })
	if at < 0 {
		return nil
	}
	return b.obtain(ctx, s, job, &b.deliveries[at], b.outputs[at], b.force)
}

// obtain downloads the output of a job if it is done, and records the outcome.
// It returns only errors about a signal or the service.
func (c *customer) obtain(ctx context.Context, s *client.Client, job client.Job, d *delivery, output string, force bool) error {
	d.Status = string(job.Status)
	if job.Status == api.JobStatusFailed {
		if job.Error != nil {
			d.Error = *job.Error
		}
		c.line.Clear()
		c.Message("%s: %s", d.Input, d.Error)
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

// failures is the error for deliveries if some failed.
func failures(all []delivery) error {
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

// awaitBatch waits for a batch and shows its progress.
func (c *customer) awaitBatch(ctx context.Context, s *client.Client, id string) (client.Batch, error) {
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

// report prints the outcome of every file, even after failures.
func (b *bulk) report(err error) error {
	switch {
	case len(b.batches) == 0:
		return err
	case b.asJSON:
		printed := b.JSON(map[string]any{"batches": b.batches, "files": b.deliveries, "creditsRemaining": b.left})
		if printed != nil {
			return printed
		}
	case !b.wait:
		for _, id := range b.batches {
			fmt.Fprintln(b.Out, term.Printable(id))
		}
	}
	return err
}
