package job_test

import (
	"context"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/johannesboyne/gofakes3"
	"github.com/johannesboyne/gofakes3/backend/s3mem"

	"github.com/bgremove/bgremove/internal/service/blob"
	"github.com/bgremove/bgremove/internal/service/job"
)

// joiner is a splitter that calls before as it joins parts.
type joiner struct {
	*splitter
	before func(ctx context.Context) error
}

func (s joiner) JoinParts(ctx context.Context, t job.Task, parts []job.RenderedPart) (job.Product, error) {
	if err := s.before(ctx); err != nil {
		return job.Product{}, err
	}
	return s.splitter.JoinParts(ctx, t, parts)
}

// An attempt that has lost its lease, and has not heard of it yet, leaves the parts to the next
// attempt.
func TestLostLeavesParts(t *testing.T) {
	t.Parallel()
	each(t, job.Config{Lease: time.Hour}, func(t *testing.T, x *fixture) { // no heartbeat comes
		waiting := func(begun, goOn chan struct{}) joiner {
			return joiner{newSplitter(nil), func(context.Context) error {
				close(begun)
				<-goOn
				return nil
			}}
		}
		begun, goOn := make(chan struct{}), make(chan struct{})
		release := sync.OnceFunc(func() { close(goOn) })
		id := x.submit(x.owner, x.input("long", 3)).Jobs[0].ID
		stop := x.work(&job.Worker{Processor: waiting(begun, goOn), SplitOver: time.Second})
		t.Cleanup(release) // before the worker is waited for
		<-begun
		x.expireAll()
		if n, err := x.Reap(t.Context()); n != 1 || err != nil {
			t.Fatalf("%d reaped, %v", n, err)
		}
		joining, join := make(chan struct{}), make(chan struct{})
		joinNow := sync.OnceFunc(func() { close(join) })
		x.work(&job.Worker{Processor: waiting(joining, join), SplitOver: time.Second})
		t.Cleanup(joinNow)
		<-joining
		release()
		stop()
		joinNow()
		x.ended()
		x.checkJoined(id)
		if j := x.get(id); j.Attempt != 2 {
			t.Errorf("attempt %d", j.Attempt)
		}
	})
}

// An attempt that has lost its lease may find more parts than it has opened: the next attempt
// has made them shorter.
func TestLostFindsOtherParts(t *testing.T) {
	t.Parallel()
	each(t, job.Config{Lease: time.Hour}, func(t *testing.T, x *fixture) {
		begun, goOn := make(chan struct{}), make(chan struct{})
		release := sync.OnceFunc(func() { close(goOn) })
		first := sync.OnceFunc(func() { close(begun); <-goOn })
		zombie := newSplitter(func(context.Context, string, job.Part) error { first(); return nil })
		id := x.submit(x.owner, x.input("long", 3)).Jobs[0].ID
		stop := x.work(&job.Worker{Processor: zombie, SplitOver: time.Second})
		t.Cleanup(release)
		<-begun
		x.exec("UPDATE jobs SET attempt = attempt + 1")
		x.exec("DELETE FROM job_parts")
		for n := range 5 {
			x.exec("INSERT INTO job_parts (job_id, step, n, task, state, attempt, lost) VALUES ($1, 'matte', $2, '{}', 'done', 0, 0)", id, n)
		}
		release()
		stop()
		if j := x.get(id); j.State != job.Processing || j.Attempt != 2 {
			t.Errorf("it is %s at attempt %d", j.State, j.Attempt)
		}
		x.expireAll()
		if _, err := x.Reap(t.Context()); err != nil {
			t.Fatal(err)
		}
		x.work(&job.Worker{Processor: newSplitter(nil), SplitOver: time.Second})
		x.ended()
		x.checkJoined(id)
	})
}

// A helper and the job's own worker may both show a preview: neither replaces the other's file.
func TestTwoPreviews(t *testing.T) {
	t.Parallel()
	each(t, job.Config{Lease: time.Hour}, func(t *testing.T, x *fixture) {
		begun, goOn := make(chan struct{}), make(chan struct{})
		release := sync.OnceFunc(func() { close(goOn) })
		first := sync.OnceFunc(func() { close(begun); <-goOn })
		slow := newSplitter(func(context.Context, string, job.Part) error { first(); return nil })
		id := x.submit(x.owner, x.input("long", 3)).Jobs[0].ID
		x.work(&job.Worker{Processor: slow, SplitOver: time.Second})
		t.Cleanup(release)
		<-begun
		x.exec("UPDATE job_parts SET lease_until = 0 WHERE state = 'running'") // of the first part
		x.work(&job.Worker{Processor: newSplitter(nil)})
		x.until("SELECT preview_key IS NOT NULL FROM jobs")
		helpers := x.get(id).Preview.Key
		release()
		x.ended()
		if own := x.get(id).Preview.Key; own == helpers || x.read(x.get(id).Preview) != "preview" {
			t.Errorf("both previews are %s", own)
		}
		x.checkJoined(id)
	})
}

// A helper may hear that the job has another attempt, as it shows a preview. Its part is free then.
func TestHelperOfLostAttempt(t *testing.T) {
	t.Parallel()
	each(t, job.Config{Lease: time.Hour}, func(t *testing.T, x *fixture) {
		wait := func() (before func(context.Context, string, job.Part) error, begun chan struct{}, release func()) {
			begun, goOn := make(chan struct{}), make(chan struct{})
			first := sync.OnceFunc(func() { close(begun); <-goOn })
			return func(context.Context, string, job.Part) error { first(); return nil }, begun, sync.OnceFunc(func() { close(goOn) })
		}
		own, begun, release := wait()
		id := x.submit(x.owner, x.input("long", 3)).Jobs[0].ID
		stop := x.work(&job.Worker{Processor: newSplitter(own), SplitOver: time.Second})
		t.Cleanup(release)
		<-begun
		x.exec("UPDATE job_parts SET lease_until = 0 WHERE state = 'running'") // of the first part
		helps, begun, releaseHelper := wait()
		x.work(&job.Worker{Processor: newSplitter(helps), SplitOver: time.Second})
		t.Cleanup(releaseHelper)
		<-begun
		x.exec("UPDATE jobs SET attempt = attempt + 1")
		releaseHelper()
		x.until("SELECT COUNT(*) = 3 FROM job_parts WHERE state = 'done'")
		release()
		stop()
		x.expireAll()
		if _, err := x.Reap(t.Context()); err != nil {
			t.Fatal(err)
		}
		x.ended()
		x.checkJoined(id)
	})
}

// A clip whose parts were done is done as a whole when their files are gone, as after a backup
// was restored.
func TestPartFileGone(t *testing.T) {
	t.Parallel()
	each(t, job.Config{}, func(t *testing.T, x *fixture) {
		joining := make(chan struct{})
		id := x.submit(x.owner, x.input("long", 3)).Jobs[0].ID
		stop := x.work(&job.Worker{Drain: time.Millisecond, SplitOver: time.Second, Processor: joiner{newSplitter(nil), func(ctx context.Context) error {
			close(joining)
			<-ctx.Done()
			return ctx.Err()
		}}})
		<-joining
		stop()
		for _, key := range x.objects() {
			if strings.HasPrefix(key, "parts/") {
				if err := x.blobs.Delete(t.Context(), key); err != nil {
					t.Fatal(err)
				}
			}
		}
		x.work(&job.Worker{Processor: newSplitter(nil), SplitOver: time.Second})
		x.ended()
		if j := x.get(id); j.State != job.Done {
			t.Fatalf("%+v", j)
		}
		if got := x.read(x.get(id).Output); got != "out of long" {
			t.Errorf("the clip is %q", got)
		}
		x.until("SELECT COUNT(*) = 0 FROM job_parts")
		x.consistent()
	})
}

// A clip whose parts find no space for temporary copies is done as a whole: it has a copy of its
// input, and must not wait for others that wait for it.
func TestNoSpaceForParts(t *testing.T) {
	t.Setenv("AWS_ACCESS_KEY_ID", "test")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "test")
	objects := s3mem.New()
	if err := objects.CreateBucket("objects"); err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(gofakes3.New(objects).Server())
	t.Cleanup(server.Close)
	each(t, job.Config{}, func(t *testing.T, x *fixture) {
		var err error
		x.blobs, err = blob.Open(t.Context(), "s3://objects?region=us-east-1&use_path_style=true&endpoint="+server.URL,
			blob.Options{TempDir: t.TempDir(), TempSpace: int64(len("long" + "m0s in {10 0 {3 3}}"))})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = x.blobs.Close() })
		x.Service = job.New(x.db, x.blobs, job.Config{})
		s := newSplitter(nil)
		x.work(&job.Worker{Processor: s, SplitOver: time.Second})
		id := x.submit(x.owner, x.input("long", 3)).Jobs[0].ID
		x.ended()
		j := x.get(id)
		if j.State != job.Done {
			t.Fatalf("%+v", j)
		}
		if got := x.read(j.Output); got != "out of long" || s.renders.Load() != 3 {
			t.Errorf("the clip is %q after %d parts", got, s.renders.Load())
		}
	})
}
