package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/bgremove/bgremove/internal/config"
	"github.com/bgremove/bgremove/pkg/bgremove"
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

// usageError is a mistake on the command line.
type usageError struct {
	command string
	err     error
}

func (e *usageError) Error() string { return e.err.Error() }

func (e *usageError) Unwrap() error { return e.err }

// serviceError is the failure of a running service. A signal ends a service
// without one.
type serviceError struct{ err error }

func (e *serviceError) Error() string { return e.err.Error() }

func (e *serviceError) Unwrap() error { return e.err }

// stopped is a run that a signal ended, with its message.
type stopped struct{ said string }

func (e *stopped) Error() string { return e.said }

// someFailed is the end of a run over many inputs with failures. lacking means
// that every attempted input failed because something is not installed.
type someFailed struct {
	failed, of int
	lacking    bool
}

func (e *someFailed) Error() string { return fmt.Sprintf("%d of %d inputs failed", e.failed, e.of) }

// usage marks an error as a mistake on the command line; nil stays nil.
func usage(cmd *cobra.Command, err error) error {
	if err == nil {
		return nil
	}
	return &usageError{cmd.CommandPath(), err}
}

// report prints the error and returns the exit code. No other place knows both.
func (a *app) report(ctx context.Context, err error) int {
	if err == nil {
		return exitOK
	}
	if interrupted(ctx, err) {
		said, hint := interruption(err)
		a.Message("%s", said)
		if hint != "" {
			a.Hint(hint)
		}
		return exitInterrupted
	}
	err = explainFetch(explainClient(bgremove.Explain(err)))
	code, hint := exitFailed, ""
	var (
		misuse  *usageError
		setting *config.Error
		known   *bgremove.Error
		some    *someFailed
	)
	switch {
	case credentials(err):
		code = exitCredentials
	case errors.As(err, &some) && some.lacking:
		code = exitMissing
	case errors.As(err, &some):
		code = exitSome
	case errors.As(err, &misuse):
		code, hint = exitUsage, cmp.Or(a.dashed(false), fmt.Sprintf("see %s --help", misuse.command))
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
	for line := range strings.SplitSeq(inFlags(err).Error(), "\n") {
		a.Message("%s", line)
	}
	if hint = cmp.Or(hintOf(err), hint); hint != "" {
		a.Hint(hint)
	}
	return code
}

// interrupted reports whether a signal ended a command.
func interrupted(ctx context.Context, err error) bool {
	var service *serviceError
	return !errors.As(err, &service) && (errors.Is(err, ErrInterrupted) || errors.Is(context.Cause(ctx), ErrInterrupted))
}

// inFlags replaces option names in errors with the names of flags.
func inFlags(err error) error {
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		var all []error
		for _, e := range joined.Unwrap() {
			all = append(all, inFlags(e))
		}
		return errors.Join(all...)
	}
	var e *bgremove.Error
	if !errors.As(err, &e) || flagOf(e.Field) == e.Field {
		return err
	}
	renamed := *e
	renamed.Field = flagOf(e.Field)
	return &renamed
}

func lookupConfig() string { return os.Getenv(config.Variable("config")) }
