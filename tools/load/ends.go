//go:build linux

package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"time"

	"github.com/bgremove/bgremove/internal/service/store"
	"github.com/bgremove/bgremove/pkg/api"
	"github.com/bgremove/bgremove/tools/internal/rig"
)

// aimStopped is how soon the worker of a cancelled job is free, and aimWebhook how soon after a
// job's end its webhook arrives, for 95 of 100.
const aimStopped, aimWebhook = time.Second, time.Second

// rounds is how many jobs are cancelled, and how many webhooks are awaited.
const rounds = 20

// cancel measures the time from a customer's DELETE of a job that runs until its worker has
// begun the next one, which was waiting: the worker has room for one job.
func (b *bench) cancel(ctx context.Context, database string) (err error) {
	p, nodes, client, err := b.begin(ctx, database, "api")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, end(nodes)) }()
	worker, err := p.Start(ctx, "worker", "worker", "--slots", "1")
	if err != nil {
		return err
	}
	nodes = append(nodes, worker)
	long, err := rig.ClipForm(480, 360, 300)
	if err != nil {
		return err
	}
	small, err := smallForm()
	if err != nil {
		return err
	}
	url := nodes[0].URL
	var next []string
	var deleted []time.Time
	for range rounds {
		runs, err := client.Submit(ctx, url, long, "")
		if err != nil {
			return err
		}
		waits, err := client.Submit(ctx, url, small, "")
		if err != nil {
			return err
		}
		if err := awaitStatus(ctx, client, url, runs[0], api.JobStatusProcessing); err != nil {
			return err
		}
		time.Sleep(200 * time.Millisecond) // it is in the middle of its work
		next, deleted = append(next, waits[0]), append(deleted, time.Now())
		if err := client.Delete(ctx, url, runs[0]); err != nil {
			return err
		}
		if err := await(ctx, client, url, waits[0]); err != nil {
			return err
		}
	}
	began, err := times(ctx, p, "started_at", next)
	if err != nil {
		return err
	}
	free := between(deleted, began)
	showTime("worker free after a cancel, p50", free.quantile(0.5), 0)
	showTime("worker free after a cancel, slowest", free.quantile(1), aimStopped)
	return nil
}

// awaitStatus polls a job until it has a status.
func awaitStatus(ctx context.Context, c *rig.Client, url, id string, want api.JobStatus) error {
	for {
		j, err := c.Job(ctx, url, id)
		if err != nil || j.Status == want {
			return err
		}
		if j.Status != api.JobStatusQueued {
			return fmt.Errorf("job %s is %s, not %s", id, j.Status, want)
		}
		time.Sleep(5 * time.Millisecond)
	}
}

// times are those of a column of jobs, in whole milliseconds.
func times(ctx context.Context, p *rig.Deployment, column string, jobs []string) (all []time.Time, err error) {
	db, err := store.Open(ctx, p.Database)
	if err != nil {
		return nil, err
	}
	defer db.Close()
	for _, id := range jobs {
		var ms int64
		if err := db.QueryRowContext(ctx, "SELECT "+column+" FROM jobs WHERE id = $1", id).Scan(&ms); err != nil {
			return nil, err
		}
		all = append(all, time.UnixMilli(ms))
	}
	return all, nil
}

// between are the times from some moments to others.
func between(from, to []time.Time) (s series) {
	for i, at := range to {
		s.took = append(s.took, at.Sub(from[i]))
	}
	return s
}

// arrival is when the webhook of a job came.
type arrival struct {
	job string
	at  time.Time
}

// receiver is a server that takes webhooks. The caller must close it.
func receiver() (*httptest.Server, <-chan arrival) {
	arrivals := make(chan arrival, rounds)
	return httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		var message struct {
			Data struct{ ID string } `json:"data"`
		}
		at := time.Now()
		if json.NewDecoder(r.Body).Decode(&message) == nil {
			arrivals <- arrival{message.Data.ID, at}
		}
	})), arrivals
}

// webhook measures the time from a job's end, by the database's clock, to the arrival of its
// webhook at a server on this machine.
func (b *bench) webhook(ctx context.Context, database string) (err error) {
	p, nodes, client, err := b.begin(ctx, database)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, end(nodes)) }()
	for _, role := range []string{"api", "worker"} {
		n, err := p.Start(ctx, role, role, append(rig.Unlimited(), "--private-webhooks")...)
		if err != nil {
			return err
		}
		nodes = append(nodes, n)
	}
	server, arrivals := receiver()
	defer server.Close()
	browser, err := p.Browser(ctx, nodes[0].URL, customer)
	if err != nil {
		return err
	}
	if err := browser.Webhook(ctx, nodes[0].URL, server.URL); err != nil {
		return err
	}
	form, err := smallForm()
	if err != nil {
		return err
	}
	var jobs []string
	var at []time.Time
	for range rounds {
		if _, err := client.Submit(ctx, nodes[0].URL, form, ""); err != nil {
			return err
		}
		select {
		case a := <-arrivals:
			jobs, at = append(jobs, a.job), append(at, a.at)
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	ended, err := times(ctx, p, "ended_at", jobs)
	if err != nil {
		return err
	}
	took := between(ended, at)
	showTime("webhook after a job's end, p50", took.quantile(0.5), 0)
	showTime("webhook after a job's end, p95", took.quantile(0.95), aimWebhook)
	return nil
}
