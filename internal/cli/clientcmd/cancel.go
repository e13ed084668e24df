package clientcmd

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/bgremove/bgremove/internal/cli/flags"
	"github.com/bgremove/bgremove/pkg/client"
)

func (c *remote) cancelCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "cancel ID",
		Short: "cancel a job, or the jobs of a batch that have not ended",
		Long: `cancel stops a job that waits or is being processed. Its credits are given back. A
job that has ended stays as it is; with --remove-files the service deletes its
files.`,
		Args:              flags.OneArgument("ID"),
		ValidArgsFunction: c.completeIDs(anyJob),
	}
	var removeFiles bool
	cmd.Flags().BoolVar(&removeFiles, "remove-files", false, "delete the files of jobs that have ended")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		// The state is asked for at the last moment: the request that cancels a job deletes
		// the files of one that has ended.
		cancel := func(s *client.Client, ctx context.Context, id string) (client.Job, error) {
			j, err := s.Job(ctx, id)
			if err != nil {
				return j, err
			}
			if !client.Ended(j) || removeFiles {
				return s.Delete(ctx, id)
			}
			c.announce("%s has ended: %s", id, j.Status)
			return j, nil
		}
		return c.show(cmd, args[0], cancel, func(s *client.Client, ctx context.Context, id string) (client.Batch, error) {
			b, err := s.Batch(ctx, id)
			if err != nil {
				return b, err
			}
			for _, j := range b.Jobs {
				if _, err := cancel(s, ctx, j.ID); err != nil {
					return b, err
				}
			}
			return s.Batch(ctx, id)
		})
	}
	c.addFlags(cmd)
	return cmd
}
