package flags_test

import (
	"testing"

	"github.com/spf13/cobra"

	"github.com/bgremove/bgremove/internal/cli/flags"
)

// A flag that the environment or a file sets after MarkTyped is not typed.
func TestTyped(t *testing.T) {
	t.Parallel()
	cmd := &cobra.Command{Use: "test"}
	for _, name := range []string{"typed", "set", "left"} {
		cmd.Flags().String(name, "", "")
	}
	if err := cmd.ParseFlags([]string{"--typed", "x"}); err != nil {
		t.Fatal(err)
	}
	flags.MarkTyped(cmd)
	if err := cmd.Flags().Set("set", "x"); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]bool{"typed": true, "set": false, "left": false, "unknown": false} {
		if got := flags.Typed(cmd, name); got != want {
			t.Errorf("--%s is typed: %t", name, got)
		}
	}
}
