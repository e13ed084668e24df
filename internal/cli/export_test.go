package cli

import (
	"github.com/spf13/pflag"

	"github.com/bgremove/bgremove/internal/cli/term"
	"github.com/bgremove/bgremove/internal/model"
)

// SetCatalogue replaces the built-in models of the command line.
func SetCatalogue(models []model.Model) { catalogue = models }

// ServeFlags are the flags of serve that the environment and a file may set.
func ServeFlags() *pflag.FlagSet {
	return settable((&app{Streams: &term.Streams{}}).serveCommand())
}

// HintOf is what a reader at a shell can do about an error.
var HintOf = hintOf
