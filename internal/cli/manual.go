package cli

import (
	"github.com/spf13/cobra"

	"github.com/bgremove/bgremove/internal/cli/term"
)

// Manual is the command line for documentation. Nothing in it depends on the
// machine; it must not be run.
func Manual() *cobra.Command {
	root := (&app{Streams: &term.Streams{}}).rootCommand()
	setManualDefaults(root)
	return root
}

// setManualDefaults replaces defaults that depend on the machine by words.
func setManualDefaults(cmd *cobra.Command) {
	for name, text := range map[string]string{"data": "~/.local/share/bgremove", "slots": "half of the cores"} {
		if f := cmd.Flags().Lookup(name); f != nil {
			f.DefValue = text
		}
	}
	for _, c := range cmd.Commands() {
		setManualDefaults(c)
	}
}
