package cli

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/bgremove/bgremove/internal/cli/clientcmd"
	"github.com/bgremove/bgremove/internal/cli/failure"
	"github.com/bgremove/bgremove/internal/cli/flags"
	"github.com/bgremove/bgremove/internal/cli/term"
	"github.com/bgremove/bgremove/internal/mcp"
	"github.com/bgremove/bgremove/pkg/bgremove"
)

func (a *app) mcpCommand() *cobra.Command {
	var roots []string
	var service *clientcmd.Connection
	cmd := &cobra.Command{
		Use:   "mcp",
		Short: "offer tools to an assistant, over standard input and output",
		Long: `mcp is a server of the Model Context Protocol. An assistant starts it, and gets tools
that take the background out of local files. They read and write files in the
folders of --root only, also by links.

With --server and a key, as for bgremove client, there are also tools that send
clips to a service. BGREMOVE_API_KEY, or api-key in the configuration file, holds
the key.`,
		Example: `  bgremove mcp --root ~/clips
  bgremove mcp --root ~/clips --root ~/stickers --server https://clips.example`,
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error { return a.mcp(cmd, roots, service) },
	}
	cmd.Flags().StringArrayVar(&roots, "root", nil, "a `folder` that the tools may use; can be given again (default: the working folder)")
	service = clientcmd.AddConnection(cmd, a.Streams, a.build().Version)
	a.removalFlags(cmd.Flags())
	return cmd
}

func (a *app) mcp(cmd *cobra.Command, roots []string, service *clientcmd.Connection) error {
	if err := a.checkRemovalFlags(); err != nil {
		return flags.Usage(cmd, err)
	}
	s, err := service.Open(cmd)
	if err != nil {
		return err
	}
	if roots, err = rootFolders(roots); err != nil {
		return flags.Usage(cmd, err)
	}
	if term.IsTerminal(a.In) {
		a.Message("waiting for an assistant on standard input; docs/mcp.md says how to add this command to one")
	}
	r := bgremove.New(a.engine)
	defer r.Close()
	ctx := cmd.Context()
	err = mcp.Serve(ctx, mcp.Config{
		Version: a.build().Version, Roots: roots, Remover: r, Service: s, JobOptions: clientcmd.JobOptions, Hint: failure.Hint,
	}, io.NopCloser(a.In), writer{a.Out})
	if errors.Is(context.Cause(ctx), ErrInterrupted) {
		return nil // as a service that is told to stop
	}
	return err
}

// rootFolders are the given folders, or the working folder. That of the whole disk must
// be given: programs start others there without a thought.
func rootFolders(given []string) ([]string, error) {
	if len(given) > 0 {
		return given, nil
	}
	here, err := os.Getwd()
	if err == nil && filepath.Dir(here) == here {
		return nil, errors.New("the working folder is the whole disk: name the folders that the tools may use with --root")
	}
	return []string{here}, err
}

// writer is a stream that others must not close.
type writer struct{ io.Writer }

func (writer) Close() error { return nil }
