// Package firefoxtest drives Firefox in the tests of pages, which otherwise run
// in Chromium. The steps are scripts for Node, because Puppeteer speaks Firefox's
// protocol, WebDriver BiDi, and no Go module does.
package firefoxtest

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"testing"
	"time"
)

// patience is the longest time of a script.
const patience = 4 * time.Minute

// Run runs a script with arguments, and returns its output. The script's default
// export is a function of a page of Firefox and of the arguments, and its result is the
// output as JSON. If it throws, or a page has an error, the test fails. Where Node,
// Firefox or Puppeteer is missing, the test is skipped outside CI.
func Run(t testing.TB, script string, args ...string) []byte {
	t.Helper()
	node, firefox := needed(t, "node"), needed(t, "firefox-esr", "firefox")
	puppeteer := os.Getenv("BGREMOVE_TEST_PUPPETEER")
	if _, err := os.Stat(filepath.Join(puppeteer, "puppeteer-core")); puppeteer == "" || err != nil {
		missing(t, "BGREMOVE_TEST_PUPPETEER names no folder of Node modules with puppeteer-core; make test does")
	}
	absolute, err := filepath.Abs(script)
	if err != nil {
		t.Fatal(err)
	}
	_, here, _, _ := runtime.Caller(0)
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, node, append([]string{filepath.Join(filepath.Dir(here), "run.mjs"), absolute}, args...)...)
	cmd.Env = append(os.Environ(), "BGREMOVE_TEST_FIREFOX="+firefox, "BGREMOVE_TEST_PUPPETEER="+puppeteer, "HOME="+t.TempDir())
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) } // Puppeteer then ends Firefox
	cmd.WaitDelay = 10 * time.Second
	out, err := cmd.Output()
	if err != nil {
		var exit *exec.ExitError
		if errors.As(err, &exit) {
			t.Fatalf("%s in Firefox: %v\n%s", script, err, exit.Stderr)
		}
		t.Fatal(err)
	}
	return out
}

// needed finds one of some programs.
func needed(t testing.TB, names ...string) string {
	t.Helper()
	for _, name := range names {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	missing(t, "none of these programs is installed: %v; make setup does it", names)
	return ""
}

func missing(t testing.TB, format string, args ...any) {
	t.Helper()
	if os.Getenv("CI") == "true" {
		t.Fatalf(format, args...)
	}
	t.Skipf(format, args...)
}
