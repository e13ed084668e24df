package cli_test

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/pflag"

	"github.com/bgremove/bgremove/internal/cli"
	"github.com/bgremove/bgremove/internal/config"
)

// TestServeEnvironment checks that every flag of serve has a variable.
func TestServeEnvironment(t *testing.T) {
	samples := map[string]string{"bool": "true", "int": "7", "int64": "7", "size": "7", "duration": "7s", "string": "seven", "word": "seven", "sandbox": "on", "stringSlice": "[10.0.0.0/8]", "secret": "(hidden)"}
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

// TestServeIsDocumented compares the table of settings in docs/operations.md
// with the flags.
func TestServeIsDocumented(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../docs/operations.md")
	if err != nil {
		t.Fatal(err)
	}
	var want strings.Builder
	cli.ServeFlags().VisitAll(func(f *pflag.Flag) {
		_, usage := pflag.UnquoteUsage(f)
		fmt.Fprintf(&want, "| `--%s` | %s | %s |\n", f.Name, shownDefault(f), usage)
	})
	_, table, _ := strings.Cut(string(text), "| flag | default | |\n| --- | --- | --- |\n")
	table, _, _ = strings.Cut(table, "\n\n")
	if diff := cmp.Diff(want.String(), table+"\n"); diff != "" {
		t.Errorf("flags (-), document (+):\n%s", diff)
	}
}

// shownDefault is a flag's default as people write it. Some defaults depend on
// the machine.
func shownDefault(f *pflag.Flag) string {
	switch f.Name {
	case "data":
		return "`~/.local/share/bgremove`"
	case "slots":
		return "half of the cores"
	}
	switch f.DefValue {
	case "", "[]", "false":
		return ""
	}
	return "`" + strings.NewReplacer("h0m0s", "h", "m0s", "m").Replace(f.DefValue) + "`"
}

// TestDeployed checks the settings of serve in deploy/: every flag exists, and
// there is enough time to drain.
func TestDeployed(t *testing.T) {
	t.Parallel()
	flags := cli.ServeFlags()
	known := map[string]bool{}
	flags.VisitAll(func(f *pflag.Flag) { known[config.Variable(f.Name)] = true })
	drain, err := flags.GetDuration("drain")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range []string{"bgremove.service", "compose.yaml"} {
		text, err := os.ReadFile("../../deploy/" + file)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range regexp.MustCompile(`BGREMOVE_[A-Z_]+[A-Z]`).FindAllString(string(text), -1) {
			if !known[name] {
				t.Errorf("%s sets %s, which is no flag", file, name)
			}
		}
		for _, command := range regexp.MustCompile(`bgremove serve .*|command: \[serve.*`).FindAllString(string(text), -1) {
			for _, flag := range regexp.MustCompile(`--([a-z-]+)`).FindAllStringSubmatch(command, -1) {
				if flags.Lookup(flag[1]) == nil {
					t.Errorf("%s gives --%s, which is no flag", file, flag[1])
				}
			}
		}
		stop := regexp.MustCompile(`(?:TimeoutStopSec=|stop_grace_period: )(\d+)s?\b`).FindStringSubmatch(string(text))
		if stop == nil {
			t.Fatalf("%s gives no time to stop", file)
		}
		if limit, err := time.ParseDuration(stop[1] + "s"); err != nil || limit <= drain {
			t.Errorf("%s stops the service after %v, --drain is %v", file, limit, drain)
		}
	}
}

// FuzzServeSettings checks that any file is either refused with a message or
// sets flags.
func FuzzServeSettings(f *testing.F) {
	f.Add("addr: 127.0.0.1:0\ntrusted-proxies: [10.0.0.0/8]\ndrain: 5s\n")
	f.Add("max-file: 1e400\nkeep-jobs: -1h\nlocal: maybe\n")
	f.Add("a: &a [*a, *a]\n? {x: y}\n: [1, 2]\n")
	path := filepath.Join(f.TempDir(), "config.yaml")
	f.Fuzz(func(t *testing.T, text string) {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		flags := cli.ServeFlags()
		if err := config.Fill(flags, path, nil); err != nil && (err.Error() == "" || strings.Contains(err.Error(), "panic")) {
			t.Errorf("%q: %v", text, err)
		}
	})
}
