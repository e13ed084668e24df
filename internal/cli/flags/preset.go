package flags

import (
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/bgremove/bgremove/pkg/bgremove"
)

// AddPreset adds --preset.
func AddPreset(f *pflag.FlagSet, o *bgremove.Options) {
	f.Var(Word(&o.Preset), "preset", "keep within the limits of a service, from its format to the file's size: "+Choices("preset", nil))
}

// LeaveFormat leaves the format to the preset, unless the output's name or a flag says
// it.
func LeaveFormat(cmd *cobra.Command, output string, o *bgremove.Options) {
	_, preset := o.Preset.Limits()
	if _, named := bgremove.FormatOf(output); preset && !named && !cmd.Flags().Changed("format") {
		o.Format = ""
	}
}
