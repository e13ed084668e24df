package cli

import (
	"github.com/spf13/pflag"

	"github.com/bgremove/bgremove/internal/cli/term"
	"github.com/bgremove/bgremove/internal/network/model"
)

// SetCatalogue replaces the built-in models of the command line.
func SetCatalogue(models []model.Model) { catalogue = models }

// GroupedFlags are the flags that help lists in groups.
func GroupedFlags() (all []string) {
	for _, g := range flagGroups {
		all = append(all, g.flags...)
	}
	return all
}

// ServeFlags are the flags of serve that the environment and a file may set.
func ServeFlags() *pflag.FlagSet {
	return settableFlags((&app{Streams: &term.Streams{}}).serveCommand())
}

// FirstSteps are the command lines for somebody who types only the program's name.
func FirstSteps() (all []string) {
	for _, step := range firstSteps {
		all = append(all, step[0])
	}
	return all
}

// WarningHints are, by the codes of warnings, what to try with any method.
func WarningHints() map[string]string {
	all := map[string]string{}
	for _, hints := range warningHints {
		for code, hint := range hints {
			all[string(code)] += hint + "; "
		}
	}
	return all
}
