package account_test

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"golang.org/x/sync/errgroup"

	"github.com/bgremove/bgremove/internal/service/account"
	"github.com/bgremove/bgremove/internal/service/store"
	"github.com/bgremove/bgremove/internal/service/store/storetest"
)

// charge takes credits in a transaction of its own.
func charge(ctx context.Context, db *store.DB, accountID string, items ...account.Item) (balance int64, err error) {
	err = db.Tx(ctx, func(tx *store.Tx) (err error) {
		balance, err = account.NewLedger(db).Charge(ctx, tx, accountID, items)
		return err
	})
	return balance, err
}

func refund(ctx context.Context, db *store.DB, accountID string, item account.Item) (balance int64, err error) {
	err = db.Tx(ctx, func(tx *store.Tx) (err error) {
		balance, err = account.NewLedger(db).Refund(ctx, tx, accountID, item)
		return err
	})
	return balance, err
}

// addsUp checks a balance and the whole ledger.
func addsUp(t *testing.T, db *store.DB, accountID string, want int64) {
	t.Helper()
	a, err := account.New(db).Get(t.Context(), accountID)
	if err != nil || a.Credits != want {
		t.Errorf("%d credits, not %d: %v", a.Credits, want, err)
	}
	if wrong, err := account.NewLedger(db).Verify(t.Context()); len(wrong) > 0 || err != nil {
		t.Errorf("the ledger does not add up: %+v %v", wrong, err)
	}
}

func TestLedger(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		ledger := account.NewLedger(db)
		a := register(t, db, "ann@example.com")
		light, _ := account.PlanNamed("light")
		if balance, err := ledger.GrantPlan(t.Context(), a.ID, light); balance != 150 || err != nil {
			t.Fatalf("%d, %v", balance, err)
		}
		if balance, err := ledger.Grant(t.Context(), a.ID, 5, "sorry"); balance != 155 || err != nil {
			t.Fatalf("%d, %v", balance, err)
		}
		if balance, err := charge(t.Context(), db, a.ID, account.Item{JobID: "job_1", Credits: 3}, account.Item{JobID: "job_2", Credits: 10}); balance != 142 || err != nil {
			t.Fatalf("%d, %v", balance, err)
		}
		if balance, err := refund(t.Context(), db, a.ID, account.Item{JobID: "job_1", Credits: 3}); balance != 145 || err != nil {
			t.Fatalf("%d, %v", balance, err)
		}
		if _, err := refund(t.Context(), db, a.ID, account.Item{JobID: "job_1", Credits: 3}); !store.IsUnique(err) {
			t.Errorf("refunded twice: %v", err)
		}
		_, err := charge(t.Context(), db, a.ID, account.Item{JobID: "job_3", Credits: 140}, account.Item{JobID: "job_4", Credits: 6})
		var poor *account.InsufficientError
		if !errors.As(err, &poor) || *poor != (account.InsufficientError{Balance: 145, Cost: 146}) {
			t.Errorf("more than there is: %v", err)
		}
		addsUp(t, db, a.ID, 145)
		entries, err := ledger.Entries(t.Context(), a.ID, "", 10)
		want := []account.Entry{
			{Kind: account.Refund, Amount: 3, JobID: "job_1"},
			{Kind: account.Charge, Amount: -10, JobID: "job_2"},
			{Kind: account.Charge, Amount: -3, JobID: "job_1"},
			{Kind: account.Grant, Amount: 5, Note: "sorry"},
			{Kind: account.Grant, Amount: 150, Note: "plan light"},
		}
		if diff := cmp.Diff(want, entries, cmpopts.IgnoreFields(account.Entry{}, "ID", "AccountID", "CreatedAt")); diff != "" || err != nil {
			t.Errorf("%v %s", err, diff)
		}
		rest, err := ledger.Entries(t.Context(), a.ID, entries[2].ID, 1)
		if diff := cmp.Diff(entries[3:4], rest); diff != "" || err != nil {
			t.Errorf("%v %s", err, diff)
		}
		if got, err := account.New(db).Get(t.Context(), a.ID); got.Plan != "light" || err != nil {
			t.Errorf("plan %q, %v", got.Plan, err)
		}
	})
}

// reverse takes credits back in a transaction of its own.
func reverse(ctx context.Context, db *store.DB, accountID string, credits int64, note string) (taken int64, err error) {
	err = db.Tx(ctx, func(tx *store.Tx) (err error) {
		taken, err = account.NewLedger(db).Reverse(ctx, tx, accountID, credits, note)
		return err
	})
	return taken, err
}

func TestReverse(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		ledger := account.NewLedger(db)
		a := register(t, db, "ann@example.com")
		if _, err := ledger.Grant(t.Context(), a.ID, 15, "bought"); err != nil {
			t.Fatal(err)
		}
		for _, c := range []struct{ credits, taken, left int64 }{{5, 5, 10}, {12, 10, 0}, {3, 0, 0}} {
			taken, err := reverse(t.Context(), db, a.ID, c.credits, "refunded")
			if taken != c.taken || err != nil {
				t.Errorf("%d of %d taken, %v", taken, c.credits, err)
			}
			addsUp(t, db, a.ID, c.left)
		}
		entries, err := ledger.Entries(t.Context(), a.ID, "", 3)
		want := []account.Entry{
			{Kind: account.Reversal, Amount: 0, Note: "refunded: 3 of 3 credits had been spent"},
			{Kind: account.Reversal, Amount: -10, Note: "refunded: 2 of 12 credits had been spent"},
			{Kind: account.Reversal, Amount: -5, Note: "refunded"},
		}
		if diff := cmp.Diff(want, entries, cmpopts.IgnoreFields(account.Entry{}, "ID", "AccountID", "CreatedAt")); diff != "" || err != nil {
			t.Errorf("%v %s", err, diff)
		}
		if _, err := reverse(t.Context(), db, "acc_none", 1, ""); !errors.Is(err, account.ErrNotFound) {
			t.Errorf("no such account: %v", err)
		}
	})
}

// Nothing is taken twice if credits are spent while a grant is reversed.
func TestReverseConcurrent(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		a := register(t, db, "ann@example.com")
		if _, err := account.NewLedger(db).Grant(t.Context(), a.ID, 100, ""); err != nil {
			t.Fatal(err)
		}
		var gone atomic.Int64
		var g errgroup.Group
		for i := range 32 {
			g.Go(func() error {
				_, err := charge(t.Context(), db, a.ID, account.Item{JobID: fmt.Sprint("job_", i), Credits: 3})
				if poor := (*account.InsufficientError)(nil); errors.As(err, &poor) {
					return nil
				}
				gone.Add(3)
				return err
			})
			g.Go(func() error {
				taken, err := reverse(t.Context(), db, a.ID, 4, "refunded")
				gone.Add(taken)
				return err
			})
		}
		if err := g.Wait(); err != nil {
			t.Fatal(err)
		}
		if gone.Load() != 100 {
			t.Errorf("%d of 100 credits are gone", gone.Load())
		}
		addsUp(t, db, a.ID, 0)
	})
}

func TestPlanOf(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		a := register(t, db, "ann@example.com")
		for _, step := range []struct {
			change func(context.Context, *store.Tx, string, string) error
			plan   string
			want   string
		}{{account.SetPlan, "light", "light"}, {account.EndPlan, "heavy", "light"}, {account.EndPlan, "light", ""}} {
			err := db.Tx(t.Context(), func(tx *store.Tx) error { return step.change(t.Context(), tx, a.ID, step.plan) })
			got, found := account.New(db).Get(t.Context(), a.ID)
			if got.Plan != step.want || errors.Join(err, found) != nil {
				t.Errorf("plan %q, not %q: %v", got.Plan, step.want, errors.Join(err, found))
			}
		}
	})
}

func TestGrantRefuses(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		a := register(t, db, "ann@example.com")
		for _, n := range []int64{0, -1, 1 << 60} {
			_, err := account.NewLedger(db).Grant(t.Context(), a.ID, n, "")
			if f := (*account.FieldError)(nil); !errors.As(err, &f) {
				t.Errorf("%d: %v", n, err)
			}
		}
		if _, err := account.NewLedger(db).Grant(t.Context(), "acc_none", 1, ""); !errors.Is(err, account.ErrNotFound) {
			t.Errorf("no such account: %v", err)
		}
	})
}

// Verify finds faults that the ledger's own code cannot cause.
func TestVerify(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		a, b := register(t, db, "ann@example.com"), register(t, db, "bob@example.com")
		if _, err := account.NewLedger(db).Grant(t.Context(), a.ID, 7, ""); err != nil {
			t.Fatal(err)
		}
		if _, err := db.Exec("UPDATE accounts SET credits = credits + 1"); err != nil {
			t.Fatal(err)
		}
		wrong, err := account.NewLedger(db).Verify(t.Context())
		want := []account.Discrepancy{{AccountID: a.ID, Balance: 8, Sum: 7}, {AccountID: b.ID, Balance: 1, Sum: 0}}
		if diff := cmp.Diff(want, wrong); diff != "" || err != nil {
			t.Errorf("%v %s", err, diff)
		}
	})
}

// An account never pays more than it has, even with many payments at once.
func TestChargeConcurrent(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		a := register(t, db, "ann@example.com")
		if _, err := account.NewLedger(db).Grant(t.Context(), a.ID, 100, ""); err != nil {
			t.Fatal(err)
		}
		var paid atomic.Int64
		var g errgroup.Group
		for i := range 64 {
			g.Go(func() error {
				item := account.Item{JobID: fmt.Sprint("job_", i), Credits: 7}
				_, err := charge(t.Context(), db, a.ID, item)
				if poor := (*account.InsufficientError)(nil); errors.As(err, &poor) {
					return nil
				}
				if err != nil {
					return err
				}
				if paid.Add(1)%2 == 0 {
					paid.Add(-1)
					_, err = refund(t.Context(), db, a.ID, item)
				}
				return err
			})
		}
		if err := g.Wait(); err != nil {
			t.Fatal(err)
		}
		addsUp(t, db, a.ID, 100-7*paid.Load())
	})
}
