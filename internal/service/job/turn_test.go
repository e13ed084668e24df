package job_test

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"

	"github.com/bgremove/bgremove/internal/service/account"
	"github.com/bgremove/bgremove/internal/service/job"
)

// TestSlotsOfTimeouts checks that timeouts of an account's jobs reduce its
// places for a day, but never to none.
func TestSlotsOfTimeouts(t *testing.T) {
	t.Parallel()
	each(t, job.Config{MaxRunning: 4, Unlimited: true}, func(t *testing.T, x *fixture) {
		for timeouts, places := range []int{4, 2, 1, 1, 1, 1} {
			if most := x.atOnce(6, places); most != places {
				t.Errorf("after %d timeouts %d jobs ran at once, want %d", timeouts, most, places)
			}
			x.exec("UPDATE jobs SET state = 'failed', error = 'timed_out' WHERE id = (SELECT MIN(id) FROM jobs WHERE error IS NULL)")
		}
		x.exec("UPDATE jobs SET ended_at = ended_at - 86400001")
		if most := x.atOnce(6, 4); most != 4 {
			t.Errorf("a day later %d jobs ran at once", most)
		}
	})
}

// atOnce runs jobs and holds them until a number of them are running. It
// returns the largest number that ran at once.
func (x *fixture) atOnce(jobs, until int) (most int) {
	x.t.Helper()
	for range jobs {
		x.submit(x.owner, x.input("a.gif", 1))
	}
	var (
		mu      sync.Mutex
		running int
		counted = make(chan int, 2*jobs)
	)
	count := func(n int) {
		mu.Lock()
		defer mu.Unlock()
		running += n
		most = max(most, running)
		counted <- running
	}
	release := make(chan struct{})
	stop := x.work(&job.Worker{Slots: jobs, Processor: processor(func(ctx context.Context, task job.Task) (job.Product, error) {
		count(1)
		defer count(-1)
		<-release
		return echo(ctx, task)
	})})
	for n := range counted {
		if n == until {
			break
		}
	}
	close(release)
	x.ended()
	stop()
	return most
}

// TestOvertime checks that an account waits for its next turn after it has used
// a worker for longer than it has paid for.
func TestOvertime(t *testing.T) {
	t.Parallel()
	each(t, job.Config{MaxRunning: 1}, func(t *testing.T, x *fixture) {
		other := x.account("bob", 100)
		var order []string
		first := true
		process := processor(func(ctx context.Context, task job.Task) (job.Product, error) {
			order = append(order, task.Job.OriginalName)
			if first {
				first = false
				x.exec("UPDATE jobs SET started_at = started_at - 600000 WHERE id = $1", task.Job.ID)
			}
			return echo(ctx, task)
		})
		x.submit(x.owner, x.input("a1.gif", 1))
		for _, name := range []string{"a2.gif", "a3.gif"} {
			x.submit(x.owner, x.input(name, 1))
		}
		for _, name := range []string{"b1.gif", "b2.gif", "b3.gif"} {
			x.submit(other, x.input(name, 1))
		}
		stop := x.work(&job.Worker{Slots: 1, Processor: process})
		x.ended()
		stop()
		want := []string{"a1.gif", "b1.gif", "b2.gif", "b3.gif", "a2.gif", "a3.gif"}
		if !slices.Equal(order, want) {
			t.Errorf("they ran in the order %v, want %v", order, want)
		}
		x.consistent()
	})
}

// TestSuspendedQueue checks that the queue of a suspended account waits.
func TestSuspendedQueue(t *testing.T) {
	t.Parallel()
	each(t, job.Config{}, func(t *testing.T, x *fixture) {
		accounts, other := account.New(x.db), x.account("bob", 100)
		waiting := x.submit(x.owner, x.input("a.gif", 1)).Jobs[0].ID
		if err := accounts.Suspend(t.Context(), x.owner.AccountID); err != nil {
			t.Fatal(err)
		}
		x.work(&job.Worker{Processor: processor(echo)})
		x.submit(other, x.input("b.gif", 1))
		x.until("SELECT COUNT(*) = 1 FROM jobs WHERE state = 'done'")
		if j := x.get(waiting); j.State != job.Queued {
			t.Errorf("the job is %s", j.State)
		}
		if s, err := x.Stats(t.Context()); err != nil || s.Queued != 1 || s.OldestWait != 0 {
			t.Errorf("the queue is %+v, %v", s, err)
		}
		// Nobody gets the turns that it missed: neither a new account nor
		// itself.
		x.exec("UPDATE queues SET vtime = 1000, queued = queued + 1 WHERE account_id = 'acc_bob'")
		newcomer := x.account("carol", 100)
		x.submit(newcomer, x.input("c.gif", 1))
		turn := func(of job.Owner) (vtime int64) {
			if err := x.db.QueryRow("SELECT vtime FROM queues WHERE account_id = $1", of.AccountID).Scan(&vtime); err != nil {
				t.Error(err)
			}
			return vtime
		}
		if err := errors.Join(x.CatchUp(t.Context(), x.owner.AccountID), accounts.Resume(t.Context(), x.owner.AccountID)); err != nil {
			t.Fatal(err)
		}
		if turn(newcomer) < 1000 || turn(x.owner) < 1000 {
			t.Errorf("the newcomer begins at %d, who was suspended at %d", turn(newcomer), turn(x.owner))
		}
		x.exec("UPDATE queues SET queued = queued - 1 WHERE account_id = 'acc_bob'")
		x.ended() // by the next check of the queue, at most a second later
		if j := x.get(waiting); j.State != job.Done {
			t.Errorf("the job is %s", j.State)
		}
	})
}
