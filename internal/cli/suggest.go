package cli

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/bgremove/bgremove/internal/cli/failure"
	"github.com/bgremove/bgremove/internal/cli/filearg"
	"github.com/bgremove/bgremove/internal/cli/flags"
	"github.com/bgremove/bgremove/internal/cli/term"
	"github.com/bgremove/bgremove/internal/spell"
	"github.com/bgremove/bgremove/pkg/bgremove"
	"github.com/bgremove/bgremove/pkg/option"
)

// noArguments is for commands without arguments, and for those with
// subcommands. It suggests the command that was meant.
func noArguments(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	return usageWithHint(cmd, fmt.Errorf("unknown command or argument %q", args[0]), suggest(cmd, args[0]))
}

// usageWithHint is flags.Usage with a hint, unless that is empty.
func usageWithHint(cmd *cobra.Command, err error, hint string) error {
	if hint != "" {
		err = failure.Explain(err, bgremove.Invalid, hint)
	}
	return flags.Usage(cmd, err)
}

// suggest is the command line that the user probably meant with an unexpected
// argument.
func suggest(cmd *cobra.Command, arg string) string {
	if cmd.SuggestionsMinimumDistance <= 0 {
		cmd.SuggestionsMinimumDistance = 2
	}
	if all := cmd.SuggestionsFor(arg); len(all) > 0 {
		return fmt.Sprintf("did you mean %s %s?", cmd.CommandPath(), strings.Join(all, " or "))
	}
	switch {
	case cmd.HasParent():
		return ""
	case filearg.IsURL(arg):
		return failure.Hint(filearg.CheckLocal(arg))
	case filearg.IsFolder(arg):
		return "did you mean bgremove batch " + term.Quote(arg) + " --out FOLDER?"
	case option.IsInput(arg) || filearg.Exists(arg):
		return "did you mean bgremove remove " + term.Quote(arg) + "?"
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
	case a.dashHint(true) != "":
		return usageWithHint(cmd, err, a.dashHint(true))
	case cmd.HasSubCommands() && cmd.Flags().NArg() > 0:
		return noArguments(cmd, cmd.Flags().Args())
	default:
		var names []string
		cmd.Flags().VisitAll(func(f *pflag.Flag) {
			if !f.Hidden {
				names = append(names, f.Name)
			}
		})
		if name := meantFlag(unknown.GetSpecifiedName(), names); name != "" {
			return usageWithHint(cmd, err, "did you mean --"+name+"?")
		}
	}
	return flags.Usage(cmd, err)
}

// synonyms are flags by the names that other programs give them.
var synonyms = map[string][]string{
	"y": {"yes", "force"}, "overwrite": {"force"}, "background": {"bg"}, "bg-color": {"bg"}, "bg-colour": {"bg"},
}

// meantFlag is the one of a command's flags that was meant, or empty.
func meantFlag(typed string, names []string) string {
	for _, name := range synonyms[typed] {
		if slices.Contains(names, name) {
			return name
		}
	}
	return spell.Meant(typed, names)
}

// dashHint is the hint for a file name that begins with - and was taken for
// flags. If no such file exists, byName lets the name alone decide.
func (a *app) dashHint(byName bool) string {
	for _, arg := range a.args {
		switch {
		case arg == "--":
			return ""
		case len(arg) > 1 && arg[0] == '-' && (filearg.Exists(arg) || byName && option.IsInput(arg) && !strings.HasPrefix(arg, "-o") && !strings.Contains(arg, "=")):
			return "-- comes before a file name that begins with -: -- " + term.Quote(arg)
		}
	}
	return ""
}

// checkClip refuses an input that is not a file if another command or program
// can use it.
func checkClip(path string) error {
	switch {
	case filearg.IsURL(path):
		return filearg.CheckLocal(path)
	case filearg.IsFolder(path) && !bgremove.IsSequence(path):
		return &bgremove.Error{Kind: bgremove.Unreadable, Cause: failure.FolderGiven, Path: path, Reason: "a folder, not a regular file"}
	case strings.ContainsAny(path, "*?[") && !filearg.Exists(path) && !bgremove.IsSequence(path):
		return &bgremove.Error{Kind: bgremove.NotFound, Cause: failure.PatternGiven, Path: path, Reason: "no such file"}
	}
	return nil
}
