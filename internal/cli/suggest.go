package cli

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/bgremove/bgremove/internal/spell"
	"github.com/bgremove/bgremove/pkg/bgremove"
)

// inputExtensions are the extensions of clips; the content decides the type.
var inputExtensions = []string{".gif", ".mp4", ".mov", ".webm"}

func isClipName(name string) bool {
	return slices.Contains(inputExtensions, strings.ToLower(filepath.Ext(name)))
}

func isURL(arg string) bool {
	return strings.HasPrefix(arg, "http://") || strings.HasPrefix(arg, "https://")
}

func isFolder(path string) bool {
	stat, err := os.Stat(path)
	return err == nil && stat.IsDir()
}

// noArguments is for commands without arguments, and for those with
// subcommands. It suggests the command that was meant.
func noArguments(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	return misused(cmd, fmt.Errorf("unknown command or argument %q", args[0]), meant(cmd, args[0]))
}

// misused is usage with a hint, unless that is empty.
func misused(cmd *cobra.Command, err error, hint string) error {
	if hint != "" {
		err = explained(err, bgremove.Invalid, hint)
	}
	return usage(cmd, err)
}

// meant is the command line that the user probably meant with an unexpected
// argument.
func meant(cmd *cobra.Command, arg string) string {
	if cmd.SuggestionsMinimumDistance <= 0 {
		cmd.SuggestionsMinimumDistance = 2
	}
	if all := cmd.SuggestionsFor(arg); len(all) > 0 {
		return fmt.Sprintf("did you mean %s %s?", cmd.CommandPath(), strings.Join(all, " or "))
	}
	switch {
	case cmd.HasParent():
		return ""
	case isURL(arg):
		return hintOf(checkLocal(arg))
	case isFolder(arg):
		return "did you mean bgremove batch " + quoted(arg) + " --out FOLDER?"
	case isClipName(arg) || exists(arg):
		return "did you mean bgremove remove " + quoted(arg) + "?"
	}
	return ""
}

// flagError rewrites an error of pflag in our words, and suggests the flag that
// was meant.
func (a *app) flagError(cmd *cobra.Command, err error) error {
	var invalid *pflag.InvalidValueError
	var unknown *pflag.NotExistError
	switch {
	case errors.As(err, &invalid) && strings.HasPrefix(invalid.Unwrap().Error(), "must be "):
		err = fmt.Errorf("%s %w, not %q", invalid.GetFlag().Name, invalid.Unwrap(), invalid.GetValue())
	case !errors.As(err, &unknown):
	case a.dashed(true) != "":
		return misused(cmd, err, a.dashed(true))
	case cmd.HasSubCommands() && cmd.Flags().NArg() > 0:
		return noArguments(cmd, cmd.Flags().Args())
	default:
		var names []string
		cmd.Flags().VisitAll(func(f *pflag.Flag) {
			if !f.Hidden {
				names = append(names, f.Name)
			}
		})
		if name := spell.Meant(unknown.GetSpecifiedName(), names); name != "" {
			return misused(cmd, err, "did you mean --"+name+"?")
		}
	}
	return usage(cmd, err)
}

// dashed is the hint for a file name that begins with - and was taken for
// flags. If no such file exists, byName lets the name alone decide.
func (a *app) dashed(byName bool) string {
	for _, arg := range a.args {
		switch {
		case arg == "--":
			return ""
		case len(arg) > 1 && arg[0] == '-' && (exists(arg) || byName && isClipName(arg) && !strings.HasPrefix(arg, "-o") && !strings.Contains(arg, "=")):
			return "-- comes before a file name that begins with -: -- " + quoted(arg)
		}
	}
	return ""
}

// oneArgument is for commands with one argument; what is its name.
func oneArgument(what string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		switch {
		case len(args) == 0:
			return usage(cmd, fmt.Errorf("%s is missing", what))
		case len(args) > 1:
			return usage(cmd, fmt.Errorf("one %s at a time, not %d", what, len(args)))
		}
		return nil
	}
}

// checkClip refuses an input that is not a file if another command or program
// can use it.
func checkClip(path string) error {
	switch {
	case isURL(path):
		return checkLocal(path)
	case isFolder(path):
		return &bgremove.Error{Kind: bgremove.Unreadable, Cause: folderGiven, Path: path, Reason: "a folder, not a regular file"}
	}
	return nil
}

// checkLocal refuses web addresses.
func checkLocal(paths ...string) error {
	for _, path := range paths {
		if isURL(path) {
			return &bgremove.Error{Kind: bgremove.NotFound, Cause: urlGiven, Path: path, Reason: "an address on the web, not a file"}
		}
	}
	return nil
}
