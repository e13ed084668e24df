package job_test

import (
	"context"
	"errors"
	"testing"

	"github.com/bgremove/bgremove/internal/service/account"
	"github.com/bgremove/bgremove/internal/service/job"
	"github.com/bgremove/bgremove/internal/service/price"
)

// TestErase checks that all data of an account goes, that waiting jobs are
// refunded, and that other accounts are untouched.
func TestErase(t *testing.T) {
	t.Parallel()
	each(t, job.Config{}, func(t *testing.T, x *fixture) {
		other := x.account("bob", 100)
		x.submit(x.owner, x.input("a.gif", 1), x.input("b.gif", 1))
		x.submit(other, x.input("c.gif", 1))
		stop := x.work(&job.Worker{Processor: processor(echo)})
		x.ended()
		stop()
		sub := x.submission(x.owner, x.input("d.gif", 1))
		sub.Reservation = x.reserve(x.owner, "k")
		if _, err := x.Submit(t.Context(), sub); err != nil {
			t.Fatal(err)
		}
		accounts := account.New(x.db)
		for range 2 { // the second time nothing is left
			for _, err := range []error{
				accounts.Suspend(t.Context(), x.owner.AccountID), x.Erase(t.Context(), x.owner.AccountID), accounts.Erase(t.Context(), x.owner.AccountID),
			} {
				if err != nil {
					t.Fatal(err)
				}
			}
		}
		for _, unlimited := range []bool{false, true} { // a job that was submitted in the meantime
			s := job.New(x.db, x.blobs, job.Config{Unlimited: unlimited})
			if _, err := s.Submit(t.Context(), x.submission(x.owner, x.input("e.gif", 1))); !errors.Is(err, account.ErrSuspended) {
				t.Errorf("a late upload: %v", err)
			}
		}
		for query, want := range map[string]int{
			"SELECT COUNT(*) FROM jobs WHERE account_id = 'acc_ann'":           0,
			"SELECT COUNT(*) FROM batches WHERE account_id = 'acc_ann'":        0,
			"SELECT COUNT(*) FROM job_events WHERE account_id = 'acc_ann'":     0,
			"SELECT COUNT(*) FROM idempotency":                                 0,
			"SELECT COUNT(*) FROM ledger WHERE account_id = 'acc_ann'":         5,
			"SELECT COUNT(*) FROM jobs WHERE account_id = 'acc_bob'":           1,
			"SELECT queued + running FROM queues WHERE account_id = 'acc_ann'": 0,
		} {
			var n int
			if err := x.db.QueryRow(query).Scan(&n); err != nil || n != want {
				t.Errorf("%s: %d, want %d (%v)", query, n, want, err)
			}
		}
		if n := len(x.objects()); n != 5 || x.credits(x.owner) != 100-2*price.Least {
			t.Errorf("%d objects and %d credits are left", n, x.credits(x.owner))
		}
		if wrong, err := account.NewLedger(x.db).Verify(t.Context()); len(wrong) > 0 || err != nil {
			t.Error(wrong, err)
		}
		who, err := accounts.Get(t.Context(), x.owner.AccountID)
		if err != nil || who.Email != "erased acc_ann" || !who.Suspended {
			t.Errorf("%+v %v", who, err)
		}
		if _, err := accounts.SignIn(t.Context(), who.Email, ""); !errors.Is(err, account.ErrCredentials) {
			t.Errorf("signing in: %v", err)
		}
	})
}

func TestEraseWaits(t *testing.T) {
	t.Parallel()
	each(t, job.Config{}, func(t *testing.T, x *fixture) {
		release := make(chan struct{})
		begun := make(chan struct{})
		x.submit(x.owner, x.input("a.gif", 1))
		x.work(&job.Worker{Processor: processor(func(ctx context.Context, task job.Task) (job.Product, error) {
			close(begun)
			<-release
			return echo(ctx, task)
		})})
		<-begun
		if err := x.Erase(t.Context(), x.owner.AccountID); !errors.Is(err, job.ErrBusy) {
			t.Errorf("while a job runs: %v", err)
		}
		close(release)
		x.ended()
		if err := x.Erase(t.Context(), x.owner.AccountID); err != nil || len(x.objects()) > 0 {
			t.Errorf("%v %v", x.objects(), err)
		}
	})
}
