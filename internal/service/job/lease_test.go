package job_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/bgremove/bgremove/internal/service/job"
	"github.com/bgremove/bgremove/internal/service/price"
)

// expireAll expires all leases.
func (x *fixture) expireAll() {
	x.t.Helper()
	x.exec("UPDATE jobs SET lease_until = 0 WHERE state = 'processing'")
}

// expire expires the lease of one claim.
func (x *fixture) expire(j job.Job) {
	x.t.Helper()
	x.exec("UPDATE jobs SET lease_until = 0 WHERE id = $1 AND attempt = $2 AND state = 'processing'", j.ID, j.Attempt)
}

// A worker that does not respond loses its job to another worker, and cannot
// change the job afterwards.
func TestLost(t *testing.T) {
	t.Parallel()
	each(t, job.Config{}, func(t *testing.T, x *fixture) {
		id := x.submit(x.owner, x.input("a.gif", 5)).Jobs[0].ID
		begun, goOn := make(chan struct{}), make(chan struct{})
		release := sync.OnceFunc(func() { close(goOn) })
		zombie := x.work(&job.Worker{Processor: processor(func(ctx context.Context, task job.Task) (job.Product, error) {
			close(begun)
			<-goOn // does not notice the end of ctx
			return echo(ctx, task)
		})})
		t.Cleanup(release) // before the worker is waited for
		<-begun
		for reaped := 0; reaped == 0; { // a heartbeat may come between the two
			x.expireAll()
			var err error
			if reaped, err = x.Reap(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		x.consistent()
		if j := x.get(id); j.State != job.Queued {
			t.Errorf("it is %s", j.State)
		}
		x.work(&job.Worker{Processor: processor(echo)})
		x.ended()
		release()
		zombie()
		if j := x.get(id); j.State != job.Done || !strings.HasSuffix(j.Output.Key, "out-2.gif") || x.read(j.Output) != "out of a.gif" {
			t.Errorf("%+v", j)
		}
		if x.credits(x.owner) != 100-cost(5) {
			t.Errorf("%d credits", x.credits(x.owner))
		}
		x.consistent()
	})
}

// A job that loses its worker three times fails and is refunded once, however
// many processes look for lost leases.
func TestLostTooOften(t *testing.T) {
	t.Parallel()
	each(t, job.Config{}, func(t *testing.T, x *fixture) {
		id := x.submit(x.owner, x.input("a.gif", 5)).Jobs[0].ID
		begun := make(chan struct{})
		x.work(&job.Worker{Slots: 10, Processor: processor(func(ctx context.Context, _ job.Task) (job.Product, error) {
			begun <- struct{}{}
			<-ctx.Done() // the heartbeat of the next attempt fails
			return job.Product{}, ctx.Err()
		}), Drain: time.Nanosecond})
		for range 3 {
			<-begun
			x.expireAll()
			errs := make(chan error, 4)
			for range cap(errs) {
				go func() { _, err := x.Reap(context.Background()); errs <- err }()
			}
			for range cap(errs) {
				if err := <-errs; err != nil {
					t.Error(err)
				}
			}
		}
		if j := x.get(id); j.State != job.Failed || j.Error != job.ProcessingFailed || j.Attempt != 3 {
			t.Errorf("%+v", j)
		}
		if x.credits(x.owner) != 100 {
			t.Errorf("%d credits", x.credits(x.owner))
		}
		x.consistent()
	})
}

// Heartbeats keep the lease of a long job.
func TestHeartbeat(t *testing.T) {
	t.Parallel()
	const lease = 2 * time.Second
	each(t, job.Config{Lease: lease}, func(t *testing.T, x *fixture) {
		id := x.submit(x.owner, x.input("a.gif", 5)).Jobs[0].ID
		begun, goOn := make(chan struct{}), make(chan struct{})
		x.work(&job.Worker{Processor: processor(func(ctx context.Context, task job.Task) (job.Product, error) {
			close(begun)
			<-goOn
			return echo(ctx, task)
		})})
		<-begun
		var until int64
		if err := x.db.QueryRow("SELECT lease_until FROM jobs").Scan(&until); err != nil {
			t.Fatal(err)
		}
		x.until("SELECT lease_until > $1 FROM jobs", until+2*lease.Milliseconds())
		close(goOn)
		x.ended()
		if j := x.get(id); j.State != job.Done || j.Attempt != 1 {
			t.Errorf("%+v", j)
		}
	})
}

// A worker that loses its lease stops its work.
func TestLostStops(t *testing.T) {
	t.Parallel()
	each(t, job.Config{Lease: 200 * time.Millisecond}, func(t *testing.T, x *fixture) {
		x.submit(x.owner, x.input("a.gif", 5))
		stopped := make(chan error, 10)
		begun := make(chan struct{}, 10)
		stop := x.work(&job.Worker{Drain: time.Nanosecond, Processor: processor(func(ctx context.Context, _ job.Task) (job.Product, error) {
			begun <- struct{}{}
			<-ctx.Done()
			stopped <- context.Cause(ctx)
			return job.Product{}, ctx.Err()
		})})
		<-begun
		x.exec("UPDATE jobs SET attempt = attempt + 1") // another worker's
		if err := <-stopped; err == nil || strings.Contains(err.Error(), "time limit") {
			t.Error(err)
		}
		stop()
		if got := x.credits(x.owner); got != 100-cost(5) {
			t.Errorf("%d credits", got)
		}
	})
}

// Jobs fail while the leases of their workers expire: every refund comes once.
func TestRefundRace(t *testing.T) {
	t.Parallel()
	each(t, job.Config{MaxRunning: 50}, func(t *testing.T, x *fixture) {
		var files []job.Input
		for range 20 {
			files = append(files, x.input("a", 3))
		}
		owner := x.account("bob", 20*cost(3))
		x.submit(owner, files[:10]...)
		x.submit(owner, files[10:]...)
		var reaps errgroup.Group
		for range 3 {
			x.work(&job.Worker{Slots: 4, Processor: processor(func(_ context.Context, task job.Task) (job.Product, error) {
				x.expire(task.Job)
				reaps.Go(func() error { _, err := x.Reap(context.Background()); return err })
				return job.Product{}, errors.New("no") // while its lease is reaped
			})})
		}
		x.ended()
		if err := reaps.Wait(); err != nil {
			t.Error(err)
		}
		if got := x.credits(owner); got != 20*cost(3) {
			t.Errorf("%d credits", got)
		}
		var refunds int
		if err := x.db.QueryRow("SELECT COUNT(*) FROM ledger WHERE kind = 'refund'").Scan(&refunds); err != nil || refunds != 20 {
			t.Errorf("%d refunds of 20, %v", refunds, err)
		}
		x.consistent()
	})
}

// Some of many workers vanish during their work, as with kill -9: every job
// ends once.
func TestVanishing(t *testing.T) {
	t.Parallel()
	each(t, job.Config{MaxAttempts: 100, MaxRunning: 50}, func(t *testing.T, x *fixture) {
		var ids []string
		owner := x.account("bob", 20*price.Least+1)
		for range 5 {
			for _, item := range x.submit(owner, x.input("a", 1), x.input("b", 1), x.input("c", 1), x.input("d", 1)).Jobs {
				ids = append(ids, item.ID)
			}
		}
		var n atomic.Int64
		for range 4 {
			x.work(&job.Worker{Slots: 3, Drain: time.Nanosecond, Processor: processor(func(ctx context.Context, task job.Task) (job.Product, error) {
				if n.Add(1)%4 == 0 {
					// All its jobs are taken from it, and it says nothing.
					x.expire(task.Job)
					if _, err := x.Reap(context.WithoutCancel(ctx)); err != nil {
						return job.Product{}, err
					}
				}
				return echo(ctx, task)
			})})
		}
		x.ended()
		for _, id := range ids {
			if j := x.get(id); j.State != job.Done || !strings.HasPrefix(x.read(j.Output), "out of ") {
				t.Errorf("%+v", j)
			}
		}
		if got := x.credits(owner); got != 1 {
			t.Errorf("%d credits", got)
		}
		x.consistent()
	})
}
