package cli

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/bgremove/bgremove/internal/cli/failure"
	"github.com/bgremove/bgremove/internal/cli/flags"
	"github.com/bgremove/bgremove/pkg/bgremove"
)

func (a *app) doctorCommand() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "doctor",
		Short: "show what is installed, what is missing, and how to get it",
		Args:  noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := a.checkDevice(); err != nil {
				return flags.Usage(cmd, err)
			}
			r := bgremove.New(a.engine)
			defer r.Close()
			d := r.Diagnose(cmd.Context())
			if asJSON {
				if err := a.JSON(struct {
					build
					Checks []checkLine `json:"checks"`
				}{a.build(), checkLines(d)}); err != nil {
					return err
				}
			} else if err := a.printDiagnosis(d); err != nil {
				return err
			}
			return d.Err()
		},
	}
	flags.AddJSON(cmd.Flags(), &asJSON)
	a.deviceFlags(cmd.Flags(), "do without networks where they would run on the CPU")
	a.engineFlags(cmd.Flags())
	return cmd
}

// checkLine is a check and what to do about it or, of the sandbox, why a part does
// not work.
type checkLine struct {
	bgremove.Check
	Hint string `json:"hint,omitempty"`
}

func checkLines(d *bgremove.Diagnosis) []checkLine {
	var all []checkLine
	for _, c := range d.Checks {
		line := checkLine{Check: c}
		switch {
		case c.Err == nil:
		case c.Confines:
			line.Hint = c.Err.Error()
		default:
			line.Hint = strings.TrimSuffix(failure.Hint(c.Err), failure.SeeDoctor)
		}
		all = append(all, line)
	}
	return all
}

func (a *app) printDiagnosis(d *bgremove.Diagnosis) error {
	b := a.build()
	var text strings.Builder
	fmt.Fprintf(&text, "bgremove %s, %s\n", b.Version, b.Platform)
	for _, c := range checkLines(d) {
		mark := "ok     "
		switch {
		case !c.OK && c.Needed:
			mark = "MISSING"
		case !c.OK:
			mark = "absent "
		}
		fmt.Fprintf(&text, "%s  %-22s %s\n", mark, c.Name, c.Detail)
		if c.Hint != "" {
			fmt.Fprintf(&text, "         %-22s %s\n", "", c.Hint)
		}
	}
	_, err := io.WriteString(a.Out, text.String())
	return err
}
