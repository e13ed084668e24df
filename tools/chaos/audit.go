package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/bgremove/bgremove/internal/service/account"
	"github.com/bgremove/bgremove/internal/service/blob"
	"github.com/bgremove/bgremove/internal/service/deployment"
	"github.com/bgremove/bgremove/internal/service/store"
	"github.com/bgremove/bgremove/tools/internal/rig"
)

// pollEvery is the interval of checks.
const pollEvery = 100 * time.Millisecond

// awaitJobs waits until every job has ended.
func (c *chaos) awaitJobs(ctx context.Context, p *rig.Deployment) error {
	db, err := store.Open(ctx, p.Database)
	if err != nil {
		return err
	}
	defer db.Close()
	var left int
	err = c.until(ctx, func() (bool, error) {
		err := db.QueryRowContext(ctx, "SELECT COUNT(*) FROM jobs WHERE ended_at IS NULL").Scan(&left)
		return left == 0, err
	})
	if err != nil {
		return fmt.Errorf("%d jobs have not ended: %w", left, err)
	}
	return nil
}

var errTooLong = errors.New("it takes too long")

// until repeats a check until it succeeds.
func (c *chaos) until(ctx context.Context, check func() (bool, error)) error {
	tick := time.NewTicker(pollEvery)
	defer tick.Stop()
	for end := time.After(c.within); ; {
		if ok, err := check(); ok || err != nil {
			return err
		}
		select {
		case <-tick.C:
		case <-end:
			return errTooLong
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// scene is what a scenario reports of itself.
type scene struct {
	title, orders string
	told          map[string]bool // the jobs that clients know: whether they delete them
	stopped       bool            // workers were stopped, and may have given jobs back
	phases        *phases
}

// report sweeps up the remains of nodes, audits everything, and prints the
// results.
func (c *chaos) report(ctx context.Context, p *rig.Deployment, s scene) error {
	db, err := store.Open(ctx, p.Database)
	if err != nil {
		return err
	}
	defer db.Close()
	facts, err := gather(ctx, db)
	if err != nil {
		return err
	}
	orphans, err := c.sweep(ctx, p, facts)
	if err != nil {
		return err
	}
	if _, err := p.Admin(ctx, "credits", "verify"); err != nil {
		return err
	}
	if err := facts.check(s.told, s.stopped); err != nil {
		return err
	}
	s.phases.next("sweep and audit")
	claims := fmt.Sprintf("%d claims lost to kills", facts.lost())
	if s.stopped {
		claims += fmt.Sprintf(", %d given back", facts.returned())
	}
	fmt.Printf("%s\n  %d jobs: %d done, %d failed and refunded, %d cancelled and refunded; %s; %s; %d orphans swept\n",
		s.title, len(facts.jobs), facts.count("done"), facts.count("failed"), facts.count("cancelled"), claims, s.orders, orphans)
	fmt.Printf("  every job ended, was charged once and refunded exactly; ledger verified; no event missing; storage holds the jobs' %d files and no more\n  %s\n",
		len(facts.files), s.phases)
	return nil
}

// sweep starts a node that removes orphans at once. It waits until storage
// holds as many objects as jobs name, and compares them. It returns the number
// of removed orphans.
func (c *chaos) sweep(ctx context.Context, p *rig.Deployment, f *facts) (orphans int, err error) {
	blobs, err := p.Blobs(ctx)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, blobs.Close()) }()
	before, err := list(ctx, blobs)
	if err != nil {
		return 0, err
	}
	const keep = time.Second
	time.Sleep(2 * keep) // everything is old by then
	// After so many kills there are more orphans than a service would remove by
	// itself.
	if _, err := p.Admin(ctx, "storage", "adopt", "--storage", p.Storage); err != nil {
		return 0, err
	}
	n, err := p.Start(ctx, "sweeper", "worker", c.flags("--keep-orphans", keep.String())...)
	if err != nil {
		return 0, err
	}
	var after map[string]int64
	err = c.until(ctx, func() (bool, error) {
		unfinished, err := p.Unfinished()
		if err != nil || unfinished > 0 {
			return false, err
		}
		after, err = list(ctx, blobs)
		return len(after) <= len(f.files), err
	})
	if err = errors.Join(err, n.Stop()); err != nil && !errors.Is(err, errTooLong) {
		return 0, err
	}
	leftovers, err := blobs.Sweep(ctx, time.Now().Add(time.Hour))
	if err == nil && leftovers > 0 {
		err = fmt.Errorf("%d unfinished writes outlived the sweep", leftovers)
	}
	return len(before) - len(after), errors.Join(err, f.compare(ctx, blobs, after))
}

// list returns the size of every object, except the one that names the owner.
func list(ctx context.Context, blobs *blob.Store) (map[string]int64, error) {
	sizes := make(map[string]int64)
	for o, err := range blobs.List(ctx, "") {
		if err != nil {
			return nil, err
		}
		sizes[o.Key] = o.Size
	}
	delete(sizes, deployment.Mark)
	return sizes, nil
}

// gather reads the facts from the database.
func gather(ctx context.Context, db *store.DB) (*facts, error) {
	f := &facts{files: make(map[string]file), ledger: make(map[string]map[account.Kind][]int64), events: make(map[string]int64), told: make(map[string]string), queued: make(map[string]int64)}
	return f, errors.Join(
		each(ctx, db, f.addJob, `SELECT id, state, COALESCE(error, ''), cost, charged, attempt, lost, input_key, input_size,
			output_key, output_size, output_sha, preview_key, preview_size, preview_sha FROM jobs`),
		each(ctx, db, f.addEntry, "SELECT job_id, kind, amount FROM ledger WHERE job_id IS NOT NULL"),
		each(ctx, db, f.addQueue, "SELECT queued, running FROM queues"),
		each(ctx, db, f.addEvent, "SELECT account_id, seq, job_id, state FROM job_events ORDER BY account_id, seq"))
}

// each calls add for all rows.
func each(ctx context.Context, db *store.DB, add func(*sql.Rows) error, query string) error {
	rows, err := db.QueryContext(ctx, query)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		if err := add(rows); err != nil {
			return err
		}
	}
	return rows.Err()
}
