package cli

import (
	"fmt"
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
					Checks []checked `json:"checks"`
				}{a.build(), checkedAll(d)}); err != nil {
					return err
				}
			} else {
				a.printDiagnosis(d)
			}
			return d.Err()
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON object")
	a.deviceFlags(cmd.Flags(), "do without networks where they would run on the CPU")
	a.engineFlags(cmd.Flags())
	return cmd
}

// checked is a check and what to do about it or, of the sandbox, why a part does
// not work.
type checked struct {
	bgremove.Check
	Hint string `json:"hint,omitempty"`
}

func checkedAll(d *bgremove.Diagnosis) []checked {
	var all []checked
	for _, c := range d.Checks {
		line := checked{Check: c}
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

func (a *app) printDiagnosis(d *bgremove.Diagnosis) {
	b := a.build()
	fmt.Fprintf(a.Out, "bgremove %s, %s\n", b.Version, b.Platform)
	for _, c := range checkedAll(d) {
		mark := "ok     "
		switch {
		case !c.OK && c.Needed:
			mark = "MISSING"
		case !c.OK:
			mark = "absent "
		}
		fmt.Fprintf(a.Out, "%s  %-22s %s\n", mark, c.Name, c.Detail)
		if c.Hint != "" {
			fmt.Fprintf(a.Out, "         %-22s %s\n", "", c.Hint)
		}
	}
}
