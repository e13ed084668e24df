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
	"github.com/bgremove/bgremove/internal/cli/flags"
	"github.com/bgremove/bgremove/internal/config"
	"github.com/bgremove/bgremove/internal/media/ffmpeg"
	"github.com/bgremove/bgremove/internal/network/ortlib"
	"github.com/bgremove/bgremove/internal/service/account"
	"github.com/bgremove/bgremove/internal/service/httpapi"
	"github.com/bgremove/bgremove/internal/service/job"
	"github.com/bgremove/bgremove/internal/service/server"
	"github.com/bgremove/bgremove/internal/service/session"
	"github.com/bgremove/bgremove/pkg/client"
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
	serve, _, err := cli.Manual().Find([]string{"serve"})
	if err != nil {
		t.Fatal(err)
	}
	var want strings.Builder
	serve.LocalNonPersistentFlags().VisitAll(func(f *pflag.Flag) {
		_, usage := pflag.UnquoteUsage(f)
		fmt.Fprintf(&want, "| `--%s` | %s | %s |\n", f.Name, shownDefault(f.DefValue), usage)
	})
	_, table, _ := strings.Cut(string(text), "| flag | default | |\n| --- | --- | --- |\n")
	table, _, _ = strings.Cut(table, "\n\n")
	if diff := cmp.Diff(want.String(), table+"\n"); diff != "" {
		t.Errorf("flags (-), document (+):\n%s", diff)
	}
}

// shownDefault is a flag's default as people write it: as code, unless it is
// words.
func shownDefault(value string) string {
	switch {
	case value == "", value == "[]", value == "false":
		return ""
	case strings.Contains(value, " "):
		return value
	}
	return "`" + strings.NewReplacer("h0m0s", "h", "m0s", "m").Replace(value) + "`"
}

// The service knows the flags of options that have another name there.
func TestServiceKnowsFlags(t *testing.T) {
	t.Parallel()
	for flag, name := range httpapi.FlagNames {
		if flags.Name(name) != flag {
			t.Errorf("--%s is not the flag of %s", flag, name)
		}
	}
}

// TestNumbersInProse checks that the documents have the numbers of the program.
func TestNumbersInProse(t *testing.T) {
	t.Parallel()
	c, requests := server.DefaultConfig(), httpapi.DefaultConfig()
	work, mb := c.Engine.ChildLimits, int64(1e6)
	for file, sentences := range map[string][]string{
		"docs/operations.md": {
			fmt.Sprintf("`--max-file` bytes, and %d times that for batches", httpapi.MaxFiles),
			fmt.Sprintf("after %.0f s without a byte", requests.Stall.Seconds()),
			fmt.Sprintf("# %d files of --max-file, and the form", httpapi.MaxFiles),
			fmt.Sprintf("client_max_body_size %dm;", httpapi.MaxFiles*c.MaxFile/mb+100),
			fmt.Sprintf("max_size %dMB", httpapi.MaxFiles*c.MaxFile/mb+100),
			fmt.Sprintf("may have %d × `--max-file` bytes", httpapi.MaxFiles),
			fmt.Sprintf("or %d,000 frames", server.MaxFrames/1000),
			"Links work for " + account.ConfirmToken.Validity(),
			"works once within " + account.ResetToken.Validity(),
			fmt.Sprintf("plus %d times the clip's duration", job.TimePerDuration),
			fmt.Sprintf("a minute, %d at once", session.DefaultThrottle().Rate.Burst),
			fmt.Sprintf("%.0f hours of CPU time and %d GiB of output", work.CPU.Hours(), work.FileSize>>30),
		},
		"docs/api.md": {
			fmt.Sprintf("takes up to %d files", httpapi.MaxFiles),
			fmt.Sprintf("Within %.0f hours the same key", c.Jobs.KeepAnswers.Hours()),
			fmt.Sprintf("within %.0f minutes. The address", httpapi.FetchTime.Minutes()),
			fmt.Sprintf("a file is larger than %d MB", c.MaxFile/mb),
			fmt.Sprintf("kept for %.0f hours after their job has ended, results for %.0f days", c.Jobs.KeepInputs.Hours(), c.Jobs.KeepOutputs.Hours()/24),
		},
		"docs/client.md": {
			fmt.Sprintf("More than %d files become several batches", client.MaxBatch),
			fmt.Sprintf("with `--idempotency-key` within %.0f hours", c.Jobs.KeepAnswers.Hours()),
		},
		"docs/dashboard.md": {
			fmt.Sprintf("(`--keep-inputs`, %.0f h)", c.Jobs.KeepInputs.Hours()),
			fmt.Sprintf("up to %d clips", httpapi.MaxFiles),
			fmt.Sprintf("at most %d keys", account.MaxKeys),
		},
		"internal/mcp/job.go":                        {fmt.Sprintf("Within %.0f hours the same submission", c.Jobs.KeepAnswers.Hours())},
		"clients/python/bgremove_client/__init__.py": {fmt.Sprintf("within %.0f hours finds the job", c.Jobs.KeepAnswers.Hours())},
		"clients/python/README.md":                   {fmt.Sprintf("within %.0f hours finds out", c.Jobs.KeepAnswers.Hours())},
		"clients/typescript/src/index.ts":            {fmt.Sprintf("within %.0f hours finds the job", c.Jobs.KeepAnswers.Hours())},
		"clients/typescript/README.md":               {fmt.Sprintf("within %.0f hours finds out", c.Jobs.KeepAnswers.Hours())},
		"examples/ci/stickers.yaml":                  {fmt.Sprintf("within %.0f hours", c.Jobs.KeepAnswers.Hours())},
		"pkg/client/form.go":                         {fmt.Sprintf("sent again within %.0f hours", c.Jobs.KeepAnswers.Hours())},
		"pkg/client/errors.go":                       {fmt.Sprintf("within %.0f hours find out", c.Jobs.KeepAnswers.Hours())},
		"internal/cli/clientcmd/options.go":          {fmt.Sprintf("within %.0f hours the same submission", c.Jobs.KeepAnswers.Hours())},
		"docs/architecture.md":                       {fmt.Sprintf("no answer for %.0f s", c.Patience.Seconds())},
		"pkg/api/openapi.yaml": {
			fmt.Sprintf("Up to %d files", httpapi.MaxFiles),
			fmt.Sprintf("(%d MB of 10⁶ bytes a file", c.MaxFile/mb),
			fmt.Sprintf("kept for %.0f hours after the end and outputs for %.0f days", c.Jobs.KeepInputs.Hours(), c.Jobs.KeepOutputs.Hours()/24),
			fmt.Sprintf("send it again within %.0f hours", c.Jobs.KeepAnswers.Hours()),
			fmt.Sprintf("at most %d active keys", account.MaxKeys),
			fmt.Sprintf("has %d active keys", account.MaxKeys),
		},
	} {
		checkSays(t, file, sentences...)
	}
}

// TestVersionsInProse checks that texts name the versions that the program needs.
func TestVersionsInProse(t *testing.T) {
	t.Parallel()
	goVersion := regexp.MustCompile(` go (\d+\.\d+)`).FindStringSubmatch(unbroken(t, "go.mod"))[1]
	oldest := fmt.Sprintf("%d.%d or newer", ffmpeg.MinMajor, ffmpeg.MinMinor)
	for file, sentences := range map[string][]string{
		"README.md":                    {"[ffmpeg](https://ffmpeg.org) " + oldest, "you need Go " + goVersion + " and", "later fetch " + goVersion + " by"},
		"deploy/Containerfile":         {"golang:" + goVersion + "-"},
		"deploy/kubernetes/go.mod":     {"go " + goVersion},
		"internal/cli/failure/hint.go": {"install ffmpeg " + oldest},
		"pkg/bgremove/bgremove.go":     {"the ffmpeg program, " + oldest},
		"examples/stickers/main.go":    {"install ffmpeg " + oldest},
		"docs/usage.md":                {"onnxruntime-linux-x64-gpu-" + ortlib.Version},
	} {
		checkSays(t, file, sentences...)
	}
}

// checkSays checks that a file of the repository has some sentences.
func checkSays(t *testing.T, file string, sentences ...string) {
	t.Helper()
	text := unbroken(t, file)
	for _, want := range sentences {
		if !strings.Contains(text, want) {
			t.Errorf("%s does not say %q", file, want)
		}
	}
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
