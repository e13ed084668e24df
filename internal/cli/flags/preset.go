package flags

import (
	"github.com/spf13/pflag"

	"github.com/bgremove/bgremove/pkg/bgremove"
)

// AddPreset adds --preset.
func AddPreset(f *pflag.FlagSet, o *bgremove.Options) {
	f.Var(Word(&o.Preset), "preset", "keep within the limits of a service, from its format to the file's size: "+Choices("preset", nil))
}
