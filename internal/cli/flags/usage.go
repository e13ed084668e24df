package flags

import (
	"fmt"
	"slices"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
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
		case len(args) == 0, len(args) == 1 && args[0] == "": // a variable of the shell without a value
			return Usage(cmd, fmt.Errorf("%s is missing", name))
		case len(args) > 1:
			return Usage(cmd, fmt.Errorf("one %s at a time, not %d%s", name, len(args), detached(cmd)))
		}
		return nil
	}
}

// detached says how a flag with an optional value takes it, where one was given without: the
// value may have come to stand alone.
func detached(cmd *cobra.Command) (advice string) {
	cmd.Flags().Visit(func(f *pflag.Flag) {
		if f.NoOptDefVal != "" && f.Value.Type() != "bool" && f.Value.String() == f.NoOptDefVal {
			advice = fmt.Sprintf("; a value of --%s is written --%s=VALUE", f.Name, f.Name)
		}
	})
	return advice
}

// SomeArguments is for commands with one or more arguments, called name.
func SomeArguments(name string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) == 0 || slices.Contains(args, "") {
			return Usage(cmd, fmt.Errorf("%s is missing", name))
		}
		return nil
	}
}
