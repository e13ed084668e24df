package cli

import (
	"context"
	"errors"
	"io"

	"github.com/spf13/cobra"

	"github.com/bgremove/bgremove/internal/cli/failure"
	"github.com/bgremove/bgremove/internal/cli/term"
	"github.com/bgremove/bgremove/internal/network/ortlib"
)

// offerRuntime asks somebody at a terminal whether to run setup, after a command
// that failed for want of ONNX Runtime. It reports whether the library is there now.
// The error is that of setup.
func (a *app) offerRuntime(ctx context.Context, cmd *cobra.Command, failed error) (bool, error) {
	if !lacksRuntime(failed) || ctx.Err() != nil || isQuiet(cmd) || !a.CanAsk() {
		return false, nil
	}
	yes, err := a.Ask(ctx, "ONNX Runtime, the library that runs neural networks, is not installed here. Run `bgremove setup` now to get it?")
	if err != nil || !yes {
		return false, nil // where a signal came, the context says so
	}
	args := []string{"setup"}
	if a.configPath != "" {
		args = append(args, "--config", a.configPath)
	}
	_, _, err = execute(ctx, a.version, args, &term.Streams{In: a.In, Out: io.Discard, Err: a.Err})
	return err == nil, err
}

// lacksRuntime reports whether ONNX Runtime was looked for in the usual places and
// not found. Where the user named it, another one does not help.
func lacksRuntime(err error) bool {
	if some := (*failure.PartialError)(nil); errors.As(err, &some) {
		err = some.Lacks
	}
	var absent *ortlib.NotFoundError
	return errors.As(err, &absent) && absent.Explicit == ""
}

// isQuiet reports whether a command was called with --quiet.
func isQuiet(cmd *cobra.Command) bool {
	quiet := cmd.Flags().Lookup("quiet")
	return quiet != nil && quiet.Value.String() == "true"
}
