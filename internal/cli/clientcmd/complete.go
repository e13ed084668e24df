package clientcmd

import (
	"context"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/bgremove/bgremove/internal/cli/term"
	"github.com/bgremove/bgremove/pkg/api"
	"github.com/bgremove/bgremove/pkg/client"
)

const (
	// completionTime is how long a shell waits for the service.
	completionTime = 2 * time.Second
	// completionJobs is how many jobs are looked at, the newest first.
	completionJobs = 100
)

// Which jobs a command is for.
func anyJob(client.Job) bool       { return true }
func runningJob(j client.Job) bool { return !client.Ended(j) }
func doneJob(j client.Job) bool    { return j.Status == api.JobStatusDone }

// completeIDs offers a shell the ids of the wanted jobs, and those of their batches, the
// newest first. Where the service cannot be asked it offers none and says nothing: a
// message would end up in the command line.
func (c *remote) completeIDs(wanted func(client.Job) bool) cobra.CompletionFunc {
	const directive = cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveKeepOrder
	return func(cmd *cobra.Command, args []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
		if len(args) > 0 {
			return nil, directive
		}
		return c.ids(cmd, wanted), directive
	}
}

func (c *remote) ids(cmd *cobra.Command, wanted func(client.Job) bool) (all []cobra.Completion) {
	s, ctx, cancel := c.toComplete(cmd)
	defer cancel()
	if s == nil {
		return nil
	}
	seen, batches := 0, map[string]bool{}
	for j, err := range s.Jobs(ctx, client.ListOptions{}) {
		if seen++; err != nil || seen > completionJobs {
			break
		}
		if !wanted(client.Job{Status: j.Status}) {
			continue
		}
		all = append(all, cobra.CompletionWithDesc(j.ID, string(j.Status)+", "+term.Printable(j.Metadata.OriginalName)))
		if j.BatchID != nil && !batches[*j.BatchID] {
			batches[*j.BatchID] = true
			all = append(all, cobra.CompletionWithDesc(*j.BatchID, "the batch of "+j.ID))
		}
	}
	return all
}

// completeModel offers a shell the networks that a submission may choose.
func (c *remote) completeModel(cmd *cobra.Command, _ []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
	s, ctx, cancel := c.toComplete(cmd)
	defer cancel()
	if s == nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	account, _ := s.Account(ctx) // with an error there are none
	return account.Models, cobra.ShellCompDirectiveNoFileComp
}

// toComplete is the service to ask, for a short time; nil if none can be asked.
func (c *remote) toComplete(cmd *cobra.Command) (*client.Client, context.Context, context.CancelFunc) {
	ctx, cancel := context.WithTimeout(cmd.Context(), completionTime)
	if cmd.Flags().Set("quiet", "true") != nil || cmd.Root().PersistentPreRunE(cmd, nil) != nil { // the settings
		return nil, ctx, cancel
	}
	s, err := client.New(c.server, strings.TrimSpace(c.key), client.Options{UserAgent: "bgremove/" + c.version, Tries: 1})
	if err != nil {
		s = nil
	}
	return s, ctx, cancel
}
