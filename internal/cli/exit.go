package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/bgremove/bgremove/internal/cli/failure"
	"github.com/bgremove/bgremove/internal/cli/flags"
	"github.com/bgremove/bgremove/internal/config"
	"github.com/bgremove/bgremove/pkg/bgremove"
	"github.com/bgremove/bgremove/pkg/client"
)

// Exit codes, a contract with scripts.
const (
	exitOK          = 0
	exitFailed      = 1
	exitUsage       = 2
	exitSome        = 3
	exitMissing     = 4
	exitCredentials = 5
	exitInterrupted = 130
)

// ErrInterrupted is the cause of a context that a signal has cancelled.
var ErrInterrupted = errors.New("interrupted")

// serviceError is the failure of a running service. A signal ends a service
// without one.
type serviceError struct{ err error }

func (e *serviceError) Error() string { return e.err.Error() }

func (e *serviceError) Unwrap() error { return e.err }

// report prints the error and returns the exit code. No other place knows both.
func (a *app) report(ctx context.Context, cmd *cobra.Command, err error) int {
	if err == nil {
		return exitOK
	}
	if isInterrupted(ctx, err) {
		message, hint := "interrupted; nothing was written", ""
		if stopped := failure.Interruption(nil); errors.As(err, &stopped) {
			message, hint = stopped.Interruption()
		}
		a.Message("%s", message)
		if hint != "" {
			a.Hint(hint)
		}
		return exitInterrupted
	}
	err = explainFetch(bgremove.Explain(err))
	code, hint := exitFailed, ""
	var (
		misuse  *flags.UsageError
		setting *config.Error
		known   *bgremove.Error
		some    *failure.PartialError
	)
	switch {
	case isCredentialsError(err):
		code = exitCredentials
	case errors.As(err, &some) && some.Missing:
		code = exitMissing
	case errors.As(err, &some):
		code = exitSome
	case errors.As(err, &misuse):
		code, hint = exitUsage, cmp.Or(a.dashHint(false), fmt.Sprintf("see %s --help", misuse.Command))
	case errors.As(err, &setting):
		code = exitUsage
	case strings.HasPrefix(err.Error(), "unknown command"): // cobra has no type for it
		code, hint = exitUsage, "see bgremove --help"
	}
	if errors.As(err, &known) {
		switch known.Kind {
		case bgremove.Invalid:
			code = exitUsage
		case bgremove.Missing:
			code = exitMissing
		}
	}
	for line := range strings.SplitSeq(failure.InFlags(err).Error(), "\n") {
		a.Message("%s", line)
	}
	if hint = cmp.Or(failure.Hint(err), operatorHint(cmd, err), hint); hint != "" {
		a.Hint(hint)
	}
	return code
}

// isInterrupted reports whether a signal ended a command.
func isInterrupted(ctx context.Context, err error) bool {
	var service *serviceError
	return !errors.As(err, &service) && (errors.Is(err, ErrInterrupted) || errors.Is(context.Cause(ctx), ErrInterrupted))
}

// isCredentialsError reports whether an error is about the key or its credits.
func isCredentialsError(err error) bool {
	return errors.Is(err, client.ErrKey) || errors.Is(err, client.ErrUnauthorized) || errors.As(err, new(*client.InsufficientCreditsError))
}

func configPath() string { return os.Getenv(config.Variable("config")) }
