package flags

import (
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// typed is the annotation of flags that the command line itself sets.
const typed = "bgremove_typed"

// MarkTyped marks the flags that the command line sets. Later the environment
// and the file set others, which then look the same to pflag.
func MarkTyped(cmd *cobra.Command) {
	cmd.Flags().Visit(func(f *pflag.Flag) {
		if f.Annotations == nil {
			f.Annotations = map[string][]string{}
		}
		f.Annotations[typed] = nil
	})
}

// IsTyped reports whether MarkTyped has marked a flag.
func IsTyped(f *pflag.Flag) bool {
	_, is := f.Annotations[typed]
	return is
}

// Typed reports whether the command line sets the flag with a name.
func Typed(cmd *cobra.Command, name string) bool {
	f := cmd.Flags().Lookup(name)
	return f != nil && IsTyped(f)
}
