// Command simulate simulates a day of the service with many workers. It first
// measures how long clips take on this machine, and then prints the age of the
// queue by the number of workers, fairness between accounts, the failure of a
// zone, and the cost of the day. With -check it compares a small real run with
// its simulation.
//
//	go run ./tools/simulate
//	./tools/postgres.sh go run ./tools/simulate -check
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"strings"

	"github.com/bgremove/bgremove/tools/internal/rig"
)

// settings are the flags.
type settings struct {
	check  bool
	clips  int
	files  []string
	format string
	cores  float64
	seed   uint64
}

func main() {
	var s settings
	flag.BoolVar(&s.check, "check", false, "compare a small real run with its simulation; needs BGREMOVE_TEST_POSTGRES")
	flag.IntVar(&s.clips, "clips", 1_000_000, "clips of the day")
	files := flag.String("files", "testdata/real/milk.mov,testdata/real/head.mp4,testdata/demo/hop.mp4", "clips whose work is measured")
	flag.StringVar(&s.format, "format", "webm", "the format of outputs")
	flag.Float64Var(&s.cores, "cores", 2, "cores of a slot, which a job keeps busy")
	flag.Uint64Var(&s.seed, "seed", 1, "the seed of the day")
	flag.Parse()
	s.files = strings.Split(*files, ",")
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := s.run(ctx)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "simulate:", err)
		os.Exit(1)
	}
}

func (s *settings) run(ctx context.Context) (err error) {
	r, err := rig.Open(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	if s.check {
		return compare(ctx, r)
	}
	measured, err := s.measure(ctx, r)
	if err != nil {
		return err
	}
	newDay(s, measured).print()
	return nil
}
