package job_test

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/bgremove/bgremove/internal/service/account"
	"github.com/bgremove/bgremove/internal/service/job"
)

func (x *fixture) sweep(want job.Swept) {
	x.t.Helper()
	got, err := x.Sweep(x.t.Context())
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		x.t.Errorf("%v %s", err, diff)
	}
}

// put stores an object that no job names.
func (x *fixture) put(key string) {
	x.t.Helper()
	u, err := x.blobs.Receive(x.t.Context(), key, bytes.NewReader(nil), 1)
	if err != nil {
		x.t.Fatal(err)
	}
	u.Release()
}

// Inputs and outputs are removed when their retention is over, and not earlier.
func TestExpire(t *testing.T) {
	t.Parallel()
	each(t, job.Config{}, func(t *testing.T, x *fixture) {
		id := x.submit(x.owner, x.input("a.gif", 1)).Jobs[0].ID
		stop := x.work(&job.Worker{Processor: processor(echo)})
		x.ended()
		stop()
		waiting := x.submit(x.owner, x.input("b.gif", 1)).Jobs[0].ID
		age := func(d time.Duration) { x.exec("UPDATE jobs SET ended_at = ended_at - $1", d.Milliseconds()) }
		age(23 * time.Hour)
		x.sweep(job.Swept{})
		age(2 * time.Hour)
		if j := x.get(id); j.Input != nil || j.Output == nil || len(x.objects()) != 4 {
			t.Errorf("expired and not swept: %+v %v", j, x.objects())
		}
		x.sweep(job.Swept{Inputs: 1})
		if j := x.get(id); j.Input != nil || j.Output == nil || j.Preview == nil || len(x.objects()) != 3 {
			t.Errorf("%+v %v", j, x.objects())
		}
		age(6 * 24 * time.Hour)
		if j := x.get(id); j.Output != nil || j.Preview != nil || len(x.objects()) != 3 {
			t.Errorf("expired and not swept: %+v %v", j, x.objects())
		}
		x.sweep(job.Swept{Outputs: 1})
		if j := x.get(id); j.State != job.Done || j.Output != nil || j.Preview != nil || j.OutputSize == 0 {
			t.Errorf("%+v", j)
		}
		if diff := cmp.Diff([]string{x.get(waiting).Input.Key}, x.objects()); diff != "" {
			t.Error(diff)
		}
		x.sweep(job.Swept{})
	})
}

// Objects that no job names are removed once they are old. Objects that a
// running job may still write or name stay.
func TestOrphans(t *testing.T) {
	t.Parallel()
	each(t, job.Config{KeepOrphans: time.Nanosecond}, func(t *testing.T, x *fixture) {
		done := x.submit(x.owner, x.input("a.gif", 1)).Jobs[0].ID
		stop := x.work(&job.Worker{Processor: processor(echo)})
		x.ended()
		stop()
		queued := x.submit(x.owner, x.input("b.gif", 1)).Jobs[0].ID
		x.put("jobs/" + queued + "/out-1.gif") // of an attempt that may still succeed
		keep := x.objects()
		for _, key := range []string{job.InputKey(), "jobs/" + done + "/out-2.gif", "jobs/" + done + "/preview-2.png", "jobs/none/out-1.gif"} {
			x.put(key)
		}
		x.sweep(job.Swept{Orphans: 4})
		if diff := cmp.Diff(keep, x.objects()); diff != "" {
			t.Error(diff)
		}
	})
}

func TestYoungOrphans(t *testing.T) {
	t.Parallel()
	each(t, job.Config{}, func(t *testing.T, x *fixture) {
		x.put(job.InputKey()) // an upload that is not submitted yet
		x.sweep(job.Swept{})
	})
}

// Answers are kept for a day; then the key is new again.
func TestSweepAnswers(t *testing.T) {
	t.Parallel()
	each(t, job.Config{}, func(t *testing.T, x *fixture) {
		sub := x.submission(x.owner, x.input("a.gif", 1))
		sub.Reservation = x.reserve(x.owner, "k")
		if _, err := x.Submit(t.Context(), sub); err != nil {
			t.Fatal(err)
		}
		x.sweep(job.Swept{})
		x.exec("UPDATE idempotency SET expires_at = expires_at - 86400001")
		other := x.submission(x.owner, x.input("b.gif", 1))
		other.Reservation = x.reserve(x.owner, "k")
		if got, err := other.Reservation.Answer(other); got != nil || errors.Is(err, job.ErrConflict) {
			t.Errorf("an expired answer: %+v %v", got, err)
		}
		other.Reservation.Close()
		x.exec("INSERT INTO idempotency (scope, name, token, fingerprint, answer, expires_at) VALUES ('a', 'b', '', '', '', 0)")
		x.sweep(job.Swept{Answers: 1})
	})
}

// A clock that may be wrong causes no removal.
func TestSweepWaitsForTheClock(t *testing.T) {
	t.Parallel()
	each(t, job.Config{KeepOrphans: time.Nanosecond}, func(t *testing.T, x *fixture) {
		x.put(job.InputKey())
		x.exec("INSERT INTO deployment (name, value) VALUES ('swept_at', $1)", strconv.FormatInt(time.Now().Add(-48*time.Hour).UnixMilli(), 10))
		if done, err := x.Sweep(t.Context()); err == nil || done != (job.Swept{}) || len(x.objects()) != 1 {
			t.Errorf("%+v %v", done, err)
		}
		x.exec("UPDATE deployment SET value = $1", strconv.FormatInt(time.Now().UnixMilli(), 10))
		y := &fixture{Service: job.New(x.db, x.blobs, job.Config{KeepOrphans: time.Nanosecond}), t: t, db: x.db, blobs: x.blobs}
		y.sweep(job.Swept{Orphans: 1})
	})
}

// Many objects that no job names count as a mistake, and stay until an operator
// decides. Objects of the last backup always stay.
func TestManyOrphans(t *testing.T) {
	t.Parallel()
	each(t, job.Config{KeepOrphans: time.Nanosecond}, func(t *testing.T, x *fixture) {
		refused := func(want job.OrphansError) {
			t.Helper()
			done, err := x.Sweep(t.Context())
			if got := (*job.OrphansError)(nil); !errors.As(err, &got) || *got != want || done != (job.Swept{}) {
				t.Errorf("%+v %v", done, err)
			}
		}
		x.submit(x.owner, x.input("a.gif", 1))
		saved := job.InputKey()
		x.put(saved)
		x.exec("INSERT INTO backup_objects (key) VALUES ($1)", saved)
		refused(job.OrphansError{Orphans: 1, Objects: 2, BackedUp: true})
		x.exec("DELETE FROM backup_objects")
		x.sweep(job.Swept{Orphans: 1})
		again := x.submit(x.owner, x.input("b.gif", 1)).Jobs[0].ID // it ran at the backup, and was tried again
		x.exec("UPDATE jobs SET state = 'failed', error = 'processing_failed', ended_at = now_ms() WHERE id = $1", again)
		x.exec("UPDATE queues SET queued = queued - 1")
		left := "jobs/" + again + "/preview-1.png"
		x.put(left)
		x.exec("INSERT INTO backup_objects (key) VALUES ($1)", left)
		x.sweep(job.Swept{Orphans: 1})
		x.exec("DELETE FROM backup_objects")
		for range 51 {
			x.put(job.InputKey())
		}
		refused(job.OrphansError{Orphans: 51, Objects: 53})
		if n := len(x.objects()); n != 53 {
			t.Errorf("%d objects are left", n)
		}
		if err := x.AllowOrphans(t.Context(), time.Hour); err != nil {
			t.Fatal(err)
		}
		x.sweep(job.Swept{Orphans: 51})
	})
}

// An object that cannot be removed does not stop the removal of others.
func TestUndeletable(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("a folder has no such rights there")
	}
	each(t, job.Config{}, func(t *testing.T, x *fixture) {
		for range 3 {
			x.submit(x.owner, x.input("a.gif", 1))
		}
		stop := x.work(&job.Worker{Processor: processor(echo)})
		x.ended()
		stop()
		var oldest string
		if err := x.db.QueryRow("SELECT id FROM jobs ORDER BY ended_at, id LIMIT 1").Scan(&oldest); err != nil {
			t.Fatal(err)
		}
		stubborn := x.get(oldest).Output.Key
		x.exec("UPDATE jobs SET ended_at = ended_at - $1", (30 * 24 * time.Hour).Milliseconds())
		blocked := filepath.Join(x.dir, filepath.FromSlash(stubborn))
		if err := errors.Join(os.Remove(blocked), os.MkdirAll(filepath.Join(blocked, "in the way"), 0o700)); err != nil {
			t.Fatal(err)
		}
		done, err := x.Sweep(t.Context())
		if want := (job.Swept{Inputs: 3, Outputs: 2}); done != want || err == nil {
			t.Errorf("%+v %v, want %+v and an error", done, err, want)
		}
		if err := os.RemoveAll(blocked); err != nil {
			t.Fatal(err)
		}
		x.sweep(job.Swept{Outputs: 1})
	})
}

// Rows are removed after their files, and batches with their last job. The
// ledger stays.
func TestOldJobs(t *testing.T) {
	t.Parallel()
	each(t, job.Config{}, func(t *testing.T, x *fixture) {
		x.submit(x.owner, x.input("a.gif", 1), x.input("b.gif", 1))
		id := x.submit(x.owner, x.input("c.gif", 1)).Jobs[0].ID
		stop := x.work(&job.Worker{Processor: processor(echo)})
		x.ended()
		stop()
		x.exec("UPDATE jobs SET ended_at = ended_at - $1 WHERE id <> $2", (91 * 24 * time.Hour).Milliseconds(), id)
		x.sweep(job.Swept{Inputs: 2, Outputs: 2, Jobs: 2})
		for table, want := range map[string]int{"jobs": 1, "batches": 0, "ledger": 4} {
			var n int
			if err := x.db.QueryRow("SELECT COUNT(*) FROM " + table).Scan(&n); err != nil || n != want {
				t.Errorf("%s: %d rows are left, want %d (%v)", table, n, want, err)
			}
		}
		if wrong, err := account.NewLedger(x.db).Verify(t.Context()); len(wrong) > 0 || err != nil {
			t.Error(wrong, err)
		}
	})
}
