//go:build linux

package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/bgremove/bgremove/internal/service/store"
	"github.com/bgremove/bgremove/tools/internal/rig"
)

// The processes of the cluster. One node with all roles, which it is compared
// with, runs as many jobs at once as all its workers.
const (
	clusterAPIs    = 4
	clusterWorkers = 8
)

const (
	clusterRounds  = 3
	clusterPickups = 20 // of a round, on an idle service
	clusterBursts  = 5  // of a round: as many jobs at once as there are places
)

// aimCluster is the least ratio of the cluster's rate to one node's, and of one
// node's waits to the cluster's.
const aimCluster = 1.0

// sample is the measurements of one node, or of a cluster, over all rounds.
type sample struct {
	roles       []string // of all processes
	slots       int      // of each worker
	idle, burst series
	alone, busy rate // of submissions: on the API nodes alone, and while jobs run
	ended       rate // of jobs, during the latter
}

// rate is a number of events in a time.
type rate struct {
	n    int
	over time.Duration
}

func (r rate) perSecond() float64 { return float64(r.n) / r.over.Seconds() }

// cluster compares many processes with one node, in turns, on PostgreSQL. Only
// one of the two runs at any moment.
func (b *bench) cluster(ctx context.Context) error {
	one := sample{roles: []string{"all"}, slots: clusterWorkers}
	many := sample{roles: append(slices.Repeat([]string{"api"}, clusterAPIs), slices.Repeat([]string{"worker"}, clusterWorkers)...), slots: 1}
	for range clusterRounds {
		for _, s := range []*sample{&one, &many} {
			if err := b.sampled(ctx, s); err != nil {
				return err
			}
		}
	}
	fmt.Printf("  %d API nodes and %d workers, one node with %d slots, ratio:\n", clusterAPIs, clusterWorkers, clusterWorkers)
	compareRates("submissions", many.alone, one.alone, aimCluster)
	compareRates("submissions while jobs run", many.busy, one.busy, 0) // the two share the cores
	compareRates("jobs meanwhile", many.ended, one.ended, 0)
	for _, q := range []float64{0.5, 0.99} {
		compareWaits(fmt.Sprintf("pickup when idle, p%.0f", 100*q), many.idle.quantile(q), one.idle.quantile(q))
		compareWaits(fmt.Sprintf("pickup of %d at once, p%.0f", clusterWorkers, 100*q), many.burst.quantile(q), one.burst.quantile(q))
	}
	return nil
}

// sampled runs one round: first the API nodes alone, then all nodes, each on a
// deployment of its own.
func (b *bench) sampled(ctx context.Context, s *sample) error {
	apis := slices.DeleteFunc(slices.Clone(s.roles), func(role string) bool { return role == "worker" })
	for i := range apis {
		apis[i] = "api"
	}
	err := b.with(ctx, s.slots, apis, func(f *front, _ *store.DB) error {
		return f.most(ctx, &s.alone, b.during/2, b.connections)
	})
	if err != nil {
		return err
	}
	return b.with(ctx, s.slots, s.roles, func(f *front, db *store.DB) error {
		if err := s.waits(ctx, f, db); err != nil {
			return err
		}
		before, err := ended(ctx, db)
		if err != nil {
			return err
		}
		began := time.Now()
		if err := f.most(ctx, &s.busy, b.during/2, b.connections); err != nil {
			return err
		}
		after, err := ended(ctx, db)
		s.ended.n += after - before
		s.ended.over += time.Since(began)
		return err
	})
}

// with calls f with running nodes on a new deployment.
func (b *bench) with(ctx context.Context, slots int, roles []string, f func(*front, *store.DB) error) (err error) {
	p, err := b.rig.Postgres(ctx)
	if err != nil {
		return err
	}
	p.Set("BGREMOVE_SLOTS", fmt.Sprint(slots))
	p.Set("BGREMOVE_MAX_RUNNING", fmt.Sprint(clusterWorkers))
	nodes, client, err := b.populate(ctx, p, roles...)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, end(nodes)) }()
	form, err := smallForm()
	if err != nil {
		return err
	}
	door := &front{client: client, form: form}
	for _, n := range nodes {
		if n.URL != "" {
			door.urls = append(door.urls, n.URL)
		}
	}
	db, err := store.Open(ctx, p.Database)
	if err != nil {
		return err
	}
	defer db.Close()
	return f(door, db)
}

// waits measures the waits of jobs. The first burst starts cold and does not count.
func (s *sample) waits(ctx context.Context, f *front, db *store.DB) error {
	for range 1 + clusterBursts {
		if err := f.jobs(ctx, clusterWorkers); err != nil {
			return err
		}
	}
	for range clusterPickups {
		if err := f.jobs(ctx, 1); err != nil {
			return err
		}
	}
	waits, err := pickups(ctx, db, clusterWorkers)
	if err != nil {
		return err
	}
	bursts := clusterBursts * clusterWorkers
	s.burst.took = append(s.burst.took, waits.took[:bursts]...)
	s.idle.took = append(s.idle.took, waits.took[bursts:]...)
	return nil
}

// most adds the highest rate of submissions to r.
func (f *front) most(ctx context.Context, r *rate, during time.Duration, connections int) error {
	all, err := closed(ctx, during, connections, func(ctx context.Context) error {
		_, err := f.submit(ctx)
		return err
	})
	r.n += len(all.took)
	r.over += all.over
	return err
}

// ended counts the jobs that have ended.
func ended(ctx context.Context, db *store.DB) (n int, err error) {
	err = db.QueryRowContext(ctx, "SELECT COUNT(*) FROM jobs WHERE ended_at IS NOT NULL").Scan(&n)
	return n, err
}

func compareRates(what string, many, one rate, aim float64) {
	m, o := many.perSecond(), one.perSecond()
	compare(what, fmt.Sprintf("%.0f/s", m), fmt.Sprintf("%.0f/s", o), m/o, aim)
}

func compareWaits(what string, many, one time.Duration) {
	compare(what, milliseconds(many), milliseconds(one), float64(max(one, time.Millisecond))/float64(max(many, time.Millisecond)), aimCluster)
}

// compare prints two numbers, a ratio that is above 1 where the first is better,
// and the ratio's aim, unless that is 0.
func compare(what, many, one string, ratio, aim float64) {
	least := ""
	if aim > 0 {
		least = fmt.Sprintf("≥ %.0f", aim)
	}
	show(what, fmt.Sprintf("%s, %s, %.2f", many, one, ratio), least, ratio >= aim)
}

// smallForm is a submission of a clip that is processed in a moment.
func smallForm() (rig.Form, error) { return rig.ClipForm(32, 32, 2) }
