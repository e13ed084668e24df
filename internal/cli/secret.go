package cli

import (
	"fmt"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/bgremove/bgremove/internal/cli/flags"
	"github.com/bgremove/bgremove/internal/config"
)

// secret is a setting that only the environment and a file may give. Everybody
// on the machine can see a command line, and shells store it.
type secret struct{ p *string }

// String does not reveal it.
func (s secret) String() string {
	if s.p == nil || *s.p == "" {
		return ""
	}
	return "(hidden)"
}

func (s secret) Set(v string) error { *s.p = v; return nil }

func (s secret) Type() string { return "secret" }

// checkSecrets refuses secrets on the command line itself.
func checkSecrets(cmd *cobra.Command) error {
	var err error
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if _, is := f.Value.(secret); is && flags.IsTyped(f) && err == nil {
			err = flags.Usage(cmd, fmt.Errorf("%s: not on the command line, where others see it; set %s, or %s: in %s", f.Name, config.Variable(f.Name), f.Name, config.FileName))
		}
	})
	return err
}
