// Package clitest lets tests run the program as a process of its own.
package clitest

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"github.com/bgremove/bgremove/internal/cli"
	"github.com/bgremove/bgremove/internal/cli/term"
	"github.com/bgremove/bgremove/pkg/bgremove"
)

// Main is the program with version 1.2.3-test, including its signals. It calls
// prepare before a command runs, unless that is nil. It does not return.
func Main(prepare func()) {
	bgremove.InitSandbox()
	if prepare != nil {
		prepare()
	}
	ctx, cancel := context.WithCancelCause(context.Background())
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	go func() {
		<-signals
		cancel(cli.ErrInterrupted)
	}()
	os.Exit(cli.Main(ctx, "1.2.3-test", os.Args[1:], &term.Streams{In: os.Stdin, Out: os.Stdout, Err: os.Stderr}))
}
