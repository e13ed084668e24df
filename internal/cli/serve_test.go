package cli_test

import (
	"os"
	"regexp"
	"syscall"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

// listening matches the log line with the service's address.
var listening = regexp.MustCompile(`"?msg"?[=:]"?listening"?[ ,]"?url"?[=:]"?(http[^" ]+)`)

// listeningAt VARIABLE LOG waits until a service in the background listens, and
// puts its address into a variable. LOG is the service's standard error.
func listeningAt(ts *testscript.TestScript, _ bool, args []string) {
	limit := time.After(30 * time.Second)
	for tick := time.NewTicker(5 * time.Millisecond); ; {
		log, err := os.ReadFile(ts.MkAbs(args[1]))
		if found := listening.FindSubmatch(log); err == nil && found != nil {
			ts.Setenv(args[0], string(found[1]))
			return
		}
		select {
		case <-tick.C:
		case <-limit:
			ts.Fatalf("it does not listen: %s", log)
		}
	}
}

// terminate stops the processes in the background with a signal, as systems do.
func terminate(ts *testscript.TestScript, _ bool, _ []string) {
	for _, cmd := range ts.BackgroundCmds() {
		ts.Check(cmd.Process.Signal(syscall.SIGTERM))
	}
}
