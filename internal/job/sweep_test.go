package job_test

import (
	"bytes"
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/bgremove/bgremove/internal/job"
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

// Inputs and outputs go when their time is over, and not before.
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

// Objects that no job names go once they are old; what a running job may still
// write or name stays.
func TestOrphans(t *testing.T) {
	t.Parallel()
	each(t, job.Config{KeepOrphans: time.Nanosecond}, func(t *testing.T, x *fixture) {
		done := x.submit(x.owner, x.input("a.gif", 1)).Jobs[0].ID
		stop := x.work(&job.Worker{Processor: processor(echo)})
		x.ended()
		stop()
		queued := x.submit(x.owner, x.input("b.gif", 1)).Jobs[0].ID
		x.put("jobs/" + queued + "/out-1.gif") // of a try that may still win
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
		x.put(job.InputKey()) // an upload whose submission is on its way
		x.sweep(job.Swept{})
	})
}

// Answers are kept for a day; then the key is a new one.
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
