package flags_test

import (
	"testing"

	"github.com/spf13/cobra"

	"github.com/bgremove/bgremove/internal/cli/flags"
)

// An empty argument is what a shell makes of a variable without a value: it names nothing.
func TestEmptyArguments(t *testing.T) {
	t.Parallel()
	cmd := &cobra.Command{Use: "test"}
	for _, args := range [][]string{nil, {""}} {
		if err := flags.OneArgument("INPUT")(cmd, args); err == nil || err.Error() != "INPUT is missing" {
			t.Errorf("one of %q: %v", args, err)
		}
	}
	for _, args := range [][]string{nil, {""}, {"a", ""}} {
		if err := flags.SomeArguments("PATH")(cmd, args); err == nil || err.Error() != "PATH is missing" {
			t.Errorf("some of %q: %v", args, err)
		}
	}
	if err := flags.SomeArguments("PATH")(cmd, []string{"a", "b"}); err != nil {
		t.Error(err)
	}
}

// An option's name in JSON, and that of a header, become those of their flags.
func TestName(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"canvasW": "canvas-w", "bgColor": "bg", "outputFormat": "format", "pad": "pad",
		"Idempotency-Key": "idempotency-key", "webhook-url": "webhook-url",
	} {
		if got := flags.Name(name); got != want {
			t.Errorf("%s is --%s, want --%s", name, got, want)
		}
	}
}
