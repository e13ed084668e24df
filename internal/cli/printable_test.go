//go:build unix

package cli_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// A file's name may be a stranger's. In what people read it moves no cursor.
func TestNamesArePrintable(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	good, bad := dir+"/a\x1b[2J.gif", dir+"/b\x1b[2J.gif"
	sample(t, "pygif/animation.gif", good)
	if err := os.WriteFile(bad, []byte("GIF"), 0o600); err != nil {
		t.Fatal(err)
	}
	for want, args := range map[string][]string{
		"input ":    {"probe", good},
		"3 credits": {"client", "submit", good, "--dry-run"},
		"failed: /": {"batch", bad, "--out", filepath.Join(dir, "out")},
	} {
		out, _ := exec.CommandContext(t.Context(), "bgremove", args...).CombinedOutput() // the batch fails
		if text := string(out); !strings.Contains(text, want) || !strings.Contains(text, "�[2J.gif") || strings.Contains(text, "\x1b") {
			t.Errorf("%q: %q", args, text)
		}
	}
}
