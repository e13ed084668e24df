package job_test

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"golang.org/x/sync/errgroup"

	"github.com/bgremove/bgremove/internal/service/account"
	"github.com/bgremove/bgremove/internal/service/job"
	"github.com/bgremove/bgremove/internal/service/price"
)

func TestSubmit(t *testing.T) {
	t.Parallel()
	each(t, job.Config{}, func(t *testing.T, x *fixture) {
		in := x.input("walk.gif", 10)
		sub := x.submission(x.owner, in)
		sub.Options.OutputFormat, sub.Options.Pad = "mp4", 7
		r, err := x.Submit(t.Context(), sub)
		if err != nil {
			t.Fatal(err)
		}
		id := r.Jobs[0].ID
		if diff := cmp.Diff(job.Receipt{Jobs: []job.ReceiptItem{{ID: id, Filename: "walk.gif"}}, CreditsRemaining: 100 - cost(10)}, r); diff != "" {
			t.Error(diff)
		}
		got, err := x.Get(t.Context(), x.owner, id)
		want := job.Job{ID: id, AccountID: x.owner.AccountID, KeyID: x.owner.KeyID, RequestID: "req", State: job.Queued, Options: sub.Options,
			OutputFormat: "gif", OriginalName: "walk.gif", InputSize: in.Size, Media: in.Media, Cost: cost(10), Charged: cost(10), Input: &job.File{Key: in.Key, Size: in.Size, SHA256: in.SHA256}}
		if diff := cmp.Diff(want, got, cmpopts.IgnoreFields(job.Job{}, "CreatedAt")); diff != "" || err != nil {
			t.Errorf("%v %s", err, diff)
		}
		if time.Since(got.CreatedAt).Abs() > time.Minute {
			t.Errorf("created at %v", got.CreatedAt)
		}
		x.consistent()
	})
}

// Only the key that created a job, and its account, can see it.
func TestVisibility(t *testing.T) {
	t.Parallel()
	each(t, job.Config{}, func(t *testing.T, x *fixture) {
		dashboard := job.Owner{AccountID: x.owner.AccountID}
		one := x.submit(x.owner, x.input("a.gif", 1))
		two := x.submit(dashboard, x.input("b.gif", 1))
		both := x.submit(x.owner, x.input("c.gif", 1), x.input("d.gif", 1))
		for name, c := range map[string]struct {
			owner           job.Owner
			one, two, batch bool
			list            int
		}{
			"the key":   {x.owner, true, false, true, 3},
			"dashboard": {dashboard, true, true, true, 4},
			"other key": {job.Owner{AccountID: x.owner.AccountID, KeyID: "key_2"}, false, false, false, 0},
			"other":     {x.account("bob", 0), false, false, false, 0},
		} {
			sees := func(id string, want bool) {
				_, err := x.Get(t.Context(), c.owner, id)
				if want && err != nil || !want && !errors.Is(err, job.ErrNotFound) {
					t.Errorf("%s: %v", name, err)
				}
			}
			sees(one.Jobs[0].ID, c.one)
			sees(two.Jobs[0].ID, c.two)
			if _, err := x.Batch(t.Context(), c.owner, both.BatchID); c.batch != (err == nil) {
				t.Errorf("%s: batch: %v", name, err)
			}
			if list, err := x.List(t.Context(), c.owner, job.Page{Limit: 10}); len(list) != c.list || err != nil {
				t.Errorf("%s sees %d jobs: %v", name, len(list), err)
			}
		}
	})
}

// TestListState checks pages of the jobs in one state.
func TestListState(t *testing.T) {
	t.Parallel()
	each(t, job.Config{}, func(t *testing.T, x *fixture) {
		ids := map[job.State][]string{}
		for i := range 3 * len(job.States()) {
			state := job.States()[i%len(job.States())]
			id := x.submit(x.owner, x.input(fmt.Sprint(i, ".gif"), 1)).Jobs[0].ID
			x.exec("UPDATE jobs SET state = $1 WHERE id = $2", string(state), id)
			ids[state] = append([]string{id}, ids[state]...)
		}
		for state, want := range ids {
			for _, p := range []struct {
				page job.Page
				want []string
			}{{job.Page{State: state, Limit: 2}, want[:2]}, {job.Page{State: state, Limit: 2, Before: want[1]}, want[2:]}} {
				list, err := x.List(t.Context(), job.Owner{AccountID: x.owner.AccountID}, p.page)
				var got []string
				for _, j := range list {
					got = append(got, j.ID)
				}
				if diff := cmp.Diff(p.want, got); diff != "" || err != nil {
					t.Errorf("%+v: %v %s", p.page, err, diff)
				}
			}
		}
		if none, err := x.List(t.Context(), x.owner, job.Page{State: "' OR 1", Limit: 9}); len(none) > 0 || err != nil {
			t.Errorf("of no state: %v %v", none, err)
		}
	})
}

func TestList(t *testing.T) {
	t.Parallel()
	each(t, job.Config{}, func(t *testing.T, x *fixture) {
		var ids []string
		for i := range 5 {
			ids = append([]string{x.submit(x.owner, x.input(fmt.Sprint(i, ".gif"), 1)).Jobs[0].ID}, ids...)
		}
		var got []string
		for before := ""; ; {
			page, err := x.List(t.Context(), x.owner, job.Page{Before: before, Limit: 2})
			if err != nil {
				t.Fatal(err)
			}
			for _, j := range page {
				got = append(got, j.ID)
			}
			if len(page) < 2 {
				break
			}
			before = page[1].ID
		}
		if diff := cmp.Diff(ids, got); diff != "" {
			t.Error(diff)
		}
	})
}

// A batch is charged as a whole; unreadable files are refunded at once.
func TestBatch(t *testing.T) {
	t.Parallel()
	each(t, job.Config{}, func(t *testing.T, x *fixture) {
		bad := job.Input{Name: "bad.gif", Key: x.input("bad.gif", 0).Key, Size: 5, Unreadable: true}
		files := []job.Input{x.input("a.gif", 4), bad, x.input("c.gif", 5)}
		r := x.submit(x.owner, files...)
		if want := 100 - cost(4) - cost(5); r.CreditsRemaining != want || x.credits(x.owner) != want {
			t.Errorf("%d credits are left", r.CreditsRemaining)
		}
		b, err := x.Batch(t.Context(), x.owner, r.BatchID)
		if err != nil || b.State != job.BatchProcessing || states(b.Jobs) != "queued failed queued " {
			t.Errorf("%v: %s, %v", b.State, states(b.Jobs), err)
		}
		for i, j := range b.Jobs {
			if j.OriginalName != files[i].Name || r.Jobs[i].ID != j.ID {
				t.Errorf("job %d is %q", i, j.OriginalName)
			}
		}
		if j := b.Jobs[1]; j.Error != job.UnreadableFile || j.Media != (job.Media{}) || j.InputSize != 5 || j.Cost != price.Least || j.EndedAt.IsZero() {
			t.Errorf("the unreadable one: %+v", j)
		}
		x.consistent()
		x.work(&job.Worker{Processor: processor(echo)})
		x.ended()
		if b, err := x.Batch(t.Context(), x.owner, r.BatchID); err != nil || b.State != job.BatchPartial {
			t.Errorf("%v: %s, %v", b.State, states(b.Jobs), err)
		}
		whole := x.submit(x.owner, x.input("e.gif", 1), x.input("f.gif", 1))
		x.ended()
		if b, err := x.Batch(t.Context(), x.owner, whole.BatchID); err != nil || b.State != job.BatchDone {
			t.Errorf("%v: %s, %v", b.State, states(b.Jobs), err)
		}
	})
}

func TestInsufficient(t *testing.T) {
	t.Parallel()
	each(t, job.Config{}, func(t *testing.T, x *fixture) {
		unreadable := job.Input{Name: "x.gif", Key: job.InputKey(), Unreadable: true} // counts, although it is refunded
		_, err := x.Submit(t.Context(), x.submission(x.account("bob", cost(98)), x.input("a.gif", 98), unreadable))
		var poor *account.InsufficientError
		if !errors.As(err, &poor) || *poor != (account.InsufficientError{Balance: cost(98), Cost: cost(98) + price.Least}) {
			t.Fatal(err)
		}
		var rows int
		if err := x.db.QueryRow(`SELECT (SELECT COUNT(*) FROM jobs) + (SELECT COUNT(*) FROM batches) + (SELECT COUNT(*) FROM queues)`).Scan(&rows); err != nil || rows != 0 {
			t.Errorf("%d rows were made, %v", rows, err)
		}
		x.consistent()
	})
}

func TestUnlimited(t *testing.T) {
	t.Parallel()
	each(t, job.Config{Unlimited: true}, func(t *testing.T, x *fixture) {
		r := x.submit(x.owner, x.input("a.gif", 600), x.input("b.gif", 600))
		if r.CreditsRemaining != 100 {
			t.Errorf("%d credits", r.CreditsRemaining)
		}
		x.work(&job.Worker{Processor: processor(func(context.Context, job.Task) (job.Product, error) {
			return job.Product{}, job.ErrUnreadable
		})})
		x.ended()
		if got := x.credits(x.owner); got != 100 {
			t.Errorf("%d credits after failures", got)
		}
		if j := x.get(r.Jobs[0].ID); j.Charged != 0 || j.Cost != cost(600) {
			t.Errorf("charged %d of %d", j.Charged, j.Cost)
		}
		x.consistent()
	})
}

// 64 batches run at once on a balance that almost suffices for 15. 14 are
// accepted, and after the failure of all their jobs the balance is whole again.
func TestSubmitRace(t *testing.T) {
	t.Parallel()
	each(t, job.Config{}, func(t *testing.T, x *fixture) {
		files, batch := []job.Input{x.input("a.gif", 4), x.input("b.gif", 3)}, cost(4)+cost(3)
		whole := 15*batch - 1
		owner := x.account("bob", whole)
		var taken, refused atomic.Int64
		var g errgroup.Group
		for range 64 {
			g.Go(func() error {
				_, err := x.Submit(t.Context(), x.submission(owner, files...))
				var poor *account.InsufficientError
				switch {
				case err == nil:
					taken.Add(1)
				case errors.As(err, &poor) && poor.Balance < batch:
					refused.Add(1)
				default:
					return err
				}
				return nil
			})
		}
		if err := g.Wait(); err != nil {
			t.Fatal(err)
		}
		if taken.Load() != 14 || refused.Load() != 50 || x.credits(owner) != batch-1 {
			t.Errorf("%d taken, %d refused, %d credits", taken.Load(), refused.Load(), x.credits(owner))
		}
		x.consistent()
		x.work(&job.Worker{Slots: 4, Processor: processor(func(context.Context, job.Task) (job.Product, error) {
			return job.Product{}, errors.New("no")
		})})
		x.ended()
		if got := x.credits(owner); got != whole {
			t.Errorf("%d credits after all have failed", got)
		}
		x.consistent()
	})
}

func TestStats(t *testing.T) {
	t.Parallel()
	each(t, job.Config{}, func(t *testing.T, x *fixture) {
		if got, err := x.Stats(t.Context()); err != nil || got != (job.Stats{}) {
			t.Errorf("%+v %v", got, err)
		}
		x.submit(x.owner, x.input("a.gif", 1), x.input("b.gif", 1))
		x.exec("UPDATE jobs SET created_at = created_at - 60000")
		if got, err := x.Stats(t.Context()); err != nil || got.Queued != 2 || got.Running != 0 || got.OldestWait < time.Minute || got.OldestWait > 2*time.Minute {
			t.Errorf("%+v %v", got, err)
		}
	})
}
