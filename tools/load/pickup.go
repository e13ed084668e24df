//go:build linux

package main

import (
	"context"
	"errors"
	"math/rand/v2"
	"strings"
	"time"

	"github.com/bgremove/bgremove/internal/service/store"
	"github.com/bgremove/bgremove/pkg/client"
	"github.com/bgremove/bgremove/tools/internal/rig"
)

// The aims for a pickup: in a process that gets notifications, and in another
// process on SQLite.
const (
	aimTold   = 5 * time.Millisecond
	aimPolled = 100 * time.Millisecond
)

// pickup measures the time from a submission to its claim, by the database's
// clock, on an idle service. The next job comes at a random moment after the
// previous one has ended.
func (b *bench) pickup(ctx context.Context, database string, roles ...string) (err error) {
	p, nodes, client, err := b.begin(ctx, database, roles...)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, end(nodes)) }()
	form, err := smallForm()
	if err != nil {
		return err
	}
	f := &front{client: client, form: form, urls: []string{nodes[0].URL}}
	for range b.pickups {
		if err := f.jobs(ctx, 1); err != nil {
			return err
		}
		time.Sleep(rand.N(200 * time.Millisecond))
	}
	db, err := store.Open(ctx, p.Database)
	if err != nil {
		return err
	}
	defer db.Close()
	waits, err := pickups(ctx, db, 1) // the first starts cold
	if err != nil {
		return err
	}
	aim := aimTold
	if database == "sqlite" && len(roles) > 1 {
		aim = aimPolled
	}
	what := "pickup, " + strings.Join(roles, " + ")
	showTime(what+", p50", waits.quantile(0.5), aim)
	showTime(what+", p99", waits.quantile(0.99), 0)
	return nil
}

// await polls a job until it has ended.
func await(ctx context.Context, c *rig.Client, url, id string) error {
	for {
		j, err := c.Job(ctx, url, id)
		if err != nil {
			return err
		}
		if client.Ended(j) {
			return client.Failure(j)
		}
		time.Sleep(20 * time.Millisecond)
	}
}

// pickups are the waits of all jobs in whole milliseconds, in the order of their
// submission and without the first.
func pickups(ctx context.Context, db *store.DB, without int) (series, error) {
	rows, err := db.QueryContext(ctx, "SELECT started_at - created_at FROM jobs ORDER BY id")
	if err != nil {
		return series{}, err
	}
	defer rows.Close()
	var waits series
	for rows.Next() {
		var ms int64
		if err := rows.Scan(&ms); err != nil {
			return series{}, err
		}
		waits.took = append(waits.took, time.Duration(ms)*time.Millisecond)
	}
	waits.took = waits.took[min(without, len(waits.took)):]
	return waits, rows.Err()
}
