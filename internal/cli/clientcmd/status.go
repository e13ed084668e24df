package clientcmd

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/bgremove/bgremove/internal/cli/failure"
	"github.com/bgremove/bgremove/internal/cli/flags"
	"github.com/bgremove/bgremove/internal/cli/term"
	"github.com/bgremove/bgremove/pkg/api"
	"github.com/bgremove/bgremove/pkg/client"
)

// isBatch distinguishes ids of batches from those of jobs.
func isBatch(id string) bool { return strings.HasPrefix(id, "batch_") }

func (c *remote) statusCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:               "status ID",
		Short:             "show where a job or a batch is",
		Args:              flags.OneArgument("ID"),
		ValidArgsFunction: c.completeIDs(anyJob),
		RunE: func(cmd *cobra.Command, args []string) error {
			return c.show(cmd, args[0], (*client.Client).Job, (*client.Client).Batch)
		},
	}
	c.addFlags(cmd)
	return cmd
}

func (c *remote) waitCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "wait ID",
		Short: "wait until a job or a batch has ended, and show it",
		Long: `wait returns when a job, or every job of a batch, is done, has failed or was
cancelled. A job that is not done is exit code 1, a batch of which some are not
done 3.`,
		Args:              flags.OneArgument("ID"),
		ValidArgsFunction: c.completeIDs(runningJob),
	}
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		id := args[0]
		err := c.show(cmd, id, func(s *client.Client, ctx context.Context, id string) (client.Job, error) {
			job, err := c.waitJob(ctx, s, id)
			if errors.As(err, new(*client.JobFailedError)) {
				return job, nil // it is shown first
			}
			return job, err
		}, func(s *client.Client, ctx context.Context, id string) (client.Batch, error) {
			return c.waitBatch(ctx, s, id)
		})
		if err != nil && cmd.Context().Err() != nil {
			return &unfinishedError{commands: []string{c.commandLine("wait", id)}, err: err}
		}
		return err
	}
	c.addFlags(cmd)
	return cmd
}

// show fetches a job or a batch and shows it. For wait, a failure of the job is
// the error.
func (c *remote) show(cmd *cobra.Command, id string,
	ofJob func(*client.Client, context.Context, string) (client.Job, error),
	ofBatch func(*client.Client, context.Context, string) (client.Batch, error)) error {
	s, err := c.ask(cmd)
	if err != nil {
		return err
	}
	var shown any
	var jobs []client.Job
	if isBatch(id) {
		var b client.Batch
		b, err = ofBatch(s, cmd.Context(), id)
		shown, jobs = b, b.Jobs
	} else {
		var j client.Job
		j, err = ofJob(s, cmd.Context(), id)
		shown, jobs = j, []client.Job{j}
	}
	if err != nil {
		return withID(id, err)
	}
	if c.asJSON {
		err = c.JSON(shown)
	} else {
		err = c.printJobs(jobs)
	}
	if err != nil || cmd.Name() != "wait" {
		return err
	}
	return jobError(id, jobs)
}

// printJobs prints a line for each job.
func (c *remote) printJobs(jobs []client.Job) error {
	rows := make([][]string, len(jobs))
	for i, j := range jobs {
		rows[i] = []string{j.ID, string(j.Status), j.Metadata.OriginalName, detail(j.Error, j.OutputFormat, j.Metadata)}
	}
	return c.printTable(rows)
}

// detail is what became of a job, in the words of its state.
func detail(reason *string, format api.OutputFormat, m api.Metadata) string {
	switch {
	case reason != nil:
		return (&client.JobFailedError{Code: *reason}).Reason()
	case m.OutputSize != nil:
		return string(format) + ", " + term.ByteSize(*m.OutputSize)
	}
	return ""
}

// printTable prints rows with their columns below each other.
func (c *remote) printTable(rows [][]string) error {
	w := tabwriter.NewWriter(c.Out, 0, 0, 2, ' ', 0)
	for _, row := range rows {
		for i, cell := range row {
			row[i] = term.Printable(cell)
		}
		fmt.Fprintln(w, strings.Join(row, "\t"))
	}
	return w.Flush()
}

// jobError is an error if a job that was waited for has failed.
func jobError(id string, jobs []client.Job) error {
	failed := 0
	for _, j := range jobs {
		err := client.Failure(j)
		if err == nil {
			continue
		}
		if !isBatch(id) {
			return err
		}
		failed++
	}
	if failed == 0 {
		return nil
	}
	return &failure.PartialError{Failed: failed, Total: len(jobs)}
}
