// Package browsertest finds the browsers that the tests of pages need, and drives Firefox.
package browsertest

import (
	"os"
	"os/exec"
	"strings"
	"testing"
)

// Chromium is the path of Chromium's program. Where there is none, the test is skipped
// outside CI.
func Chromium(t testing.TB) string {
	t.Helper()
	return found(t, "chromium", "chromium-browser", "google-chrome")
}

// found is the path of the first of some programs that there is.
func found(t testing.TB, names ...string) string {
	t.Helper()
	for _, name := range names {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	Missing(t, "none of these programs is installed: %s; make setup does it", strings.Join(names, ", "))
	return ""
}

// Missing skips a test for which something is not installed, and fails it in CI.
func Missing(t testing.TB, format string, args ...any) {
	t.Helper()
	if os.Getenv("CI") == "true" {
		t.Fatalf(format, args...)
	}
	t.Skipf(format, args...)
}
