package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/bgremove/bgremove/internal/service/job"
	"github.com/bgremove/bgremove/internal/service/store"
	"github.com/bgremove/bgremove/tools/internal/rig"
	"github.com/bgremove/bgremove/tools/internal/simulation"
)

// The real run: one account submits many clips at once, and some others submit one
// now and then, at random.
const (
	checkWorkers = 2 // with one slot each
	checkHeavy   = 40
	checkLight   = 8
	checkClips   = 6 // of each light account
	checkPause   = 3 * time.Second
)

// tolerance is the greatest difference of a quantile in the simulation from that of
// the real run, as a share.
const tolerance = 0.2

// compare runs the service on PostgreSQL, simulates the same arrivals with the same
// service times, and prints the waits of both. A difference beyond the tolerance is
// an error.
func compare(ctx context.Context, r *rig.Rig) error {
	jobs, served, err := reality(ctx, r)
	if err != nil {
		return err
	}
	config := simulation.Config{Slots: checkWorkers, MaxRunning: job.DefaultConfig().MaxRunning}
	simulated := simulation.Run(jobs, config)
	heavy := jobs[0].Account // it submits first
	fmt.Printf("%d jobs of %d accounts on %d workers: waits in the real run, in the simulation\n", len(jobs), 1+checkLight, checkWorkers)
	var errs []error
	for _, group := range []struct {
		name  string
		match func(simulation.Job) bool
	}{
		{"all", everything},
		{"the heavy account", func(j simulation.Job) bool { return j.Account == heavy }},
		{"the light accounts", func(j simulation.Job) bool { return j.Account != heavy }},
	} {
		for _, share := range []float64{0.5, 0.99} {
			was := simulation.Quantile(simulation.Waits(jobs, served, group.match), share)
			is := simulation.Quantile(simulation.Waits(jobs, simulated, group.match), share)
			off := float64(is-was) / float64(was)
			fmt.Printf("  %-20s p%-3.0f %8s %8s  %+.0f %%\n", group.name, 100*share, short(was), short(is), 100*off)
			if off < -tolerance || off > tolerance {
				errs = append(errs, fmt.Errorf("%s, p%.0f: the simulation is off by %.0f %%", group.name, 100*share, 100*off))
			}
		}
	}
	return errors.Join(errs...)
}

// reality runs the service and returns its jobs, with the service times that they had.
func reality(ctx context.Context, r *rig.Rig) (jobs []simulation.Job, outcomes []simulation.Outcome, err error) {
	p, err := r.Postgres(ctx)
	if err != nil {
		return nil, nil, err
	}
	var nodes []*rig.Node
	defer func() {
		for _, n := range nodes {
			err = errors.Join(err, n.Stop())
		}
	}()
	for i := range 1 + checkWorkers {
		role, flags := "worker", []string{"--slots", "1"}
		if i == 0 {
			role, flags = "api", rig.Unlimited()
		}
		n, err := p.Start(ctx, fmt.Sprint(role, i), role, flags...)
		if err != nil {
			return nil, nil, err
		}
		nodes = append(nodes, n)
	}
	if err := order(ctx, p, nodes[0].URL); err != nil {
		return nil, nil, err
	}
	db, err := store.Open(ctx, p.Database)
	if err != nil {
		return nil, nil, err
	}
	defer db.Close()
	if err := awaitEnds(ctx, db); err != nil {
		return nil, nil, err
	}
	return trace(ctx, db)
}

// order submits all clips.
func order(ctx context.Context, p *rig.Deployment, url string) error {
	form, err := rig.ClipForm(320, 180, 30)
	if err != nil {
		return err
	}
	g, ctx := errgroup.WithContext(ctx)
	for i := range 1 + checkLight {
		key, err := p.Account(ctx, fmt.Sprintf("account%d@example.com", i), 1_000_000)
		if err != nil {
			return errors.Join(err, g.Wait())
		}
		client, clips, pause := rig.NewClient(key, 1), checkClips, checkPause
		if i == 0 {
			clips, pause = checkHeavy, 0
		}
		g.Go(func() error {
			for range clips {
				time.Sleep(time.Duration(rand.ExpFloat64() * float64(pause)))
				if _, err := client.Submit(ctx, url, form, ""); err != nil {
					return err
				}
			}
			return nil
		})
	}
	return g.Wait()
}

func awaitEnds(ctx context.Context, db *store.DB) error {
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for {
		var left int
		err := db.QueryRowContext(ctx, "SELECT COUNT(*) FROM jobs WHERE ended_at IS NULL").Scan(&left)
		if err != nil || left == 0 {
			return err
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// trace reads the jobs and their outcomes from the database, in the order of their
// arrivals. All have run once. Accounts have the order of their ids, which decides
// between equal turns.
func trace(ctx context.Context, db *store.DB) (jobs []simulation.Job, outcomes []simulation.Outcome, err error) {
	rows, err := db.QueryContext(ctx, `SELECT (SELECT COUNT(*) FROM accounts a WHERE a.id < jobs.account_id), cost,
			created_at - (SELECT MIN(created_at) FROM jobs), started_at - created_at, ended_at - started_at
		FROM jobs WHERE state = 'done' AND attempt = 1 ORDER BY created_at, id`)
	if err != nil {
		return nil, nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var (
			j               simulation.Job
			at, wait, takes int64
		)
		if err := rows.Scan(&j.Account, &j.Cost, &at, &wait, &takes); err != nil {
			return nil, nil, err
		}
		j.At, j.Service = milliseconds(at), milliseconds(takes)
		started := j.At + milliseconds(wait)
		jobs, outcomes = append(jobs, j), append(outcomes, simulation.Outcome{Started: started, Ended: started + j.Service})
	}
	if want := checkHeavy + checkLight*checkClips; len(jobs) != want {
		err = fmt.Errorf("%d jobs are done by their first claim, want %d", len(jobs), want)
	}
	return jobs, outcomes, errors.Join(err, rows.Err())
}

func milliseconds(n int64) time.Duration { return time.Duration(n) * time.Millisecond }
