// Command bgremove takes the background out of animations and video.
package main

import (
	"context"
	"os"
	"os/signal"
	"runtime/debug"
	"syscall"

	"github.com/bgremove/bgremove/internal/cli"
	"github.com/bgremove/bgremove/internal/cli/term"
	"github.com/bgremove/bgremove/internal/system/cores"
	"github.com/bgremove/bgremove/pkg/bgremove"
)

// version is set by the linker in releases.
var version string

// gcPercent is the garbage allowed beside live memory, as a percentage. Live
// memory is mostly pictures, which are reused for the next frame and hold no
// pointers. Frequent collection is therefore cheap, while as much garbage again
// would cost a lot of memory.
const gcPercent = 30

func main() {
	bgremove.InitSandbox()
	cores.Spare()
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(gcPercent)
	}
	ctx, cancel := context.WithCancelCause(context.Background())
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	if !signal.Ignored(syscall.SIGHUP) { // it is ignored under nohup; otherwise the terminal has closed
		signal.Notify(signals, syscall.SIGHUP)
	}
	// With this a reader that goes away causes a write error, and we clean up.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
	go func() {
		<-signals
		signal.Stop(signals) // a second one kills the process
		cancel(cli.ErrInterrupted)
	}()
	os.Exit(cli.Main(ctx, version, os.Args[1:], &term.Streams{In: os.Stdin, Out: os.Stdout, Err: os.Stderr}))
}
