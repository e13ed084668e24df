// Command chaos kills processes of the service at random moments, and restarts
// them in turn as a new version would. Then it checks whether anything was lost,
// done twice or left behind.
//
//	./tools/postgres.sh go run ./tools/chaos -versitygw PATH
//	./tools/postgres.sh go run ./tools/chaos -kills 0 -cluster-jobs 0
//	go run ./tools/chaos -databases sqlite -jobs 100 -kills 10 -cluster-jobs 0 -rolls 0
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/signal"
	"slices"
	"strings"
	"time"

	"github.com/bgremove/bgremove/tools/internal/rig"
)

// settings are the flags.
type settings struct {
	databases   []string
	jobs, kills int
	clusterJobs int
	rolls       int
	versitygw   string
	seed        uint64
	lease, calm time.Duration
	within      time.Duration
}

func main() {
	var s settings
	databases := flag.String("databases", "sqlite,postgres", "where to kill processes; postgres needs BGREMOVE_TEST_POSTGRES")
	flag.IntVar(&s.jobs, "jobs", 1000, "jobs on each database")
	flag.IntVar(&s.kills, "kills", 200, "kills on each database")
	flag.IntVar(&s.clusterJobs, "cluster-jobs", 500, "jobs for five nodes on PostgreSQL and S3; 0 omits them")
	flag.IntVar(&s.rolls, "rolls", 3, "rolling restarts of five nodes on PostgreSQL under load; 0 omits them")
	flag.StringVar(&s.versitygw, "versitygw", "", "the `binary` of an S3 server, for the cluster")
	flag.Uint64Var(&s.seed, "seed", uint64(time.Now().UnixNano()), "the seed of the random moments")
	flag.DurationVar(&s.lease, "lease", time.Second, "serve's --lease")
	flag.DurationVar(&s.calm, "calm", 600*time.Millisecond, "the longest time between a restart and the next kill")
	flag.DurationVar(&s.within, "within", 5*time.Minute, "the longest wait for a kill of the cluster, and for the last jobs after the last kill")
	flag.Parse()
	s.databases = strings.Split(*databases, ",")
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := s.run(ctx)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "chaos:", err)
		os.Exit(1)
	}
}

func (s *settings) run(ctx context.Context) (err error) {
	fmt.Printf("seed %d\n", s.seed)
	r, err := rig.Open(ctx)
	if err != nil {
		return err
	}
	c := &chaos{settings: *s, rig: r, random: rand.New(rand.NewPCG(s.seed, 0))}
	for _, database := range s.databases {
		if s.kills > 0 {
			err = errors.Join(err, named(database, c.storm(ctx, database)))
		}
	}
	if s.clusterJobs > 0 {
		err = errors.Join(err, named("cluster", c.cluster(ctx)))
	}
	if s.rolls > 0 {
		err = errors.Join(err, named("rolling restart", c.rolling(ctx)))
	}
	if err != nil {
		r.End()
		fmt.Fprintln(os.Stderr, "logs and data are kept in", r.Dir)
		return err
	}
	return r.Close()
}

func named(name string, err error) error {
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}

// chaos is the state that all scenarios share.
type chaos struct {
	settings
	rig    *rig.Rig
	random *rand.Rand
}

// flags are the flags of every node. Orphans stay long enough for an upload on
// a busy machine, and briefly enough for the sweeps at each start to find some.
func (c *chaos) flags(more ...string) []string {
	return slices.Concat(rig.Unlimited(), []string{"--lease", c.lease.String(), "--slots", "2", "--keep-orphans", "1m"}, more)
}
