package cli

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// flagGroups are the headings in the help on flags, the most used ones first. A
// flag without a group comes at the end.
var flagGroups = []struct {
	title string
	flags []string
}{
	{"Output", []string{"output", "out", "format", "preset", "max-size", "bg", "bg-fit", "harmonise", "outline", "shadow", "matte", "preview", "compare", "mask-only", "no-audio", "loop", "recursive", "watch", "shard", "manifest", "force", "update", "quiet", "json"}},
	{"Sprite sheet", []string{"sheet", "sheet-data", "sheet-pack", "sheet-max", "sheet-power-of-two", "sheet-padding", "sheet-extrude"}},
	{"Placement", []string{"crop", "pad", "canvas-w", "canvas-h", "anchor", "scale"}},
	{"Subject", []string{"subject", "keep", "drop", "keep-box", "drop-box", "keep-mask", "largest"}},
	{"Method", []string{"method", "model", "tolerance", "key", "keep-shadow", "holes"}},
	{"Quality", []string{"quality", "edge-colour", "fps", "start", "end", "frame", "trim", "strict"}},
	{"Service", []string{"server", "wait", "dry-run", "ask-above", "yes", "idempotency-key"}},
	{"Advanced", []string{"no-reuse", "no-motion", "no-closer", "no-colours", "no-plate", "no-steady", "no-refine", "no-decontaminate", "device", "require-gpu",
		"jobs", "workers", "ffmpeg", "ffprobe", "sandbox", "onnxruntime", "models-dir"}},
}

// describe gives all commands our help, which begins with the commonest use.
func describe(root *cobra.Command) {
	for path, example := range examples {
		cmd, _, err := root.Find(strings.Fields(path))
		if err != nil || cmd.Example != "" {
			panic("examples: " + path) // there is no such command, or it has its own
		}
		cmd.Example = "  " + strings.ReplaceAll(example, "\n", "\n  ")
	}
	root.SetHelpFunc(func(cmd *cobra.Command, _ []string) { printHelp(cmd) })
	root.SetUsageFunc(printUsage)
}

// exampleLines are the examples of a command, the commonest use first.
func exampleLines(cmd *cobra.Command) (lines []string) {
	for line := range strings.Lines(cmd.Example) {
		lines = append(lines, strings.TrimSpace(line))
	}
	return lines
}

func printHelp(cmd *cobra.Command) {
	w := cmd.OutOrStdout()
	if lines := exampleLines(cmd); len(lines) > 0 {
		fmt.Fprintf(w, "  %s\n\n", lines[0])
	}
	fmt.Fprintf(w, "%s\n\n%s", strings.TrimSpace(cmp.Or(cmd.Long, cmd.Short)), cmd.UsageString())
}

// printUsage prints what help has after a command's description.
func printUsage(cmd *cobra.Command) error {
	w := cmd.OutOrStderr()
	fmt.Fprintf(w, "Usage:\n  %s\n", cmd.UseLine())
	if cmd.HasAvailableSubCommands() {
		fmt.Fprintf(w, "  %s COMMAND\n", cmd.CommandPath())
	}
	if len(exampleLines(cmd)) > 1 {
		fmt.Fprintf(w, "\nExamples:\n%s\n", cmd.Example)
	}
	printCommands(w, cmd)
	for _, g := range FlagGroups(cmd) {
		printFlags(w, g.Title, g.Flags)
	}
	printFlags(w, "Global flags", cmd.InheritedFlags())
	if cmd.HasAvailableSubCommands() {
		fmt.Fprintf(w, "\n%s COMMAND --help tells more about a command.\n", cmd.CommandPath())
	}
	return nil
}

// printCommands lists the commands below a command.
func printCommands(w io.Writer, cmd *cobra.Command) {
	if !cmd.HasAvailableSubCommands() {
		return
	}
	fmt.Fprint(w, "\nCommands:\n")
	for _, c := range cmd.Commands() {
		if c.IsAvailableCommand() || c.Name() == "help" {
			fmt.Fprintf(w, "  %-*s %s\n", c.NamePadding(), c.Name(), c.Short)
		}
	}
}

// FlagGroup is a heading of a command's help, and the flags below it.
type FlagGroup struct {
	Title string
	Flags *pflag.FlagSet
}

// FlagGroups are a command's own flags as its help lists them. A command with few flags
// has one group; a group without a visible flag is left out.
func FlagGroups(cmd *cobra.Command) (groups []FlagGroup) {
	add := func(title string, wanted func(*pflag.Flag) bool) {
		some := pflag.NewFlagSet(title, pflag.ContinueOnError)
		some.SortFlags = false
		cmd.LocalFlags().VisitAll(func(f *pflag.Flag) {
			if wanted(f) {
				some.AddFlag(f)
			}
		})
		if some.HasAvailableFlags() {
			groups = append(groups, FlagGroup{title, some})
		}
	}
	if cmd.Flags().Lookup("method") == nil { // it has few
		add("Flags", func(*pflag.Flag) bool { return true })
		return groups
	}
	grouped := map[string]bool{}
	for _, g := range flagGroups {
		add(g.title+" flags", func(f *pflag.Flag) bool { return slices.Contains(g.flags, f.Name) })
		for _, name := range g.flags {
			grouped[name] = true
		}
	}
	add("Other flags", func(f *pflag.Flag) bool { return !grouped[f.Name] })
	return groups
}

// printFlags lists flags under a heading, if any of them is visible.
func printFlags(w io.Writer, title string, flags *pflag.FlagSet) {
	if flags.HasAvailableFlags() {
		fmt.Fprintf(w, "\n%s:\n%s\n", title, strings.TrimRight(flags.FlagUsages(), "\n"))
	}
}
