package job_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/bgremove/bgremove/internal/service/job"
	"github.com/bgremove/bgremove/internal/service/store"
	"github.com/bgremove/bgremove/internal/service/store/storetest"
)

// remove deletes a job as its owner and returns its state then.
func (x *fixture) remove(id string) job.Job {
	x.t.Helper()
	j, err := x.Delete(context.Background(), x.owner, id)
	if err != nil {
		x.t.Fatal(err)
	}
	return j
}

// TestCancelQueued checks that a job that waits is refunded once and never runs,
// and that deleting it again removes its input.
func TestCancelQueued(t *testing.T) {
	t.Parallel()
	each(t, job.Config{}, func(t *testing.T, x *fixture) {
		receipt := x.submit(x.owner, x.input("a.gif", 5), x.input("b.gif", 6))
		id, other := receipt.Jobs[0].ID, receipt.Jobs[1].ID
		if j := x.remove(id); j.State != job.Cancelled || j.EndedAt.IsZero() || j.Input == nil || j.Error != "" {
			t.Errorf("cancelled: %+v", j)
		}
		if got, want := x.credits(x.owner), 100-cost(6); got != want {
			t.Errorf("%d credits, want %d", got, want)
		}
		x.consistent()
		x.work(&job.Worker{Processor: processor(echo)})
		x.ended()
		if j := x.get(id); j.Attempt != 0 || j.State != job.Cancelled {
			t.Errorf("it ran: %+v", j)
		}
		if j := x.get(other); j.State != job.Done {
			t.Errorf("the other is %+v", j)
		}
		for range 2 {
			if j := x.remove(id); j.State != job.Cancelled || j.Input != nil {
				t.Errorf("deleted again: %+v", j)
			}
		}
		if got, want := x.credits(x.owner), 100-cost(6); got != want || len(x.objects()) != 3 {
			t.Errorf("%d credits, want %d; objects: %v", got, want, x.objects())
		}
		if b, err := x.Batch(context.Background(), x.owner, receipt.BatchID); err != nil || b.State != job.BatchPartial {
			t.Errorf("the batch: %+v, %v", b, err)
		}
		x.consistent()
	})
}

// TestCancelRunning checks that a job is stopped on the node that works on it, when
// another node cancels it, and that nothing of its work stays.
func TestCancelRunning(t *testing.T) {
	t.Parallel()
	storetest.EachURL(t, func(t *testing.T, url string) {
		// The lease is so long that no heartbeat can be what ends the work.
		x := newFixture(t, storetest.Open(t, url), job.Config{})
		elsewhere := job.New(storetest.Open(t, url), x.blobs, job.Config{})
		shown, stopped := make(chan struct{}), make(chan error, 1)
		stop := x.work(&job.Worker{Processor: processor(func(ctx context.Context, task job.Task) (job.Product, error) {
			if _, err := echo(ctx, task); err != nil {
				return job.Product{}, err
			}
			shown <- struct{}{}
			<-ctx.Done()
			stopped <- context.Cause(ctx)
			return job.Product{}, context.Cause(ctx)
		})})
		id := x.submit(x.owner, x.input("a.gif", 5)).Jobs[0].ID
		<-shown
		j, err := elsewhere.Delete(context.Background(), x.owner, id)
		if err != nil || j.State != job.Cancelled {
			t.Fatalf("%+v, %v", j, err)
		}
		if got := x.credits(x.owner); got != 100 {
			t.Errorf("%d credits while it stops", got)
		}
		if err := <-stopped; err == nil {
			t.Error("it was stopped without a reason")
		}
		x.remove(id)
		x.consistent()
		stop() // waits for the attempt, which removes what it stored and the job did not name yet
		if left := x.objects(); len(left) > 0 {
			t.Errorf("%v are left", left)
		}
	})
}

// TestCancelStored checks that nothing stays of a job whose worker hears that it was cancelled
// between the storing of its output and its end.
func TestCancelStored(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		var (
			x  *fixture
			id string
		)
		lease, heard := make(chan context.Context, 1), make(chan struct{})
		o := &afterStage{stage: "store", do: func() {
			x.remove(id)
			x.remove(id) // the input
			<-(<-lease).Done()
			close(heard)
		}}
		x = newFixture(t, db, job.Config{Observer: o})
		id = x.submit(x.owner, x.input("a.gif", 5)).Jobs[0].ID
		stop := x.work(&job.Worker{Processor: processor(func(ctx context.Context, task job.Task) (job.Product, error) {
			lease <- ctx
			out := filepath.Join(task.Dir, "out")
			return job.Product{Path: out}, os.WriteFile(out, []byte("out"), 0o600)
		})})
		<-heard
		stop() // waits for the attempt
		if left := x.objects(); len(left) > 0 || o.ends[string(job.Cancelled)] != 1 {
			t.Errorf("%v are left, and the attempt ended as %v", left, o.ends)
		}
		x.consistent()
	})
}

// TestCancelRace checks that jobs which end while they are cancelled are either done
// and charged or cancelled and refunded.
func TestCancelRace(t *testing.T) {
	t.Parallel()
	each(t, job.Config{MaxRunning: 100}, func(t *testing.T, x *fixture) {
		const jobs = 24
		x.exec("UPDATE accounts SET credits = credits + 1000")
		x.exec("INSERT INTO ledger (id, account_id, kind, amount, note, created_at) SELECT 'led_x', id, 'grant', 1000, '', 0 FROM accounts")
		turn := make(chan struct{}) // lets a job end at about the moment at which it is cancelled
		x.work(&job.Worker{Slots: 4, Processor: processor(func(ctx context.Context, task job.Task) (job.Product, error) {
			select {
			case <-turn:
			case <-ctx.Done():
			}
			return echo(ctx, task)
		})})
		var ids []string
		for range jobs {
			ids = append(ids, x.submit(x.owner, x.input("a.gif", 5)).Jobs[0].ID)
		}
		var all sync.WaitGroup
		for _, id := range ids {
			all.Go(func() {
				select {
				case turn <- struct{}{}:
				default:
				}
				if _, err := x.Delete(context.Background(), x.owner, id); err != nil {
					t.Errorf("%s: %v", id, err)
				}
			})
		}
		all.Wait()
		close(turn)
		x.ended()
		want := int64(1100)
		for _, id := range ids {
			switch j := x.get(id); j.State {
			case job.Done:
				want -= cost(5)
			case job.Cancelled:
			default:
				t.Errorf("%s is %s", id, j.State)
			}
		}
		if got := x.credits(x.owner); got != want {
			t.Errorf("%d credits, want %d", got, want)
		}
		x.consistent()
	})
}

// TestDeleteEnded checks that the files of a job that has ended are removed at once,
// but not an input that another job needs.
func TestDeleteEnded(t *testing.T) {
	t.Parallel()
	each(t, job.Config{}, func(t *testing.T, x *fixture) {
		in := x.input("a.gif", 5)
		id := x.submit(x.owner, in).Jobs[0].ID
		again := x.submit(x.owner, in).Jobs[0].ID
		x.work(&job.Worker{Processor: processor(echo)})
		x.ended()
		for range 2 {
			j := x.remove(id)
			if j.State != job.Done || j.Input != nil || j.Output != nil || j.Preview != nil || j.OutputSize == 0 {
				t.Errorf("deleted: %+v", j)
			}
		}
		if j := x.get(again); j.Input == nil || j.Output == nil || len(x.objects()) != 3 {
			t.Errorf("the other job has %+v of %v", j, x.objects())
		}
		if j := x.remove(again); j.Input != nil || len(x.objects()) != 0 {
			t.Errorf("%+v; objects %v", j, x.objects())
		}
		if got, want := x.credits(x.owner), 100-2*cost(5); got != want {
			t.Errorf("%d credits, want %d", got, want)
		}
		x.consistent()
	})
}

// TestCancelEnded checks that a job that has ended keeps its files and its charge when it is cancelled.
func TestCancelEnded(t *testing.T) {
	t.Parallel()
	each(t, job.Config{}, func(t *testing.T, x *fixture) {
		id := x.submit(x.owner, x.input("a.gif", 5)).Jobs[0].ID
		x.work(&job.Worker{Processor: processor(echo)})
		x.ended()
		for range 2 {
			j, err := x.Cancel(context.Background(), x.owner, id)
			if err != nil || j.State != job.Done || j.Input == nil || j.Output == nil {
				t.Errorf("%+v, %v", j, err)
			}
		}
		if got, want := x.credits(x.owner), 100-cost(5); got != want {
			t.Errorf("%d credits, want %d", got, want)
		}
		x.consistent()
	})
}

// TestDeleteForeign checks that nobody can delete or cancel another's job.
func TestDeleteForeign(t *testing.T) {
	t.Parallel()
	each(t, job.Config{}, func(t *testing.T, x *fixture) {
		id := x.submit(x.owner, x.input("a.gif", 5)).Jobs[0].ID
		bob := x.account("bob", 0)
		for _, owner := range []job.Owner{bob, {AccountID: bob.AccountID}, {AccountID: x.owner.AccountID, KeyID: "key_other"}} {
			for _, end := range []func(context.Context, job.Owner, string) (job.Job, error){x.Delete, x.Cancel} {
				if _, err := end(context.Background(), owner, id); !errors.Is(err, job.ErrNotFound) {
					t.Errorf("%+v: %v", owner, err)
				}
			}
		}
		if _, err := x.Delete(context.Background(), x.owner, "job_0"); !errors.Is(err, job.ErrNotFound) {
			t.Errorf("an unknown job: %v", err)
		}
		if j := x.get(id); j.State != job.Queued {
			t.Errorf("it is %s", j.State)
		}
	})
}
