package term_test

import (
	"testing"

	"github.com/bgremove/bgremove/internal/cli/term"
)

func TestCount(t *testing.T) {
	t.Parallel()
	for n, want := range map[int]string{0: "0 frames", 1: "1 frame", 2: "2 frames"} {
		if got := term.Count(n, "frame"); got != want {
			t.Errorf("%d: %q", n, got)
		}
	}
}
