package cli

import (
	"fmt"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/bgremove/bgremove/internal/cli/filearg"
	"github.com/bgremove/bgremove/internal/cli/flags"
	"github.com/bgremove/bgremove/internal/cli/term"
	"github.com/bgremove/bgremove/internal/service/price"
	"github.com/bgremove/bgremove/pkg/bgremove"
)

func (a *app) probeCommand() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "probe INPUT",
		Short: "show what a file holds, and its price in credits",
		Args:  flags.OneArgument("INPUT"), ValidArgsFunction: filearg.CompleteClips,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := checkClip(args[0]); err != nil {
				return err
			}
			path, remove, err := a.inputPath(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			defer remove()
			info, err := bgremove.New(a.engine).Probe(cmd.Context(), path)
			if err != nil {
				return withArgument(err, path, args[0])
			}
			info.Input = args[0]
			if asJSON {
				return a.JSON(pricedInfo{info, price.OfSeconds(info.Duration)})
			}
			return a.printInfo(info)
		},
	}
	flags.AddJSON(cmd.Flags(), &asJSON)
	a.engineFlags(cmd.Flags())
	return cmd
}

// pricedInfo is a file's data with the price of a job on it.
type pricedInfo struct {
	*bgremove.Info
	Credits int64 `json:"credits"`
}

func (a *app) printInfo(i *bgremove.Info) error {
	w := tabwriter.NewWriter(a.Out, 0, 0, 2, ' ', 0)
	row := func(name, format string, args ...any) { fmt.Fprintf(w, name+"\t"+format+"\n", args...) }
	row("input", "%s", term.Printable(i.Input))
	row("container", "%s (%s)", i.Container, i.Codec)
	row("picture", "%d×%d, alpha: %s", i.Width, i.Height, yesNo(i.HasAlpha))
	row("frames", "%d in %.3f s", i.Frames, i.Duration)
	if i.Container == "gif" || (i.Container == "png" || i.Container == "webp") && !i.Still {
		row("plays", "%s", plays(i.Loop))
	}
	row("sound", "%s", yesNo(i.HasAudio))
	row("size", "%s", term.ByteSize(i.InputSize))
	if i.Truncated {
		row("truncated", "yes: its end is missing, and it cannot be cut out")
	}
	row("price", "%s", term.Count(price.OfSeconds(i.Duration), "credit"))
	return w.Flush()
}

func yesNo(b bool) string {
	if b {
		return "yes"
	}
	return "no"
}

func plays(n int) string {
	switch n {
	case 0:
		return "for ever"
	case 1:
		return "once"
	}
	return fmt.Sprintf("%d times", n)
}
