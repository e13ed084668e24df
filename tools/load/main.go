//go:build linux

// Command load measures the service: processes of its binary, on databases and
// storage of their own, on this machine. It also prints the machine's own
// performance beside the numbers.
//
//	./tools/postgres.sh go run ./tools/load -versitygw PATH
//	go run ./tools/load -databases sqlite -only submit,poll
//	./tools/postgres.sh go run ./tools/load -databases postgres -only cluster
//	./tools/postgres.sh go run ./tools/load -databases postgres -only split -clip FILE
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"strings"
	"time"

	"github.com/bgremove/bgremove/tools/internal/rig"
)

// settings are the flags.
type settings struct {
	databases, only []string
	versitygw       string
	during          time.Duration
	connections     int
	submitRate      float64
	pollRate        float64
	pickups         int
	uploadSize      int64
	clip            string
	part            time.Duration
}

func main() {
	var s settings
	databases := flag.String("databases", "sqlite,postgres", "what to measure on; postgres needs BGREMOVE_TEST_POSTGRES")
	only := flag.String("only", "submit,poll,pickup,cancel,webhook,streams,cluster,memory", "what to measure")
	flag.StringVar(&s.versitygw, "versitygw", "", "the `binary` of an S3 server, for memory; empty omits S3")
	flag.DurationVar(&s.during, "time", 10*time.Second, "how long each rate is measured")
	flag.IntVar(&s.connections, "connections", 16, "requests at once for measuring the highest rate")
	flag.Float64Var(&s.submitRate, "submit-rate", 50, "submissions per second for measuring latency")
	flag.Float64Var(&s.pollRate, "poll-rate", 3000, "polls per second for measuring latency")
	flag.IntVar(&s.pickups, "pickups", 50, "jobs for measuring the pickup")
	flag.Int64Var(&s.uploadSize, "upload", 200e6, "`bytes` of the upload for measuring memory")
	flag.StringVar(&s.clip, "clip", "", "a `file` for -only split, a video of several minutes")
	flag.DurationVar(&s.part, "part", time.Minute, "--split-over of the workers for -only split")
	flag.Parse()
	s.databases, s.only = strings.Split(*databases, ","), strings.Split(*only, ",")
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := s.run(ctx)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "load:", err)
		os.Exit(1)
	}
}

func (s *settings) run(ctx context.Context) (err error) {
	r, err := rig.Open(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	b := &bench{settings: *s, rig: r}
	if err := b.calibrate(); err != nil {
		return err
	}
	for _, database := range s.databases {
		fmt.Printf("\n%s\n", database)
		if err := b.measure(ctx, database); err != nil {
			return fmt.Errorf("%s: %w", database, err)
		}
	}
	if slices.Contains(s.only, "split") {
		if err := b.split(ctx); err != nil {
			return fmt.Errorf("split: %w", err)
		}
	}
	if slices.Contains(s.only, "memory") {
		return b.memory(ctx)
	}
	return nil
}

// bench is the state that all measurements share.
type bench struct {
	settings
	rig *rig.Rig
}

// measure runs the wanted measurements on one database, each on a fresh deployment.
func (b *bench) measure(ctx context.Context, database string) error {
	if slices.Contains(b.only, "submit") || slices.Contains(b.only, "poll") {
		if err := b.rates(ctx, database); err != nil {
			return err
		}
	}
	if slices.Contains(b.only, "streams") {
		if err := b.streams(ctx, database); err != nil {
			return fmt.Errorf("streams: %w", err)
		}
	}
	if slices.Contains(b.only, "pickup") {
		if err := b.pickup(ctx, database, "all"); err != nil {
			return err
		}
		if err := b.pickup(ctx, database, "api", "worker"); err != nil {
			return err
		}
	}
	if slices.Contains(b.only, "cancel") {
		if err := b.cancel(ctx, database); err != nil {
			return fmt.Errorf("cancel: %w", err)
		}
	}
	if slices.Contains(b.only, "webhook") {
		if err := b.webhook(ctx, database); err != nil {
			return fmt.Errorf("webhook: %w", err)
		}
	}
	if database == "postgres" && slices.Contains(b.only, "cluster") {
		return b.cluster(ctx)
	}
	return nil
}

// customer is the account of populate.
const customer = "load@example.com"

// begin starts a node for each role on a fresh deployment and returns the first.
func (b *bench) begin(ctx context.Context, database string, roles ...string) (*rig.Deployment, []*rig.Node, *rig.Client, error) {
	p, err := b.rig.Deploy(ctx, database)
	if err != nil {
		return nil, nil, nil, err
	}
	nodes, client, err := b.populate(ctx, p, roles...)
	return p, nodes, client, err
}

func (b *bench) populate(ctx context.Context, p *rig.Deployment, roles ...string) ([]*rig.Node, *rig.Client, error) {
	key, err := p.Account(ctx, customer, 1_000_000_000)
	if err != nil {
		return nil, nil, err
	}
	var nodes []*rig.Node
	for i, role := range roles {
		n, err := p.Start(ctx, fmt.Sprint(role, i), role, rig.Unlimited()...)
		if err != nil {
			return nil, nil, errors.Join(err, end(nodes))
		}
		nodes = append(nodes, n)
	}
	return nodes, rig.NewClient(key, b.connections), nil
}

// end stops nodes as operators do.
func end(nodes []*rig.Node) error {
	var errs []error
	for _, n := range nodes {
		errs = append(errs, n.Stop())
	}
	return errors.Join(errs...)
}
