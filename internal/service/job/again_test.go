package job_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/bgremove/bgremove/internal/service/job"
	"github.com/bgremove/bgremove/internal/service/store"
)

// again requests another job on the input of one.
func (x *fixture) again(owner job.Owner, id string) (job.Submission, error) {
	x.t.Helper()
	in, err := x.get(id).Again()
	sub := x.submission(owner, in)
	sub.Again = id
	return sub, err
}

// TestAgain checks a second job on one upload. It is charged again, and
// continues after the first job's retention is over. The upload goes with the
// last job.
func TestAgain(t *testing.T) {
	t.Parallel()
	each(t, job.Config{}, func(t *testing.T, x *fixture) {
		first := x.submit(x.owner, x.input("a.gif", 10)).Jobs[0].ID
		dashboard := job.Owner{AccountID: x.owner.AccountID}
		sub, err := x.again(dashboard, first)
		if err != nil {
			t.Fatal(err)
		}
		sub.Options.OutputFormat = "webm"
		r, err := x.Submit(t.Context(), sub)
		if err != nil || r.CreditsRemaining != 100-2*cost(10) || r.Jobs[0].Filename != "a.gif" {
			t.Fatalf("%+v %v", r, err)
		}
		a, b := x.get(first), x.get(r.Jobs[0].ID)
		if diff := cmp.Diff(a.Input, b.Input); diff != "" || a.Media != b.Media || b.OutputFormat != "webm" || b.KeyID != "" {
			t.Errorf("%+v\n%s", b, diff)
		}
		x.work(&job.Worker{Processor: processor(echo)})
		x.ended()
		x.exec("UPDATE jobs SET ended_at = ended_at - $1 WHERE id = $2", 25*time.Hour.Milliseconds(), first)
		x.sweep(job.Swept{Inputs: 1})
		if a, b := x.get(first), x.get(b.ID); a.Input != nil || b.Input == nil {
			t.Errorf("after the first has expired: %v %v", a.Input, b.Input)
		}
		if _, release, err := x.blobs.Local(t.Context(), b.Input.Key); err != nil {
			t.Errorf("the shared input is gone: %v", err)
		} else {
			release()
		}
		if _, err := x.again(dashboard, first); !errors.Is(err, job.ErrNotFound) {
			t.Errorf("again without an input: %v", err)
		}
		x.exec("UPDATE jobs SET ended_at = ended_at - $1 WHERE id = $2", 25*time.Hour.Milliseconds(), b.ID)
		x.sweep(job.Swept{Inputs: 1})
		if n := len(x.objects()); n != 4 { // outputs and previews
			t.Errorf("%d objects are left: %v", n, x.objects())
		}
		x.consistent()
	})
}

// TestAgainRefused checks that no job is made from an input that is missing,
// unreadable, or another account's.
func TestAgainRefused(t *testing.T) {
	t.Parallel()
	each(t, job.Config{}, func(t *testing.T, x *fixture) {
		broken := x.input("b.gif", 0)
		broken.Unreadable, broken.Media = true, job.Media{}
		batch := x.submit(x.owner, x.input("a.gif", 3), broken)
		if _, err := x.again(x.owner, batch.Jobs[1].ID); !errors.Is(err, job.ErrUnreadable) {
			t.Errorf("again with a broken file: %v", err)
		}
		id := batch.Jobs[0].ID
		foreign, err := x.again(x.account("bob", 50), id)
		if err != nil {
			t.Fatal(err)
		}
		expired, err := x.again(x.owner, id)
		if err != nil {
			t.Fatal(err)
		}
		x.exec("UPDATE jobs SET state = 'failed', ended_at = created_at - 172800000 WHERE id = $1", id)
		x.exec("UPDATE queues SET queued = 0")
		if _, err := x.Submit(t.Context(), foreign); !errors.Is(err, job.ErrNotFound) {
			t.Errorf("another's input: %v", err)
		}
		x.sweep(job.Swept{Inputs: 1})
		if _, err := x.Submit(t.Context(), expired); !errors.Is(err, job.ErrNotFound) {
			t.Errorf("an input that has just expired: %v", err)
		}
		if a, b := x.credits(x.owner), x.credits(foreign.Owner); a != 100-cost(3) || b != 50 {
			t.Errorf("%d and %d credits are left", a, b)
		}
		x.consistent()
	})
}

// The input of a job that has not ended is kept, too: Delete may cancel the job and drop its files
// before the other job is there.
func TestAgainLocks(t *testing.T) {
	t.Parallel()
	each(t, job.Config{}, func(t *testing.T, x *fixture) {
		if !x.db.Shared() {
			t.Skip("a transaction has the database to itself")
		}
		id := x.submit(x.owner, x.input("a.gif", 3)).Jobs[0].ID
		sub, err := x.again(x.owner, id)
		if err != nil {
			t.Fatal(err)
		}
		err = x.db.Tx(t.Context(), func(tx *store.Tx) error {
			if err := job.LockInput(t.Context(), tx, sub); err != nil {
				return err
			}
			if _, err := x.db.Exec("SELECT id FROM jobs WHERE id = $1 FOR UPDATE NOWAIT", id); !store.Unavailable(err) {
				t.Errorf("the job is not locked: %v", err)
			}
			return nil
		})
		if err != nil {
			t.Error(err)
		}
	})
}

// TestAgainWhileSweeping creates jobs on inputs that expire at the same time.
// Every created job has its input.
func TestAgainWhileSweeping(t *testing.T) {
	t.Parallel()
	each(t, job.Config{Unlimited: true}, func(t *testing.T, x *fixture) {
		const n = 20
		var subs [n]job.Submission
		for i := range n {
			id := x.submit(x.owner, x.input(fmt.Sprint(i, ".gif"), 1)).Jobs[0].ID
			sub, err := x.again(x.owner, id)
			if err != nil {
				t.Fatal(err)
			}
			subs[i] = sub
		}
		x.exec("UPDATE jobs SET state = 'done', ended_at = 0")
		var wait sync.WaitGroup
		wait.Go(func() {
			if _, err := x.Sweep(context.Background()); err != nil {
				t.Error(err)
			}
		})
		made := make(chan string, n)
		for _, sub := range subs {
			wait.Go(func() {
				r, err := x.Submit(context.Background(), sub)
				switch {
				case err == nil:
					made <- r.Jobs[0].ID
				case !errors.Is(err, job.ErrNotFound):
					t.Error(err)
				}
			})
		}
		wait.Wait()
		close(made)
		t.Logf("%d of %d were faster than the sweep", len(made), n)
		for id := range made {
			if _, err := x.blobs.Stat(t.Context(), x.get(id).Input.Key); err != nil {
				t.Errorf("%s has no input: %v", id, err)
			}
		}
	})
}

// TestAgainWhileRunning creates jobs on the inputs of waiting or running jobs,
// while workers claim them. There is no deadlock.
func TestAgainWhileRunning(t *testing.T) {
	t.Parallel()
	each(t, job.Config{Unlimited: true, MaxRunning: 4}, func(t *testing.T, x *fixture) {
		var ids []string
		for i := range 10 {
			ids = append(ids, x.submit(x.owner, x.input(fmt.Sprint(i, ".gif"), 1)).Jobs[0].ID)
		}
		x.work(&job.Worker{Processor: processor(echo), Slots: 4})
		var wait sync.WaitGroup
		for _, id := range ids {
			wait.Go(func() {
				for range 5 {
					in, err := x.get(id).Again()
					sub := x.submission(x.owner, in)
					sub.Again = id
					if err == nil {
						_, err = x.Submit(context.Background(), sub)
					}
					if err != nil {
						t.Error(err)
					}
				}
			})
		}
		wait.Wait()
		x.ended()
		x.consistent()
		var done int
		if err := x.db.QueryRow("SELECT COUNT(*) FROM jobs WHERE state = 'done'").Scan(&done); done != 60 || err != nil {
			t.Errorf("%d jobs are done: %v", done, err)
		}
	})
}
