package job_test

import (
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/bgremove/bgremove/internal/service/job"
	"github.com/bgremove/bgremove/internal/service/price"
)

func (x *fixture) reserve(owner job.Owner, key string) *job.Reservation {
	x.t.Helper()
	r, err := x.Reserve(x.t.Context(), owner, key)
	if err != nil {
		x.t.Fatal(err)
	}
	x.t.Cleanup(r.Close)
	return r
}

func TestIdempotency(t *testing.T) {
	t.Parallel()
	each(t, job.Config{}, func(t *testing.T, x *fixture) {
		sub := x.submission(x.owner, x.input("a.gif", 10))
		sub.Reservation = x.reserve(x.owner, "k")
		if _, err := x.Reserve(t.Context(), x.owner, "k"); !errors.Is(err, job.ErrRunning) {
			t.Errorf("while the first is running: %v", err)
		}
		x.reserve(x.owner, "other").Close()
		x.reserve(x.account("bob", 0), "k").Close()
		first, err := x.Submit(t.Context(), sub)
		if err != nil {
			t.Fatal(err)
		}
		sub.Reservation.Close()

		again := x.submission(x.owner, x.input("a.gif", 10)) // the same content under another key of storage
		again.Reservation = x.reserve(x.owner, "k")
		second, err := x.Submit(t.Context(), again)
		first.Replayed = true
		if diff := cmp.Diff(first, second); diff != "" || err != nil {
			t.Errorf("again: %v %s", err, diff)
		}
		if x.credits(x.owner) != 100-cost(10) {
			t.Errorf("%d credits", x.credits(x.owner))
		}
		for name, other := range map[string]job.Submission{
			"file":    x.submission(x.owner, x.input("b.gif", 10)),
			"batch":   {Batch: true, Owner: x.owner, Options: job.DefaultOptions(), Files: again.Files},
			"options": {Owner: x.owner, Options: job.Options{}, Files: again.Files},
		} {
			other.Reservation = x.reserve(x.owner, "k")
			if _, err := x.Submit(t.Context(), other); !errors.Is(err, job.ErrConflict) {
				t.Errorf("another %s: %v", name, err)
			}
		}
		x.consistent()
	})
}

// A refusal is not stored, so the key can be used again.
func TestIdempotencyRefused(t *testing.T) {
	t.Parallel()
	each(t, job.Config{}, func(t *testing.T, x *fixture) {
		poor := x.submission(x.owner, x.input("a.gif", 101))
		poor.Reservation = x.reserve(x.owner, "k")
		if _, err := x.Submit(t.Context(), poor); err == nil {
			t.Fatal("it cost more than there was")
		}
		poor.Reservation.Close()
		sub := x.submission(x.owner, x.input("b.gif", 1))
		sub.Reservation = x.reserve(x.owner, "k")
		if r, err := x.Submit(t.Context(), sub); err != nil || r.Replayed {
			t.Errorf("%+v %v", r, err)
		}
	})
}

// A reservation lasts as long as its request, and ends soon after its process.
func TestReservationLease(t *testing.T) {
	t.Parallel()
	each(t, job.Config{Lease: 2 * time.Second}, func(t *testing.T, x *fixture) {
		held := x.reserve(x.owner, "k")
		var until int64
		if err := x.db.QueryRow("SELECT expires_at FROM idempotency").Scan(&until); err != nil {
			t.Fatal(err)
		}
		x.until("SELECT expires_at > $1 FROM idempotency", until+100)
		if _, err := x.Reserve(t.Context(), x.owner, "k"); !errors.Is(err, job.ErrRunning) {
			t.Errorf("it was renewed, but %v", err)
		}
		// This is the state after a killed process: nobody renews.
		x.exec("UPDATE idempotency SET expires_at = 0, token = 'dead'")
		sub := x.submission(x.owner, x.input("a.gif", 1))
		sub.Reservation = held
		if _, err := x.Submit(t.Context(), sub); !errors.Is(err, job.ErrRunning) {
			t.Errorf("by a lost reservation: %v", err)
		}
		sub.Reservation = x.reserve(x.owner, "k")
		if _, err := x.Submit(t.Context(), sub); err != nil {
			t.Error(err)
		}
		if x.credits(x.owner) != 100-price.Least {
			t.Errorf("%d credits", x.credits(x.owner))
		}
	})
}
