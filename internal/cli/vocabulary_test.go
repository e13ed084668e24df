package cli_test

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/bgremove/bgremove/internal/cli"
	"github.com/bgremove/bgremove/internal/cli/flags"
	"github.com/bgremove/bgremove/internal/service/job"
	"github.com/bgremove/bgremove/pkg/option"
)

// command finds one of the commands.
func command(t *testing.T, path ...string) *cobra.Command {
	t.Helper()
	cmd, _, err := cli.Manual().Find(path)
	if err != nil {
		t.Fatal(err)
	}
	return cmd
}

// hintFlags are those of the option hints.
var hintFlags = []string{"keep", "drop", "keep-box", "drop-box", "keep-mask"}

// Every option has a flag with its default, in a group of the help, and the flag's
// text names the words and the bounds. The client's are those that the service
// takes.
func TestEveryOptionHasAFlag(t *testing.T) {
	t.Parallel()
	remove, submit := command(t, "remove"), command(t, "client", "submit")
	for _, name := range hintFlags {
		if remove.Flags().Lookup(name) == nil || !slices.Contains(cli.GroupedFlags(), name) {
			t.Errorf("remove has no --%s, or it is in no group of the help", name)
		}
		if offered := name != "keep-mask"; offered != (submit.Flags().Lookup(name) != nil) { // a mask is a file
			t.Errorf("client submit and the service differ about --%s", name)
		}
	}
	for _, f := range option.Fields() {
		name := flags.Name(f.Name)
		if f.Name == "hints" {
			continue
		}
		flag := remove.Flags().Lookup(name)
		if flag == nil {
			t.Errorf("remove has no --%s for %s", name, f.Name)
			continue
		}
		if standard := flag.DefValue; standard != "" && f.Default != "" && standard != f.Default {
			t.Errorf("--%s defaults to %s, and not to %s", name, standard, f.Default)
		}
		told := slices.Clone(f.Words)
		if f.Range != (option.Range{}) {
			told = []string{fmt.Sprintf("%d..%d", f.Range.Min, f.Range.Max)}
		}
		for _, word := range told {
			if !strings.Contains(flag.Usage, word) {
				t.Errorf("the help of --%s does not say %s: %s", name, word, flag.Usage)
			}
		}
		if !slices.Contains(cli.GroupedFlags(), name) {
			t.Errorf("--%s is in no group of the help", name)
		}
		if offered := slices.Contains(job.OptionNames(), f.Name); offered != (submit.Flags().Lookup(name) != nil) {
			t.Errorf("client submit and the service differ about --%s", name)
		}
	}
}

// The documents name every flag of an option, and the bounds that they give are
// right.
func TestOptionsAreDocumented(t *testing.T) {
	t.Parallel()
	usage, client := document(t, "usage.md"), document(t, "client.md")
	for _, name := range hintFlags {
		if !strings.Contains(usage, "--"+name) {
			t.Errorf("usage.md does not name --%s", name)
		}
		if name != "keep-mask" && !strings.Contains(client, "--"+name) {
			t.Errorf("client.md does not name --%s", name)
		}
	}
	for _, f := range option.Fields() {
		flag := "--" + flags.Name(f.Name)
		if f.Name == "hints" {
			continue
		}
		if !strings.Contains(usage, flag) {
			t.Errorf("usage.md does not name %s", flag)
		}
		if slices.Contains(job.OptionNames(), f.Name) && !strings.Contains(client, flag) {
			t.Errorf("client.md does not name %s", flag)
		}
	}
	for _, want := range []string{
		fmt.Sprintf("`--tolerance` (%d to %d)", option.Tolerance.Min, option.Tolerance.Max),
		fmt.Sprintf("`--pad` adds pixels on each side (%d)", option.Pad.Default),
		fmt.Sprintf("`--quality %d..%d`", option.Quality.Min, option.Quality.Max),
		fmt.Sprintf("For GIF (%d)", option.QualityGIF),
		fmt.Sprintf("For WebP (%d)", option.QualityWebP),
		fmt.Sprintf("For AVIF, WebM and MP4 (%d)", option.QualityVideo),
	} {
		if !strings.Contains(usage, want) {
			t.Errorf("usage.md does not say %s", want)
		}
	}
	for _, f := range option.Formats() {
		if !strings.Contains(usage, "`."+f.Extension()+"`") {
			t.Errorf("usage.md does not name .%s", f.Extension())
		}
	}
}

// document is a document's text, its lines joined.
func document(t *testing.T, name string) string {
	t.Helper()
	return unbroken(t, "docs/"+name)
}

// unbroken is the text of a file of the repository, its lines joined.
func unbroken(t *testing.T, file string) string {
	t.Helper()
	text, err := os.ReadFile("../../" + file)
	if err != nil {
		t.Fatal(err)
	}
	return strings.Join(strings.Fields(string(text)), " ")
}

// TestListNamesStates checks that the help of `client list` names each state of a job.
func TestListNamesStates(t *testing.T) {
	t.Parallel()
	flag := command(t, "client", "list").Flags().Lookup("status")
	var states []string
	for _, s := range job.States() {
		states = append(states, string(s))
	}
	if want := strings.Join(states, ", "); !strings.Contains(flag.Usage, want) {
		t.Errorf("the help of --status does not say %s: %s", want, flag.Usage)
	}
}
