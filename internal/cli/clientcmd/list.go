package clientcmd

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/bgremove/bgremove/internal/cli/flags"
	"github.com/bgremove/bgremove/pkg/api"
	"github.com/bgremove/bgremove/pkg/client"
)

// listDefault is how many jobs are listed unless --limit says otherwise.
const listDefault = 20

// states are those that list can choose, in the order in which jobs pass them.
var states = []string{string(api.JobStatusQueued), string(api.JobStatusProcessing), string(api.JobStatusDone),
	string(api.JobStatusFailed), string(api.JobStatusCancelled)}

func (c *remote) listCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "list",
		Short: "show the key's jobs, the newest first",
		Example: `  bgremove client list
  bgremove client list --status failed --since 24h
  bgremove client list --since 2026-11-01 --limit 0 --json | jq -r '.jobs[].id'`,
		Args:              cobra.NoArgs,
		ValidArgsFunction: cobra.NoFileCompletions,
	}
	var status, since string
	var limit int
	f := cmd.Flags()
	f.StringVar(&status, "status", "", "only the jobs in this `state`: "+strings.Join(states, ", "))
	f.StringVar(&since, "since", "", "only the jobs created since a `time`: 2026-11-21, 2026-11-21T10:02:11Z, or 24h ago as 24h")
	f.IntVar(&limit, "limit", listDefault, "how many jobs at most; 0 is all")
	_ = cmd.RegisterFlagCompletionFunc("status", cobra.FixedCompletions(states, cobra.ShellCompDirectiveNoFileComp)) // the flag is there
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		o := client.ListOptions{Status: api.JobStatus(status)}
		var err error
		switch {
		case status != "" && !slices.Contains(states, status):
			err = fmt.Errorf("--status must be one of %s", strings.Join(states, ", "))
		case limit < 0:
			err = errors.New("--limit must not be negative")
		case since != "":
			o.Since, err = parseSince(since, time.Now())
		}
		if err != nil {
			return flags.Usage(cmd, err)
		}
		return c.list(cmd, o, limit)
	}
	c.addFlags(cmd)
	return cmd
}

// parseSince is a day, a moment, or a duration before now.
func parseSince(text string, now time.Time) (time.Time, error) {
	if ago, err := time.ParseDuration(text); err == nil && ago >= 0 {
		return now.Add(-ago), nil
	}
	for _, layout := range []string{time.DateOnly, time.RFC3339} {
		if at, err := time.Parse(layout, text); err == nil {
			return at, nil
		}
	}
	return time.Time{}, errors.New("--since must be a day such as 2026-11-21, a time such as 2026-11-21T10:02:11Z, or a duration such as 24h")
}

func (c *remote) list(cmd *cobra.Command, o client.ListOptions, limit int) error {
	s, err := c.ask(cmd)
	if err != nil {
		return err
	}
	jobs := []client.ListedJob{}
	for j, err := range s.Jobs(cmd.Context(), o) {
		if err != nil {
			return err
		}
		if jobs = append(jobs, j); len(jobs) == limit {
			break
		}
	}
	if c.asJSON {
		return c.JSON(map[string]any{"jobs": jobs})
	}
	rows := make([][]string, len(jobs))
	for i, j := range jobs {
		rows[i] = []string{j.ID, string(j.Status), j.CreatedAt.Local().Format("2006-01-02 15:04"), j.Metadata.OriginalName,
			detail(j.Error, j.OutputFormat, j.Metadata)}
	}
	return c.printTable(rows)
}
