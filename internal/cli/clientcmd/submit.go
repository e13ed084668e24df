package clientcmd

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/bgremove/bgremove/internal/cli/filearg"
	"github.com/bgremove/bgremove/internal/cli/flags"
	"github.com/bgremove/bgremove/internal/cli/term"
	"github.com/bgremove/bgremove/pkg/bgremove"
	"github.com/bgremove/bgremove/pkg/client"
)

// fileResult is the outcome of a submitted file.
type fileResult struct {
	Input      string `json:"input,omitempty"`
	ID         string `json:"id"`
	Batch      string `json:"batch,omitempty"`
	Status     string `json:"status"`
	Error      string `json:"error,omitempty"`
	Output     string `json:"output,omitempty"`
	OutputSize int64  `json:"outputSize,omitempty"`
}

func (c *remote) submitCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "submit FILE",
		Short: "send one file",
		Long: `submit sends a file to the service, which charges it, and prints the job's id.
With --wait it waits for the job and downloads the result. FILE may be an https
address that the service fetches, if its operator lets it.

A connection that breaks is no reason to worry: the submission is sent again,
and charged once.`,
		Example: `  bgremove client submit clip.mp4 --wait
  bgremove client submit walk.gif --format apng --canvas-w 128 --wait -o walk.apng
  bgremove client submit https://example.com/clip.mp4 --wait
  id=$(bgremove client submit clip.gif --method fast)
  bgremove client submit clip.mov --dry-run`,
		Args:              flags.OneArgument("FILE"),
		ValidArgsFunction: filearg.CompleteUploads,
	}
	o := c.newSubmission(cmd)
	cmd.Flags().StringVarP(&o.output, "output", "o", "", "with --wait: the output `file`, whose extension decides the format, or its folder; - is standard output (default: FILE's name with -nobg, beside it, or here for an address)")
	cmd.RunE = func(cmd *cobra.Command, args []string) error { return o.submit(cmd, args[0]) }
	return cmd
}

func (o *submission) submit(cmd *cobra.Command, input string) error {
	if err := filearg.SetFormat(cmd, o.output, &o.options.Format); err != nil {
		return err
	}
	if err := o.checkStdout(cmd, o.output); err != nil {
		return err
	}
	file, files, local := client.File{Path: input}, []string{input}, input
	if filearg.IsURL(input) {
		file, files, local = client.File{URL: input}, nil, filearg.URLName(input)
	}
	if err := o.validate(cmd, "output", files); err != nil {
		return err
	}
	if o.dryRun && files == nil {
		return flags.Usage(cmd, errors.New("--dry-run needs a file on this machine, to measure it"))
	}
	if o.dryRun {
		return o.printPrice(cmd.Context(), []string{input})
	}
	s, err := o.connect()
	if err != nil {
		return err
	}
	output := OutputPath(local, o.output, o.options)
	if o.wait && output != "-" {
		if err := CheckOutput(file.Path, output, o.force); err != nil {
			return err
		}
	}
	job, err := o.send(cmd.Context(), s, input, file)
	if err != nil {
		return err
	}
	d := fileResult{Input: input, ID: job.ID, Status: string(job.Status)}
	if o.wait {
		err = o.waitAndDownload(cmd.Context(), s, &d, output)
	} else {
		o.announce("%s: submitted%s; bgremove client wait %s waits for it", input, o.balanceText(cmd.Context(), s, job.CreditsRemaining), job.ID)
	}
	return o.print(d, job.CreditsRemaining, err)
}

// balanceText is a balance in words, or nothing where credits are unlimited. A receipt
// does not tell that, but only a balance of 0 leaves it open.
func (c *remote) balanceText(ctx context.Context, s *client.Client, balance int) string {
	if balance == 0 && !c.asJSON && !c.quiet {
		if a, err := s.Account(ctx); err == nil && a.Unlimited {
			return ""
		}
	}
	return fmt.Sprintf(", credits left: %d", balance)
}

// OutputPath is the path of a result that is asked for as output, which may be empty or a
// folder.
func OutputPath(input, output string, o bgremove.Options) string {
	if output == "" || filearg.IsOutputFolder(output) {
		return filearg.OutputPath(input, output, o.EffectiveFormat())
	}
	return bgremove.EffectivePath(output, o)
}

// send submits the file, which input names in messages.
func (o *submission) send(ctx context.Context, s *client.Client, input string, file client.File) (client.Submission, error) {
	settings := o.jobOptions()
	var end func()
	settings.Progress, end = o.startTransfer("uploading")
	job, err := s.Submit(ctx, file, settings)
	end()
	return job, withInput(input, err)
}

// waitAndDownload waits for a job and downloads its output.
func (o *submission) waitAndDownload(ctx context.Context, s *client.Client, d *fileResult, output string) error {
	job, err := o.waitJob(ctx, s, d.ID)
	if err != nil {
		return o.recordFailure(d, job, output, err)
	}
	d.Status = string(job.Status)
	if d.OutputSize, err = o.download(ctx, s, d.ID, output, o.force); err != nil {
		return &unfinishedError{commands: []string{o.downloadCommandLine(d.ID, o.force, "-o", output)}, ended: true, err: err}
	}
	d.Output = output
	return nil
}

// recordFailure records a failed job; other errors say how to continue.
func (o *submission) recordFailure(d *fileResult, job client.Job, output string, err error) error {
	if failed, ok := errors.AsType[*client.JobFailedError](err); ok {
		d.Status, d.Error = string(job.Status), failed.Code
		return err
	}
	return &unfinishedError{commands: []string{o.commandLine("wait", d.ID) + " && " + o.downloadCommandLine(d.ID, o.force, "-o", output)}, err: err}
}

// waitJob waits for a job and shows its progress.
func (c *remote) waitJob(ctx context.Context, s *client.Client, id string) (client.Job, error) {
	begun := time.Now()
	defer c.line.Clear()
	return s.Wait(ctx, id, func(j client.Job) {
		c.line.Set(fmt.Sprintf("%s: %s, %.0f s", id, j.Status, time.Since(begun).Seconds()))
	})
}

// print prints the outcome of a submission, even if it failed.
func (o *submission) print(d fileResult, left int, err error) error {
	switch {
	case o.asJSON:
		line := struct {
			fileResult
			CreditsRemaining int `json:"creditsRemaining"`
		}{d, left}
		if printed := o.JSON(line); printed != nil {
			return printed
		}
	case !o.wait:
		if _, printed := fmt.Fprintln(o.Out, term.Printable(d.ID)); printed != nil {
			return printed
		}
	}
	return err
}
