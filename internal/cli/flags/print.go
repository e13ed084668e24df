package flags

import "github.com/spf13/pflag"

// AddQuiet adds --quiet.
func AddQuiet(f *pflag.FlagSet, quiet *bool) {
	f.BoolVarP(quiet, "quiet", "q", false, "no progress, no messages but errors")
}

// AddJSON adds --json of a command with one result.
func AddJSON(f *pflag.FlagSet, asJSON *bool) {
	f.BoolVar(asJSON, "json", false, "print one JSON object")
}
