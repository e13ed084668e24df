package cli_test

import (
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"github.com/bgremove/bgremove/internal/cli"
)

// everyCommand visits a command and all commands below it.
func everyCommand(cmd *cobra.Command, visit func(*cobra.Command)) {
	visit(cmd)
	for _, c := range cmd.Commands() {
		if c.IsAvailableCommand() || c.Name() == "help" {
			everyCommand(c, visit)
		}
	}
}

// The help of every command begins with its commonest use, and lists its examples
// where it has more.
func TestHelpBeginsWithAnExample(t *testing.T) {
	t.Parallel()
	everyCommand(cli.Manual(), func(cmd *cobra.Command) {
		lines := strings.Split(cmd.Example, "\n")
		help := &strings.Builder{}
		cmd.SetOut(help)
		if err := cmd.Help(); err != nil {
			t.Fatal(err)
		}
		begin, _, _ := strings.Cut(help.String(), "\n\n")
		if begin != lines[0] || !strings.HasPrefix(begin, "  "+cmd.CommandPath()) {
			t.Errorf("the help of %s begins with %q; its first example is %q", cmd.CommandPath(), begin, lines[0])
		}
		if strings.Contains(help.String(), "\nExamples:\n"+cmd.Example+"\n") != (len(lines) > 1) {
			t.Errorf("%s has %d examples; its help is\n%s", cmd.CommandPath(), len(lines), help)
		}
	})
}

// One line says what a command does, as those of all others do.
func TestLinesOfCommands(t *testing.T) {
	t.Parallel()
	everyCommand(cli.Manual(), func(cmd *cobra.Command) {
		if cmd.HasParent() && (strings.ToLower(cmd.Short[:1]) != cmd.Short[:1] || strings.HasSuffix(cmd.Short, ".")) {
			t.Errorf("%s: %q", cmd.CommandPath(), cmd.Short)
		}
	})
}

// A line of a help's text is neither too long for a terminal nor broken early.
func TestHelpIsWrapped(t *testing.T) {
	t.Parallel()
	everyCommand(cli.Manual(), func(cmd *cobra.Command) {
		lines := strings.Split(cmd.Long, "\n")
		for i, line := range lines {
			if utf8.RuneCountInString(line) > 100 {
				t.Errorf("%s: %q is too long", cmd.CommandPath(), line)
			}
			if i == len(lines)-1 || line == "" || strings.ContainsAny(line[len(line)-1:], ".:;") {
				continue
			}
			if next, _, _ := strings.Cut(lines[i+1], " "); next != "" && len(line)+len(next) < 60 {
				t.Errorf("%s: %q has room for %q", cmd.CommandPath(), line, next)
			}
		}
	})
}

// A command has the words of --fps and --quality that apply to it.
func TestHelpOfTiming(t *testing.T) {
	t.Parallel()
	for name, all := range map[string]bool{"remove": true, "batch": true, "edit": false, "client submit": false} {
		cmd, _, err := cli.Manual().Find(strings.Fields(name))
		if err != nil {
			t.Fatal(err)
		}
		f := cmd.Flags()
		if strings.Contains(f.Lookup("fps").Usage, "numbered pictures") != all || strings.Contains(f.Lookup("quality").Usage, "hevc") != all {
			t.Errorf("%s: %s; %s", name, f.Lookup("fps").Usage, f.Lookup("quality").Usage)
		}
	}
}

// commandLines are the calls of the program in a text, without what a shell does
// with their input and output.
func commandLines(text string) (lines [][]string) {
	call := regexp.MustCompile(`\bbgremove [^|<>)]+`)
	for line := range strings.Lines(text) {
		for _, found := range call.FindAllString(line, -1) {
			found = strings.NewReplacer("'", "", `"`, "").Replace(found)
			if before, _, cut := strings.Cut(found, " >"); cut {
				found = before
			}
			lines = append(lines, strings.Fields(found))
		}
	}
	return lines
}

// checkCommandLine reports a command line that the program would refuse before it
// looks at any file.
func checkCommandLine(t *testing.T, where string, args []string) {
	t.Helper()
	cmd, rest, err := cli.Manual().Find(args[1:])
	if err == nil {
		err = cmd.ParseFlags(rest)
	}
	if err == nil {
		err = cmd.ValidateArgs(cmd.Flags().Args())
	}
	if err != nil {
		t.Errorf("%s: %s: %v", where, strings.Join(args, " "), err)
	}
}

// The examples of all commands are ones that the program takes.
func TestExamplesAreTaken(t *testing.T) {
	t.Parallel()
	everyCommand(cli.Manual(), func(cmd *cobra.Command) {
		for _, args := range commandLines(cmd.Example) {
			checkCommandLine(t, "an example of "+cmd.CommandPath(), args)
		}
	})
	for _, step := range cli.FirstSteps() {
		checkCommandLine(t, "the first steps", strings.Fields(step))
	}
}
