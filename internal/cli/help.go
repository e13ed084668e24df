package cli

import (
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
	{"Output", []string{"output", "out", "format", "preset", "max-size", "bg", "bg-fit", "harmonise", "outline", "shadow", "matte", "preview", "compare", "mask-only", "no-audio", "loop", "recursive", "watch", "shard", "force", "update", "quiet", "json"}},
	{"Sprite sheet", []string{"sheet", "sheet-data", "sheet-pack", "sheet-max", "sheet-power-of-two", "sheet-padding", "sheet-extrude"}},
	{"Placement", []string{"crop", "pad", "canvas-w", "canvas-h", "anchor", "scale"}},
	{"Subject", []string{"subject", "keep", "drop", "keep-box", "drop-box", "keep-mask", "largest"}},
	{"Method", []string{"method", "model", "tolerance", "key", "keep-shadow", "holes"}},
	{"Quality", []string{"quality", "edge-colour", "fps", "start", "end", "frame", "trim", "strict"}},
	{"Service", []string{"server", "wait", "dry-run", "ask-above", "yes", "idempotency-key"}},
	{"Advanced", []string{"no-reuse", "no-motion", "no-colours", "no-plate", "no-steady", "no-refine", "no-decontaminate", "device", "require-gpu",
		"jobs", "workers", "ffmpeg", "ffprobe", "sandbox", "onnxruntime", "models-dir"}},
}

// groupFlags makes the help of removing commands list their many flags in groups.
func groupFlags(cmd *cobra.Command) {
	if cmd.Flags().Lookup("method") != nil {
		cmd.SetUsageFunc(groupedUsage)
	}
	for _, c := range cmd.Commands() {
		groupFlags(c)
	}
}

func groupedUsage(cmd *cobra.Command) error {
	w := cmd.OutOrStderr()
	fmt.Fprintf(w, "Usage:\n  %s\n", cmd.UseLine())
	if cmd.HasExample() {
		fmt.Fprintf(w, "\nExamples:\n%s\n", cmd.Example)
	}
	for _, g := range flagGroups {
		printFlags(w, g.title, cmd.LocalFlags(), func(f *pflag.Flag) bool { return slices.Contains(g.flags, f.Name) })
	}
	printFlags(w, "Other", cmd.LocalFlags(), func(f *pflag.Flag) bool {
		for _, g := range flagGroups {
			if slices.Contains(g.flags, f.Name) {
				return false
			}
		}
		return true
	})
	printFlags(w, "Global", cmd.InheritedFlags(), func(*pflag.Flag) bool { return true })
	return nil
}

// printFlags lists flags under a heading, if any of them is visible.
func printFlags(w io.Writer, title string, flags *pflag.FlagSet, wanted func(*pflag.Flag) bool) {
	some := pflag.NewFlagSet(title, pflag.ContinueOnError)
	some.SortFlags = false
	flags.VisitAll(func(f *pflag.Flag) {
		if wanted(f) {
			some.AddFlag(f)
		}
	})
	if some.HasAvailableFlags() {
		fmt.Fprintf(w, "\n%s flags:\n%s\n", title, strings.TrimRight(some.FlagUsages(), "\n"))
	}
}
