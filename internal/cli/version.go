package cli

import (
	"errors"
	"fmt"
	"io"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"

	"github.com/bgremove/bgremove/internal/cli/flags"
	"github.com/bgremove/bgremove/internal/cli/notices"
)

// build is the known data of this executable.
type build struct {
	Version  string `json:"version"`
	Revision string `json:"revision,omitempty"`
	Go       string `json:"go"`
	Platform string `json:"platform"`
}

func (a *app) build() build {
	b := build{Version: a.version, Go: runtime.Version(), Platform: runtime.GOOS + "/" + runtime.GOARCH}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return b
	}
	if b.Version == "" {
		b.Version = info.Main.Version
	}
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" {
			b.Revision = s.Value
		}
	}
	return b
}

func (a *app) versionCommand() *cobra.Command {
	var asJSON, licences bool
	cmd := &cobra.Command{
		Use:   "version",
		Short: "show the version, or the licences of what the program is built from",
		Args:  noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if asJSON && licences {
				return flags.Usage(cmd, errors.New("--licences and --json do not go together"))
			}
			b := a.build()
			if asJSON {
				return a.JSON(b)
			}
			text := fmt.Sprintf("bgremove %s (%s, %s)\n", b.Version, b.Go, b.Platform)
			if licences {
				text = notices.Text
			}
			_, err := io.WriteString(a.Out, text)
			return err
		},
	}
	cmd.Flags().BoolVar(&licences, "licences", false, "print the notices of the modules that the program is built from")
	flags.AddJSON(cmd.Flags(), &asJSON)
	return cmd
}
