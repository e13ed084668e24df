// Package clientcmd has the commands that talk to a service: bgremove client. It
// reaches the service through pkg/client alone.
package clientcmd

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/bgremove/bgremove/internal/cli/failure"
	"github.com/bgremove/bgremove/internal/cli/filearg"
	"github.com/bgremove/bgremove/internal/cli/flags"
	"github.com/bgremove/bgremove/internal/cli/term"
	"github.com/bgremove/bgremove/pkg/bgremove"
	"github.com/bgremove/bgremove/pkg/client"
)

// remote is the state that the commands of `client` share.
type remote struct {
	*term.Streams
	version     string
	engine      bgremove.Config // for prices
	server, key string
	asJSON      bool
	quiet       bool
	line        *term.StatusLine
	hinted      string   // the last hint on a failed job
	typedFlags  []string // the flags on the command line that later commands need
}

// New returns the command client and those below it. version is the program's,
// and engine measures the prices of files.
func New(streams *term.Streams, version string, engine bgremove.Config) *cobra.Command {
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
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	c := &remote{Streams: streams, version: version, engine: engine}
	cmd.AddCommand(c.submitCommand(), c.batchCommand(), c.statusCommand(), c.waitCommand(), c.downloadCommand(),
		c.listCommand(), c.cancelCommand(), c.accountCommand())
	for _, below := range cmd.Commands() {
		run := below.RunE
		below.RunE = func(cmd *cobra.Command, args []string) error { return explain(run(cmd, args)) }
	}
	return cmd
}

// addFlags adds the flags that all commands of client have.
func (c *remote) addFlags(cmd *cobra.Command) {
	f := cmd.Flags()
	c.addService(cmd)
	flags.AddJSON(f, &c.asJSON)
	flags.AddQuiet(f, &c.quiet)
	f.SortFlags = false
}

// addService adds the flags that name the service and its key.
func (c *remote) addService(cmd *cobra.Command) {
	cmd.Flags().StringVar(&c.server, "server", "", "the service's `address`, such as https://clips.example")
	cmd.Flags().StringVar(&c.key, "api-key", "", "")
	hide(cmd, "api-key")
}

// Connection is how a command that is not below client reaches a service.
type Connection struct{ remote *remote }

// AddConnection gives a command the flags that name a service and its key.
func AddConnection(cmd *cobra.Command, streams *term.Streams, version string) *Connection {
	c := &remote{Streams: streams, version: version, quiet: true}
	c.addService(cmd)
	return &Connection{c}
}

// Open makes the client of the service, or none if no service is named.
func (c *Connection) Open(cmd *cobra.Command) (*client.Client, error) {
	if err := c.remote.prepare(cmd); err != nil || c.remote.server == "" {
		return nil, err
	}
	s, err := c.remote.connect()
	return s, explain(err)
}

// hide hides flags that only the environment and the file may set.
func hide(cmd *cobra.Command, names ...string) {
	for _, name := range names {
		cmd.Flags().Lookup(name).Hidden = true
	}
}

// prepare refuses hidden flags on the command line, and remembers the flags that
// name the service and its key.
func (c *remote) prepare(cmd *cobra.Command) error {
	var err error
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		switch {
		case err != nil || !f.Hidden || !flags.IsTyped(f):
		case f.Name == "api-key":
			err = errors.New("the key on the command line could be read by others: use BGREMOVE_API_KEY")
		default:
			err = fmt.Errorf("unknown flag: --%s", f.Name)
		}
	})
	for _, name := range []string{"server", "config"} {
		if flags.Typed(cmd, name) {
			c.typedFlags = append(c.typedFlags, "--"+name, cmd.Flags().Lookup(name).Value.String())
		}
	}
	return flags.Usage(cmd, err)
}

// connect creates the client of a command.
func (c *remote) connect() (*client.Client, error) {
	if c.server == "" {
		return nil, &bgremove.Error{Kind: bgremove.Invalid, Cause: failure.NoService, Reason: "no service is named"}
	}
	o := client.Options{UserAgent: "bgremove/" + c.version, OnRetry: c.onRetry}
	s, err := client.New(c.server, strings.TrimSpace(c.key), o)
	if errors.Is(err, client.ErrKey) {
		return nil, err
	}
	if err != nil {
		return nil, &bgremove.Error{Kind: bgremove.Invalid, Cause: failure.NoService, Reason: err.Error(), Err: err}
	}
	if !c.quiet {
		c.line = c.NewStatusLine()
	}
	return s, nil
}

// ask prepares a command and connects.
func (c *remote) ask(cmd *cobra.Command) (*client.Client, error) {
	if err := c.prepare(cmd); err != nil {
		return nil, err
	}
	return c.connect()
}

// checkStdout refuses a result on standard output if that has another use.
func (c *remote) checkStdout(cmd *cobra.Command, output string) error {
	switch {
	case output != "-":
	case c.asJSON:
		return flags.Usage(cmd, filearg.ErrStdoutShared)
	case term.IsTerminal(c.Out):
		return flags.Usage(cmd, filearg.ErrStdoutTerminal)
	}
	return nil
}

// onRetry explains a delay.
func (c *remote) onRetry(r client.Retry) {
	if !c.quiet {
		c.line.Clear()
		c.Message("%v; trying again in %v", r.Err, r.Wait.Round(100*time.Millisecond))
	}
}

// say prints a message unless --quiet is set.
func (c *remote) say(format string, args ...any) {
	c.line.Clear()
	if !c.quiet {
		c.Message(format, args...)
	}
}

// announce prints a result if --json does not.
func (c *remote) announce(format string, args ...any) {
	if !c.asJSON {
		c.say(format, args...)
	}
}

// startTransfer shows the progress of a transfer.
func (c *remote) startTransfer(title string) (progress func(done, total int64), end func()) {
	if c.quiet {
		return nil, func() {}
	}
	c.line.Clear()
	bar := c.NewByteBar(title)
	return bar.SetBytes, bar.Close
}

// download fetches the output of a job to its path.
func (c *remote) download(ctx context.Context, s *client.Client, id, path string, force bool) (int64, error) {
	if path == "-" {
		return s.DownloadTo(ctx, id, c.Out)
	}
	progress, end := c.startTransfer("downloading")
	size, err := s.Download(ctx, id, path, client.DownloadOptions{Overwrite: force, Progress: progress})
	end()
	if err != nil {
		return 0, explainOutput(path, err)
	}
	c.announce("%s: %s", path, term.ByteSize(size))
	return size, nil
}
