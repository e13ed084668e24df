package clientcmd

import (
	"cmp"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/bgremove/bgremove/internal/cli/flags"
	"github.com/bgremove/bgremove/internal/cli/term"
)

func (c *remote) accountCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "account",
		Short: "show the credits, the limits and the usage of the key's account",
		Long: `account shows the balance of the key's account and the limits of the service. With
--usage it shows what the account used, by day (UTC).`,
		Example: `  bgremove client account
  bgremove client account --json | jq .credits
  bgremove client account --usage --from 2026-11-01 --to 2026-11-30`,
		Args:              cobra.NoArgs,
		ValidArgsFunction: cobra.NoFileCompletions,
	}
	var usage bool
	var from, to string
	f := cmd.Flags()
	f.BoolVar(&usage, "usage", false, "the jobs, frames, seconds and credits of each day")
	f.StringVar(&from, "from", "", "with --usage: the first `day` (default: 29 days before the last)")
	f.StringVar(&to, "to", "", "with --usage: the last `day` (default: today)")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		first, err := parseDay("from", from)
		if err != nil {
			return flags.Usage(cmd, err)
		}
		last, err := parseDay("to", to)
		switch {
		case err != nil:
			return flags.Usage(cmd, err)
		case !usage && (from != "" || to != ""):
			return flags.Usage(cmd, errors.New("--from and --to need --usage"))
		case usage:
			return c.usage(cmd, first, last)
		}
		return c.account(cmd)
	}
	c.addFlags(cmd)
	return cmd
}

// parseDay is a day, or zero without a text.
func parseDay(flag, text string) (time.Time, error) {
	if text == "" {
		return time.Time{}, nil
	}
	day, err := time.Parse(time.DateOnly, text)
	if err != nil {
		return time.Time{}, fmt.Errorf("--%s must be a day such as 2026-11-21", flag)
	}
	return day, nil
}

func (c *remote) account(cmd *cobra.Command) error {
	s, err := c.ask(cmd)
	if err != nil {
		return err
	}
	a, err := s.Account(cmd.Context())
	switch {
	case err != nil:
		return err
	case c.asJSON:
		return c.JSON(a)
	}
	credits, plan := fmt.Sprint(a.Credits), "none"
	if a.Unlimited {
		credits = "unlimited"
	}
	if a.Plan != nil {
		plan = *a.Plan
	}
	l := a.Limits
	return c.printTable([][]string{
		{"credits", credits},
		{"plan", plan},
		{"largest file", limit(l.FileSize, term.ByteSize(l.FileSize))},
		{"longest clip", limit(int64(l.Duration), seconds(l.Duration))},
		{"largest side", limit(int64(l.Dimension), fmt.Sprintf("%d pixels", l.Dimension))},
		{"running jobs", fmt.Sprint(l.RunningJobs)},
		{"files of a batch", fmt.Sprint(l.FilesPerBatch)},
		{"networks", cmp.Or(strings.Join(a.Models, ", "), "the service's own")},
		{"requests", fmt.Sprintf("%d a minute, %d at once", l.RequestsPerMinute, l.Burst)},
		{"uploads kept", seconds(float64(l.KeepInputs))},
		{"results kept", seconds(float64(l.KeepOutputs))},
	})
}

// limit is the text of a limit, of which 0 is none.
func limit(n int64, text string) string {
	if n == 0 {
		return "no limit"
	}
	return text
}

func seconds(n float64) string { return time.Duration(n * float64(time.Second)).String() }

func (c *remote) usage(cmd *cobra.Command, from, to time.Time) error {
	s, err := c.ask(cmd)
	if err != nil {
		return err
	}
	u, err := s.Usage(cmd.Context(), from, to)
	switch {
	case err != nil:
		return err
	case c.asJSON:
		return c.JSON(u)
	}
	rows := [][]string{}
	row := func(name string, jobs, frames int64, seconds float64, credits int64) {
		rows = append(rows, []string{name, term.Count(jobs, "job"), term.Count(frames, "frame"), fmt.Sprintf("%.3f s", seconds), term.Count(credits, "credit")})
	}
	for _, d := range u.Days {
		row(d.Date, d.Jobs, d.Frames, d.Seconds, d.Credits)
	}
	row("all", u.Total.Jobs, u.Total.Frames, u.Total.Seconds, u.Total.Credits)
	return c.printTable(rows)
}
