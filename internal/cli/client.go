package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/bgremove/bgremove/internal/cli/term"
	"github.com/bgremove/bgremove/pkg/bgremove"
	"github.com/bgremove/bgremove/pkg/client"
)

// customer is the state that the commands of `client` share.
type customer struct {
	*app
	server, key string
	asJSON      bool
	quiet       bool
	line        *term.StatusLine
}

func (a *app) clientCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "client",
		Short: "have a service take the background out",
		Long: `client sends files to a bgremove service, waits for them and gets the results.
--server or BGREMOVE_SERVER says where it is. BGREMOVE_API_KEY, or api-key in
the configuration file, holds the key; it is never on the command line, where
others could read it.`,
		Example: `  bgremove client submit clip.mp4 --wait
  bgremove client batch *.gif --format apng --wait --out stickers
  bgremove client status job_06dwb6z7mc3qjk8v1r5t9x2wne --json`,
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	c := &customer{app: a}
	cmd.AddCommand(c.submitCommand(), c.batchCommand(), c.statusCommand(), c.waitCommand(), c.downloadCommand())
	return cmd
}

// flags adds the flags that all commands of client have.
func (c *customer) flags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&c.server, "server", "", "the service's `address`, such as https://clips.example")
	f.BoolVar(&c.asJSON, "json", false, "print one JSON object")
	f.BoolVarP(&c.quiet, "quiet", "q", false, "no progress, no messages but errors")
	f.StringVar(&c.key, "api-key", "", "")
	hide(cmd, "api-key")
	f.SortFlags = false
}

// hide hides flags that only the environment and the file may set.
func hide(cmd *cobra.Command, names ...string) {
	for _, name := range names {
		f := cmd.Flags().Lookup(name)
		f.Hidden = true
		f.Annotations = map[string][]string{"setting": nil}
	}
}

// settingsOnly refuses hidden flags on the command line.
func (a *app) settingsOnly(cmd *cobra.Command) error {
	for name := range a.typed {
		if f := cmd.Flags().Lookup(name); f == nil || !f.Hidden {
			continue
		}
		if name == "api-key" {
			return usage(cmd, errors.New("the key on the command line could be read by others: use BGREMOVE_API_KEY"))
		}
		return usage(cmd, fmt.Errorf("unknown flag: --%s", name))
	}
	return nil
}

// connect creates the client of a command.
func (c *customer) connect() (*client.Client, error) {
	if c.server == "" {
		return nil, &bgremove.Error{Kind: bgremove.Invalid, Cause: noService, Reason: "no service is named"}
	}
	o := client.Options{UserAgent: "bgremove/" + c.build().Version, OnRetry: c.retrying}
	s, err := client.New(c.server, strings.TrimSpace(c.key), o)
	if errors.Is(err, client.ErrKey) {
		return nil, err
	}
	if err != nil {
		return nil, &bgremove.Error{Kind: bgremove.Invalid, Cause: noService, Reason: err.Error(), Err: err}
	}
	if !c.quiet {
		c.line = c.NewStatusLine()
	}
	return s, nil
}

// toOutput refuses a result on standard output if that has another use.
func (c *customer) toOutput(cmd *cobra.Command, output string) error {
	switch {
	case output != "-":
	case c.asJSON:
		return usage(cmd, errJSONToo)
	case term.IsTerminal(c.Out):
		return usage(cmd, errTerminal)
	}
	return nil
}

// retrying explains a delay.
func (c *customer) retrying(r client.Retry) {
	if !c.quiet {
		c.line.Clear()
		c.Message("%v; trying again in %v", r.Err, r.Wait.Round(100*time.Millisecond))
	}
}

// say prints a message unless --quiet is set.
func (c *customer) say(format string, args ...any) {
	c.line.Clear()
	if !c.quiet {
		c.Message(format, args...)
	}
}

// announce prints a result if --json does not.
func (c *customer) announce(format string, args ...any) {
	if !c.asJSON {
		c.say(format, args...)
	}
}

// moving shows the progress of a transfer.
func (c *customer) moving(title string) (progress func(done, total int64), end func()) {
	if c.quiet {
		return nil, func() {}
	}
	c.line.Clear()
	bar := c.NewByteBar(title)
	return bar.SetBytes, bar.Close
}

// download fetches the output of a job to its place.
func (c *customer) download(ctx context.Context, s *client.Client, id, path string, force bool) (int64, error) {
	if path == "-" {
		return s.DownloadTo(ctx, id, c.Out)
	}
	progress, end := c.moving("downloading")
	size, err := s.Download(ctx, id, path, client.DownloadOptions{Overwrite: force, Progress: progress})
	end()
	if err != nil {
		return 0, inTheWay(path, err)
	}
	c.announce("%s: %s", path, byteSize(size))
	return size, nil
}
