package cli

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/bgremove/bgremove/internal/cli/flags"
	"github.com/bgremove/bgremove/internal/cli/term"
	"github.com/bgremove/bgremove/internal/network/fetch"
	"github.com/bgremove/bgremove/internal/network/ortlib"
)

func (a *app) setupCommand() *cobra.Command {
	var (
		o             ortlib.Options
		asJSON, quiet bool
	)
	cmd := &cobra.Command{
		Use:   "setup",
		Short: "get ONNX Runtime's shared library, for method rembg",
		Long: `setup brings ONNX Runtime ` + ortlib.Version + `'s shared library into the user's cache: from
the official release, or through the npm client where that cannot be reached.
It is checked by its sha256 first. Packages of bgremove carry the library
already; for a GPU build name yours with --onnxruntime.`,
		Example: `  bgremove setup
  bgremove setup --from onnxruntime-linux-x64-` + ortlib.Version + `.tgz
  bgremove setup --from https://mirror.example/onnxruntime/
  bgremove setup --platform windows/amd64 --dir windows`,
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := checkSetup(o); err != nil {
				return flags.Usage(cmd, err)
			}
			done, err := a.installRuntime(cmd, o, quiet)
			if err != nil {
				return explainFetch(err) // the file named by From needs repair, not this installation
			}
			if asJSON {
				return a.JSON(done)
			}
			_, err = fmt.Fprintln(a.Out, done.Path)
			return err
		},
	}
	f := cmd.Flags()
	f.StringVar(&o.From, "from", "", "an archive, a folder that holds one, or the `URL` of either (a folder's ends in /)")
	f.StringVar(&o.SHA256, "sha256", "", "vouch for a build that is not ONNX Runtime's own "+ortlib.Version+" by its `digest`")
	f.StringVar(&o.Dir, "dir", "", "put it into this `folder` instead of the user's cache")
	f.StringVar(&o.Platform, "platform", "", "get it for another `system`, such as linux/arm64, into --dir")
	f.BoolVar(&o.Again, "force", false, "get it again even if it is there")
	flags.AddQuiet(f, &quiet)
	flags.AddJSON(f, &asJSON)
	return cmd
}

// checkSetup refuses flags that do not go together.
func checkSetup(o ortlib.Options) error {
	switch {
	case o.SHA256 != "" && (o.From == "" || !fetch.ValidDigest(o.SHA256)):
		return errors.New("--sha256 takes 64 lower-case hex digits and goes with --from")
	case o.Platform != "" && o.Dir == "":
		return errors.New("--platform needs --dir: the cache is for this system's library")
	}
	return nil
}

func (a *app) installRuntime(cmd *cobra.Command, o ortlib.Options, quiet bool) (*ortlib.Installed, error) {
	if !quiet {
		var bar *term.Bar
		defer func() { bar.Close() }()
		o.Note = func(line string) {
			bar.Close()
			a.Message("%s", line)
			bar = a.NewByteBar("fetching ONNX Runtime")
		}
		o.Progress = func(done, total int64) { bar.SetBytes(done, total) }
	}
	return ortlib.Install(cmd.Context(), o)
}
