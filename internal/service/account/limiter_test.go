package account_test

import (
	"math"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sync/errgroup"

	"github.com/bgremove/bgremove/internal/service/account"
	"github.com/bgremove/bgremove/internal/service/store"
	"github.com/bgremove/bgremove/internal/service/store/storetest"
)

// Of many requests at once exactly the burst passes, over all limiters of a
// PostgreSQL.
func TestBurst(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		limiters := []*account.Limiter{account.NewLimiter(db), account.NewLimiter(db)}
		if !db.Shared() {
			limiters[1] = limiters[0]
		}
		rate := account.Rate{PerMinute: 1, Burst: 10}
		var passed atomic.Int32
		var g errgroup.Group
		for i := range 16 {
			g.Go(func() error {
				for range 5 {
					d, err := limiters[i%2].Take(t.Context(), "key:1", rate)
					if err != nil {
						return err
					}
					if d.Allowed {
						passed.Add(1)
					}
				}
				return nil
			})
		}
		if err := g.Wait(); err != nil {
			t.Fatal(err)
		}
		if n := passed.Load(); n != 10 {
			t.Errorf("%d of a burst of 10 passed", n)
		}
		d, err := limiters[0].Take(t.Context(), "key:1", rate)
		if err != nil || d.Allowed || d.Remaining != 0 || d.RetryAfter <= 50*time.Second || d.RetryAfter > time.Minute ||
			d.Reset <= 9*time.Minute || d.Reset > 10*time.Minute {
			t.Errorf("%+v %v", d, err)
		}
		if d, err := limiters[1].Take(t.Context(), "key:2", rate); err != nil || !d.Allowed || d.Remaining != 9 {
			t.Errorf("another's bucket: %+v %v", d, err)
		}
		if n, err := limiters[0].Sweep(t.Context()); n != 0 || err != nil {
			t.Errorf("%d buckets in use were swept, %v", n, err)
		}
	})
}

// The answers over time, in a bubble with its own clock.
func TestDecisions(t *testing.T) {
	t.Parallel()
	db := storetest.Open(t, storetest.SQLite(t))
	synctest.Test(t, func(t *testing.T) {
		limiter := account.NewLimiter(db)
		rate := account.Rate{PerMinute: 60, Burst: 2}
		take := func(want account.Decision) {
			t.Helper()
			want.Limit = 60
			got, err := limiter.Take(t.Context(), "k", rate)
			if diff := cmp.Diff(want, got); diff != "" || err != nil {
				t.Errorf("%v %s", err, diff)
			}
		}
		take(account.Decision{Allowed: true, Remaining: 1, Reset: time.Second})
		take(account.Decision{Allowed: true, Remaining: 0, Reset: 2 * time.Second})
		take(account.Decision{Remaining: 0, Reset: 2 * time.Second, RetryAfter: time.Second})
		time.Sleep(400 * time.Millisecond)
		take(account.Decision{Remaining: 0, Reset: 1600 * time.Millisecond, RetryAfter: 600 * time.Millisecond})
		time.Sleep(600 * time.Millisecond)
		take(account.Decision{Allowed: true, Remaining: 0, Reset: 2 * time.Second})
		time.Sleep(2 * time.Second)
		if n, err := limiter.Sweep(t.Context()); n != 1 || err != nil {
			t.Errorf("%d full buckets swept, %v", n, err)
		}
		take(account.Decision{Allowed: true, Remaining: 1, Reset: time.Second})
	})
}

func TestSweepShared(t *testing.T) {
	t.Parallel()
	db := storetest.Open(t, storetest.Postgres(t))
	limiter := account.NewLimiter(db)
	if _, err := limiter.Take(t.Context(), "k", account.Rate{PerMinute: 1, Burst: 1}); err != nil {
		t.Fatal(err)
	}
	if _, err := db.Exec("UPDATE rates SET tat = now_ms() * 1000"); err != nil {
		t.Fatal(err)
	}
	if n, err := limiter.Sweep(t.Context()); n != 1 || err != nil {
		t.Errorf("%d full buckets swept, %v", n, err)
	}
}

func BenchmarkTake(b *testing.B) {
	for name, url := range map[string]func(testing.TB) string{"sqlite": storetest.SQLite, "postgres": storetest.Postgres} {
		b.Run(name, func(b *testing.B) {
			limiter := account.NewLimiter(storetest.Open(b, url(b)))
			b.ReportAllocs()
			for b.Loop() {
				if _, err := limiter.Take(b.Context(), "k", account.Rate{PerMinute: 60_000_000, Burst: 1000}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// TestHugeBurst checks that a burst that means none lets requests pass.
func TestHugeBurst(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		limiter, rate := account.NewLimiter(db), account.Rate{PerMinute: 1, Burst: math.MaxInt}
		for range 2 {
			if d, err := limiter.Take(t.Context(), "key:1", rate); err != nil || !d.Allowed || d.Remaining < 1e6 || d.Reset <= 0 {
				t.Errorf("%+v %v", d, err)
			}
		}
	})
}
