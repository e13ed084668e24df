package flags

import (
	"fmt"

	"github.com/spf13/cobra"
)

// UsageError is a mistake on the command line. Command is the command whose help
// shows what is right.
type UsageError struct {
	Command string
	Err     error
}

func (e *UsageError) Error() string { return e.Err.Error() }

func (e *UsageError) Unwrap() error { return e.Err }

// Usage marks an error as a mistake on the command line; nil stays nil.
func Usage(cmd *cobra.Command, err error) error {
	if err == nil {
		return nil
	}
	return &UsageError{cmd.CommandPath(), err}
}

// OneArgument is for commands with one argument, called name.
func OneArgument(name string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		switch {
		case len(args) == 0:
			return Usage(cmd, fmt.Errorf("%s is missing", name))
		case len(args) > 1:
			return Usage(cmd, fmt.Errorf("one %s at a time, not %d", name, len(args)))
		}
		return nil
	}
}

// SomeArguments is for commands with one or more arguments, called name.
func SomeArguments(name string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) == 0 {
			return Usage(cmd, fmt.Errorf("%s is missing", name))
		}
		return nil
	}
}
