package job_test

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"github.com/bgremove/bgremove/internal/service/blob"
	"github.com/bgremove/bgremove/internal/service/job"
	"github.com/bgremove/bgremove/internal/service/store"
	"github.com/bgremove/bgremove/internal/service/store/storetest"
	"github.com/bgremove/bgremove/internal/service/store/storetest/wire"
)

// behind is a service that reaches the database through a wire.
func (x *fixture) behind(w *wire.Wire, lease time.Duration) *job.Service {
	x.t.Helper()
	db, err := store.OpenWith(context.Background(), w.URL, store.Options{Patience: lease})
	if err != nil {
		x.t.Fatal(err)
	}
	x.t.Cleanup(func() { _ = db.Close() })
	blobs, err := blob.Open(context.Background(), "file://"+x.dir, blob.Options{})
	if err != nil {
		x.t.Fatal(err)
	}
	x.t.Cleanup(func() { _ = blobs.Close() })
	return job.New(db, blobs, job.Config{Lease: lease})
}

// A clip that is done in parts waits for a database that is away, too.
func TestDatabaseAwayFromParts(t *testing.T) {
	t.Parallel()
	const lease = 2 * time.Second
	database := storetest.Postgres(t)
	w := storetest.Wire(t, database)
	direct := newFixture(t, storetest.Open(t, database), job.Config{})
	begun, goOn := make(chan struct{}), make(chan struct{})
	s := newSplitter(func(_ context.Context, step string, p job.Part) error {
		if step == "matte" && p.Start == time.Second {
			close(begun)
			<-goOn
		}
		return nil
	})
	direct.work(&job.Worker{Service: direct.behind(w, lease), Processor: s, SplitOver: time.Second})
	id := direct.submit(direct.owner, direct.input("long", 3)).Jobs[0].ID
	<-begun
	w.Cut()
	close(goOn)
	direct.until("SELECT lease_until < now_ms() - CAST($2 AS BIGINT) FROM jobs WHERE id = $1", id, 5*lease.Milliseconds())
	w.Mend()
	direct.ended()
	direct.checkJoined(id)
	if n := s.mattes.Load(); n != 3 || direct.get(id).Attempt != 1 {
		t.Errorf("%d mattes, attempt %d", n, direct.get(id).Attempt)
	}
}

// TestDatabaseAway checks that a job counts once if it finishes while
// PostgreSQL is away for many leases, in whatever way it is away.
func TestDatabaseAway(t *testing.T) {
	t.Parallel()
	const lease = 2 * time.Second
	for name, away := range map[string]func(*wire.Wire){"cut": (*wire.Wire).Cut, "stalled": (*wire.Wire).Stall} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			database := storetest.Postgres(t)
			w := storetest.Wire(t, database)
			direct := newFixture(t, storetest.Open(t, database), job.Config{})
			var tries atomic.Int32
			begun, goOn := make(chan struct{}, 10), make(chan struct{})
			process := processor(func(ctx context.Context, task job.Task) (job.Product, error) {
				tries.Add(1)
				begun <- struct{}{}
				<-goOn
				return echo(ctx, task)
			})
			for range 2 {
				direct.work(&job.Worker{Service: direct.behind(w, lease), Processor: process})
			}
			id := direct.submit(direct.owner, direct.input("a.gif", 1)).Jobs[0].ID
			<-begun
			away(w)
			close(goOn) // it finishes during the outage
			direct.until("SELECT lease_until < now_ms() - CAST($2 AS BIGINT) FROM jobs WHERE id = $1", id, 5*lease.Milliseconds())
			w.Mend()
			direct.ended()
			if j := direct.get(id); j.State != job.Done || j.Attempt != 1 || tries.Load() != 1 {
				t.Errorf("%+v after %d tries", j, tries.Load())
			}
			direct.consistent()
			// The queue continues too.
			next := direct.submit(direct.owner, direct.input("b.gif", 1)).Jobs[0].ID
			direct.ended()
			if j := direct.get(next); j.State != job.Done {
				t.Errorf("%+v", j)
			}
		})
	}
}
