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
	"github.com/bgremove/bgremove/pkg/bgremove"
)

// version is set by the linker in releases.
var version string

// gcPercent is how much garbage there may be beside what is in use. That is
// pictures for the most part, which are kept for the next frame and hold no
// pointers: looking for garbage often is cheap, and as much again would be a lot.
const gcPercent = 30

func main() {
	bgremove.InitSandbox()
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(gcPercent)
	}
	ctx, cancel := context.WithCancelCause(context.Background())
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	if !signal.Ignored(syscall.SIGHUP) { // as under nohup; else the terminal is gone
		signal.Notify(signals, syscall.SIGHUP)
	}
	// A reader that goes away is an error of writing, after which we tidy up.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
	go func() {
		<-signals
		signal.Stop(signals) // a second one ends us the hard way
		cancel(cli.ErrInterrupted)
	}()
	os.Exit(cli.Main(ctx, version, os.Args[1:], &term.Streams{In: os.Stdin, Out: os.Stdout, Err: os.Stderr}))
}
