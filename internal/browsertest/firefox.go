package browsertest

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

// Firefox runs a script with arguments, and returns its output. It is a script for Node,
// because Puppeteer speaks Firefox's protocol, WebDriver BiDi, and no Go module does. Its
// default export is a function of a page of Firefox and of the arguments, and its result is
// the output as JSON. If it throws, or a page has an error, the test fails. Where Node, Firefox
// or Puppeteer is missing, the test is skipped outside CI.
func Firefox(t testing.TB, script string, args ...string) []byte {
	t.Helper()
	node, firefox := found(t, "node"), found(t, "firefox-esr", "firefox")
	puppeteer := os.Getenv("BGREMOVE_TEST_PUPPETEER")
	if _, err := os.Stat(filepath.Join(puppeteer, "puppeteer-core")); puppeteer == "" || err != nil {
		Missing(t, "BGREMOVE_TEST_PUPPETEER names no folder of Node modules with puppeteer-core; make test does")
	}
	absolute, err := filepath.Abs(script)
	if err != nil {
		t.Fatal(err)
	}
	_, here, _, _ := runtime.Caller(0)
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, node, append([]string{filepath.Join(filepath.Dir(here), "firefox.mjs"), absolute}, args...)...)
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
