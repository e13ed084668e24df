//go:build linux && cgo

// Command bench measures bgremove beside ffmpeg doing the same work, in one
// run, and prints the ratios. Only ratios mean anything on a shared machine.
//
//	go run ./tools/bench          overhead over ffmpeg, batches, memory against length
//	go run ./tools/bench -network overhead of neural networks, reuse
//	go run ./tools/bench -batch   batches of short clips, by --jobs
//	go run ./tools/bench -soak    memory over ten minutes of 1080p
//	go run ./tools/bench -peers   against ImageMagick and rembg, which make bench-peers brings
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"

	"github.com/bgremove/bgremove/internal/media/ffmpeg"
)

func main() {
	soak := flag.Bool("soak", false, "measure memory over ten minutes of 1080p")
	peers := flag.Bool("peers", false, "measure against ImageMagick and rembg")
	memory := flag.String("memory", "", "internal: remove the background of this `clip` and print the peak memory")
	network := flag.Bool("network", false, "measure neural networks alone")
	batch := flag.Bool("batch", false, "measure batches of short clips alone, with several values of --jobs")
	runs := flag.Int("runs", 3, "pairs of runs, whose median ratio is printed")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := run(ctx, *network, *batch, *soak, *peers, *memory, *runs)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, network, batch, soak, peers bool, memory string, runs int) error {
	if memory != "" {
		return removeAndReport(ctx, memory)
	}
	tools, err := ffmpeg.Find(ctx, "", "")
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "bgremove-bench-*")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	b := &bench{tools: tools, dir: dir, runs: runs}
	switch {
	case network:
		return b.segmentation(ctx, runs)
	case batch:
		return b.batch(ctx, runs, 1, 2, 3, 4)
	case soak:
		return b.memory(ctx, 300, 18_000)
	case peers:
		if err := b.imageMagick(ctx); err != nil {
			return err
		}
		return b.rembg(ctx)
	}
	if err := b.overhead(ctx, 300, runs); err != nil {
		return err
	}
	if err := b.overhead(ctx, 1500, 1); err != nil { // minutes a run
		return err
	}
	if err := b.segmentation(ctx, runs); err != nil {
		return err
	}
	if err := b.batch(ctx, runs, 0); err != nil {
		return err
	}
	return b.memory(ctx, 300, 3_000)
}

// bench is what all measurements share.
type bench struct {
	tools *ffmpeg.Tools
	dir   string
	runs  int
}

func (b *bench) path(name string) string { return filepath.Join(b.dir, name) }
