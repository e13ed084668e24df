package cli_test

import (
	"strings"
	"testing"

	"github.com/spf13/pflag"

	"github.com/bgremove/bgremove/internal/cli"
	"github.com/bgremove/bgremove/internal/config"
)

// TestServeEnvironment wants every flag of serve to have its variable.
func TestServeEnvironment(t *testing.T) {
	samples := map[string]string{"bool": "true", "int": "7", "int64": "7", "duration": "7s", "string": "seven", "word": "seven", "stringSlice": "[10.0.0.0/8]"}
	flags := cli.ServeFlags()
	flags.VisitAll(func(f *pflag.Flag) { t.Setenv(config.Variable(f.Name), strings.Trim(samples[f.Value.Type()], "[]")) })
	if err := config.Fill(flags, "", nil); err != nil {
		t.Fatal(err)
	}
	flags.VisitAll(func(f *pflag.Flag) {
		if got := f.Value.String(); got != samples[f.Value.Type()] {
			t.Errorf("%s makes --%s %q", config.Variable(f.Name), f.Name, got)
		}
	})
}
