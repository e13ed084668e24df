package config_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/pflag"

	"github.com/bgremove/bgremove/internal/config"
)

// The command line overrides the environment, which overrides the file, which
// overrides the default.
func TestFill(t *testing.T) {
	tests := map[string]struct {
		args []string
		env  string
		file string
		want int
		err  string
	}{
		"default":          {want: 12},
		"file":             {file: "pad: 3\n", want: 3},
		"environment":      {file: "pad: 3\n", env: "4", want: 4},
		"command line":     {args: []string{"--pad", "5"}, file: "pad: 3\n", env: "4", want: 5},
		"of other command": {file: "addr: 127.0.0.1:1\n", want: 12},
		"typo":             {file: "padd: 3\n", err: "padd: no such setting"},
		"bad value":        {file: "pad: three\n", err: `: pad: "three" does not fit`},
		"bad environment":  {env: "x", err: `BGREMOVE_PAD: "x" does not fit`},
		"not yaml":         {file: "pad: [\n", err: "bgremove.yaml: "},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), config.FileName)
			if err := os.WriteFile(path, []byte(tt.file), 0o600); err != nil {
				t.Fatal(err)
			}
			t.Setenv("BGREMOVE_PAD", tt.env)
			flags := pflag.NewFlagSet("", pflag.ContinueOnError)
			pad := flags.Int("pad", 12, "")
			if err := flags.Parse(tt.args); err != nil {
				t.Fatal(err)
			}
			err := config.Fill(flags, path, []string{"pad", "addr"})
			if tt.err != "" {
				if err == nil || !strings.Contains(err.Error(), tt.err) {
					t.Fatalf("error = %v, want %q", err, tt.err)
				}
				return
			}
			if err != nil || *pad != tt.want {
				t.Errorf("pad = %d, %v; want %d", *pad, err, tt.want)
			}
		})
	}
}

func TestFillWithoutFile(t *testing.T) {
	t.Chdir(t.TempDir())
	if err := config.Fill(pflag.NewFlagSet("", pflag.ContinueOnError), "", nil); err != nil {
		t.Error(err)
	}
	if err := config.Fill(pflag.NewFlagSet("", pflag.ContinueOnError), "absent.yaml", nil); err == nil {
		t.Error("a file that was named and is absent passed")
	}
}
