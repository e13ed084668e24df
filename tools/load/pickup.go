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
	clip, err := rig.GIF(32, 32, 2)
	if err != nil {
		return err
	}
	form, err := rig.NewForm(rig.File{Name: "clip.gif", Content: clip})
	if err != nil {
		return err
	}
	for range b.pickups {
		ids, err := client.Submit(ctx, nodes[0].URL, form, "")
		if err != nil {
			return err
		}
		if err := await(ctx, client, nodes[0].URL, ids[0]); err != nil {
			return err
		}
		time.Sleep(rand.N(200 * time.Millisecond))
	}
	waits, err := pickups(ctx, p.Database)
	if err != nil {
		return err
	}
	aim := aimTold
	if database == "sqlite" && len(roles) > 1 {
		aim = aimPolled
	}
	what := "pickup, " + strings.Join(roles, " + ")
	show(what+", p50", milliseconds(waits.quantile(0.5)), "≤ "+milliseconds(aim), waits.quantile(0.5) <= aim)
	show(what+", p99", milliseconds(waits.quantile(0.99)), "", true)
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

// pickups are the waits of all jobs in whole milliseconds, without the first,
// which starts cold.
func pickups(ctx context.Context, database string) (series, error) {
	db, err := store.Open(ctx, database)
	if err != nil {
		return series{}, err
	}
	defer db.Close()
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
	if len(waits.took) > 1 {
		waits.took = waits.took[1:]
	}
	return waits, rows.Err()
}
