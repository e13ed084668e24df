package job_test

import (
	"context"
	"errors"
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

// awayFromParts does a clip in parts, and takes the database away while one of them is made, until the
// job's lease has been over for some leases. The first try of that part ends with an error, if there is one.
func awayFromParts(t *testing.T, leases int64, failure error) (x *fixture, s *splitter, id string) {
	t.Helper()
	const lease = 2 * time.Second
	database := storetest.Postgres(t)
	w := storetest.Wire(t, database)
	x = newFixture(t, storetest.Open(t, database), job.Config{})
	begun, goOn := make(chan struct{}), make(chan struct{})
	var tries atomic.Int32
	s = newSplitter(func(_ context.Context, step string, p job.Part) error {
		if step == "matte" && p.Start == time.Second && tries.Add(1) == 1 {
			close(begun)
			<-goOn
			return failure
		}
		return nil
	})
	x.work(&job.Worker{Service: x.behind(w, lease), Processor: s, SplitOver: time.Second})
	id = x.submit(x.owner, x.input("long", 3)).Jobs[0].ID
	<-begun
	w.Cut()
	close(goOn)
	x.until("SELECT lease_until < now_ms() - CAST($2 AS BIGINT) FROM jobs WHERE id = $1", id, leases*lease.Milliseconds())
	w.Mend()
	x.ended()
	x.checkJoined(id)
	return x, s, id
}

// A clip that is done in parts waits for a database that is away, too.
func TestDatabaseAwayFromParts(t *testing.T) {
	t.Parallel()
	x, s, id := awayFromParts(t, 5, nil)
	if n := s.mattes.Load(); n != 3 || x.get(id).Attempt != 1 {
		t.Errorf("%d mattes, attempt %d", n, x.get(id).Attempt)
	}
}

// A part that fails while the database is away is given back when it is there again.
func TestPartFailsWithoutDatabase(t *testing.T) {
	t.Parallel()
	x, _, id := awayFromParts(t, 1, errors.New("no such frame"))
	if n := x.get(id).Attempt; n != 1 {
		t.Errorf("attempt %d", n)
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
