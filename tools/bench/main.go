//go:build linux && cgo

// Command bench measures bgremove beside ffmpeg doing the same work, in one
// run, and prints the ratios. Only ratios mean anything on a shared machine.
//
//	go run ./tools/bench          overhead over ffmpeg, batches, memory against length
//	go run ./tools/bench -formats the same for WebP, MOV and stacked
//	go run ./tools/bench -network overhead of neural networks, reuse
//	go run ./tools/bench -natural speed with the bundled network, on the clips of BGREMOVE_BENCH_CLIPS or one of testdata
//	go run ./tools/bench -batch   batches of short clips, by --jobs
//	go run ./tools/bench -encoder settings of VP9, beside libvpx's good mode
//	go run ./tools/bench -soak    memory over ten minutes of 1080p
//	go run ./tools/bench -gifski  GIFs against gifski's, on the clips of BGREMOVE_BENCH_CLIPS and on drawn ones
//	go run ./tools/bench -peers   that, and against ImageMagick and rembg; make bench-peers brings all three
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

// parts are the measurements that have flags of their own.
var parts = []struct {
	name, usage string
	run         func(context.Context, *bench) error
}{
	{"formats", "measure formats other than WebM alone", func(ctx context.Context, b *bench) error { return b.formats(ctx, 300, b.runs) }},
	{"network", "measure neural networks alone", func(ctx context.Context, b *bench) error { return b.segmentation(ctx, b.runs) }},
	{"natural", "measure the bundled network on natural video", func(ctx context.Context, b *bench) error { return b.natural(ctx) }},
	{"batch", "measure batches of short clips alone, with several values of --jobs",
		func(ctx context.Context, b *bench) error { return b.batch(ctx, b.runs, 1, 2, 3, 4) }},
	{"encoder", "measure settings of VP9 alone", func(ctx context.Context, b *bench) error { return b.encoder(ctx) }},
	{"soak", "measure memory over ten minutes of 1080p", func(ctx context.Context, b *bench) error { return b.memory(ctx, 300, 18_000) }},
	{"gifski", "measure GIFs against gifski's alone", func(ctx context.Context, b *bench) error { return b.gifski(ctx) }},
	{"peers", "measure against gifski, ImageMagick and rembg", func(ctx context.Context, b *bench) error {
		if err := b.gifski(ctx); err != nil {
			return err
		}
		if err := b.imageMagick(ctx); err != nil {
			return err
		}
		return b.rembg(ctx)
	}},
}

func main() {
	chosen := all
	for _, p := range parts {
		flag.BoolFunc(p.name, p.usage, func(string) error { chosen = p.run; return nil })
	}
	memory := flag.String("memory", "", "internal: remove the background of this `clip` and print the peak memory")
	runs := flag.Int("runs", 3, "pairs of runs; the median ratio is printed")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	var err error
	if *memory != "" {
		err = removeAndReport(ctx, *memory)
	} else {
		err = run(ctx, *runs, chosen)
	}
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, runs int, measure func(context.Context, *bench) error) error {
	tools, err := ffmpeg.Find(ctx, "", "")
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "bgremove-bench-*")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	return measure(ctx, &bench{tools: tools, dir: dir, runs: runs})
}

// all runs the measurements that need only the project.
func all(ctx context.Context, b *bench) error {
	if err := b.overhead(ctx, 300, b.runs); err != nil {
		return err
	}
	if err := b.overhead(ctx, 1500, 1); err != nil { // minutes per run
		return err
	}
	if err := b.formats(ctx, 300, b.runs); err != nil {
		return err
	}
	if err := b.encoder(ctx); err != nil {
		return err
	}
	if err := b.segmentation(ctx, b.runs); err != nil {
		return err
	}
	if err := b.natural(ctx); err != nil {
		return err
	}
	if err := b.batch(ctx, b.runs, 0); err != nil {
		return err
	}
	return b.memory(ctx, 300, 3_000)
}

// bench is the state that all measurements share.
type bench struct {
	tools *ffmpeg.Tools
	dir   string
	runs  int
}

func (b *bench) path(name string) string { return filepath.Join(b.dir, name) }
