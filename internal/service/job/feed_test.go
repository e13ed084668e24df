package job_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/bgremove/bgremove/internal/service/blob"
	"github.com/bgremove/bgremove/internal/service/job"
	"github.com/bgremove/bgremove/internal/service/store/storetest"
)

// feed runs a Feed until stop is called, or the test ends.
func (x *fixture) feed(s *job.Service) (f *job.Feed, stop func()) {
	x.t.Helper()
	f = job.NewFeed(s)
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() { f.Run(ctx) })
	stop = func() { cancel(); running.Wait() }
	x.t.Cleanup(stop)
	return f, stop
}

func (x *fixture) follow(f *job.Feed, owner job.Owner, after int64) *job.Follower {
	x.t.Helper()
	follower, err := f.Follow(context.Background(), owner.AccountID, after)
	if err != nil {
		x.t.Fatal(err)
	}
	x.t.Cleanup(follower.Close)
	return follower
}

// next returns the next event, within a minute.
func (x *fixture) next(f *job.Follower) *job.Event {
	x.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	e, err := f.Next(ctx)
	if err != nil {
		x.t.Fatalf("after event %d: %v", f.Last(), err)
	}
	return e
}

// ends returns the error that comes instead of an event.
func (x *fixture) ends(f *job.Follower, want error) {
	x.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	if e, err := f.Next(ctx); !errors.Is(err, want) {
		x.t.Errorf("after event %d: %+v %v, want %v", f.Last(), e, err, want)
	}
}

// said is a short form of an event.
func said(e *job.Event) string {
	text := fmt.Sprint(e.Seq, " ", e.Job.OriginalName, " ", e.Job.State)
	for what, so := range map[string]bool{
		" with preview": e.Job.Preview != nil && e.Job.State != job.Done,
		" with output":  e.Job.Output != nil || e.Job.Placement != nil || e.Job.Quality != nil,
		" ended":        !e.Job.EndedAt.IsZero() && e.Job.State == job.Failed,
	} {
		if so {
			text += what
		}
	}
	if e.Job.Error != "" {
		text += " " + string(e.Job.Error)
	}
	return text
}

// TestFeed follows jobs from submission to end, live and again from every event
// on.
func TestFeed(t *testing.T) {
	t.Parallel()
	each(t, job.Config{MaxRunning: 1}, func(t *testing.T, x *fixture) {
		f, _ := x.feed(x.Service)
		live, other := x.follow(f, x.owner, -1), x.follow(f, x.account("bob", 0), -1)
		broken := x.input("b.gif", 0)
		broken.Unreadable, broken.Media = true, job.Media{}
		x.submit(x.owner, x.input("a.gif", 1), broken, x.input("c.gif", 1))
		x.work(&job.Worker{Processor: processor(func(ctx context.Context, t job.Task) (job.Product, error) {
			if t.Job.OriginalName == "c.gif" {
				return job.Product{}, job.ErrUnreadable
			}
			p, err := echo(ctx, t)
			p.Placement, p.Quality = &job.Placement{}, &job.Quality{}
			return p, err
		})})
		want := []string{
			"1 a.gif queued", "2 b.gif failed ended unreadable_file", "3 c.gif queued",
			"4 a.gif processing", "5 a.gif processing with preview", "6 a.gif done with output",
			"7 c.gif processing", "8 c.gif failed ended unreadable_file",
		}
		var got []string
		for range want {
			got = append(got, said(x.next(live)))
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("as it happened (-want +got):\n%s", diff)
		}
		for after := range want {
			again := x.follow(f, x.owner, int64(after))
			var got []string
			for range want[after:] {
				got = append(got, said(x.next(again)))
			}
			if diff := cmp.Diff(want[after:], got); diff != "" || again.Last() != int64(len(want)) {
				t.Errorf("after %d (-want +got):\n%s", after, diff)
			}
			again.Close()
		}
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		defer cancel()
		if e, err := other.Next(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("another account hears %+v %v", e, err)
		}
	})
}

// TestFeedOfLost checks that returns to the queue are reported too.
func TestFeedOfLost(t *testing.T) {
	t.Parallel()
	each(t, job.Config{MaxAttempts: 2}, func(t *testing.T, x *fixture) {
		f, _ := x.feed(x.Service)
		live := x.follow(f, x.owner, 0)
		x.submit(x.owner, x.input("a.gif", 1))
		begun := make(chan struct{})
		hang := processor(func(ctx context.Context, _ job.Task) (job.Product, error) {
			begun <- struct{}{}
			<-ctx.Done()
			return job.Product{}, ctx.Err()
		})
		stop := x.work(&job.Worker{Processor: hang, Drain: time.Nanosecond})
		<-begun
		stop()
		for range 2 {
			stop := x.work(&job.Worker{Processor: hang, Drain: time.Nanosecond})
			<-begun
			x.exec("UPDATE jobs SET lease_until = 0")
			if _, err := x.Reap(t.Context()); err != nil {
				t.Fatal(err)
			}
			x.until("SELECT COUNT(*) = 0 FROM jobs WHERE state = 'processing'")
			stop()
		}
		want := []string{
			"1 a.gif queued", "2 a.gif processing", "3 a.gif queued", "4 a.gif processing", "5 a.gif queued", "6 a.gif processing",
			"7 a.gif failed ended processing_failed",
		}
		var got []string
		for range want {
			got = append(got, said(x.next(live)))
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
		x.consistent()
	})
}

// TestFeedOfOtherProcess checks that one process reports the events of another.
func TestFeedOfOtherProcess(t *testing.T) {
	t.Parallel()
	storetest.EachURL(t, func(t *testing.T, url string) {
		x := newFixture(t, storetest.Open(t, url), job.Config{})
		f, _ := x.feed(elsewhere(x, url))
		live := x.follow(f, x.owner, -1)
		x.submit(x.owner, x.input("a.gif", 1))
		if got := said(x.next(live)); got != "1 a.gif queued" {
			t.Errorf("heard %q", got)
		}
	})
}

// elsewhere is the service of another process on the same database.
func elsewhere(x *fixture, url string) *job.Service {
	x.t.Helper()
	db := storetest.Open(x.t, url)
	blobs, err := blob.Open(context.Background(), "file://"+x.t.TempDir(), blob.Options{})
	if err != nil {
		x.t.Fatal(err)
	}
	x.t.Cleanup(func() { _ = blobs.Close() })
	return job.New(db, blobs, job.Config{})
}

// TestFeedOfMany changes jobs of one account in many places at once. No number
// is missing, and each job's states come in order.
func TestFeedOfMany(t *testing.T) {
	t.Parallel()
	each(t, job.Config{Unlimited: true, MaxRunning: 8}, func(t *testing.T, x *fixture) {
		const jobs = 40
		f, _ := x.feed(x.Service)
		live := x.follow(f, x.owner, -1)
		x.work(&job.Worker{Processor: processor(echo), Slots: 8})
		var submitting sync.WaitGroup
		for i := range jobs {
			in := x.input(fmt.Sprint(i, ".gif"), 1)
			submitting.Go(func() {
				if _, err := x.Submit(context.Background(), x.submission(x.owner, in)); err != nil {
					t.Error(err)
				}
			})
		}
		states := map[string]string{}
		for n := int64(1); n <= 4*jobs; n++ {
			e := x.next(live)
			if e.Seq != n {
				t.Fatalf("event %d comes as number %d", e.Seq, n)
			}
			states[e.Job.ID] += fmt.Sprint(e.Job.State, " ")
		}
		submitting.Wait()
		for id, got := range states {
			if got != "queued processing processing done " {
				t.Errorf("%s was %s", id, got)
			}
		}
		if len(states) != jobs {
			t.Errorf("%d jobs were told of", len(states))
		}
	})
}

// TestFeedGap checks that followers learn when they have missed something.
func TestFeedGap(t *testing.T) {
	t.Parallel()
	each(t, job.Config{}, func(t *testing.T, x *fixture) {
		for range 3 {
			x.submit(x.owner, x.input("a.gif", 1))
		}
		x.exec("UPDATE job_events SET at = at - 3600001 WHERE seq < 3")
		x.sweep(job.Swept{Events: 2})
		f, _ := x.feed(x.Service)
		for _, after := range []int64{0, 1, 4, 1<<63 - 1} {
			follower := x.follow(f, x.owner, after)
			x.ends(follower, job.ErrGap)
			if follower.Last() != 3 {
				t.Errorf("after %d it goes on after %d", after, follower.Last())
			}
			follower.Close()
		}
		if got := said(x.next(x.follow(f, x.owner, 2))); got != "3 a.gif queued" {
			t.Errorf("heard %q", got)
		}
		stays := x.follow(f, x.owner, 9)
		x.ends(stays, job.ErrGap)
		x.submit(x.owner, x.input("b.gif", 1))
		if got := said(x.next(stays)); got != "4 b.gif queued" {
			t.Errorf("after the gap: %q", got)
		}
	})
}

// TestFeedBounds checks that slow followers, too many followers and, in the
// end, all followers are cut off.
func TestFeedBounds(t *testing.T) {
	t.Parallel()
	each(t, job.Config{Unlimited: true}, func(t *testing.T, x *fixture) {
		f, stop := x.feed(x.Service)
		slow, heard := x.follow(f, x.owner, -1), x.follow(f, x.owner, -1)
		for n := int64(0); n < 300; {
			var files []job.Input
			for range 20 {
				files = append(files, x.input("a.gif", 1))
			}
			x.submit(x.owner, files...)
			for range files {
				if n++; x.next(heard).Seq != n {
					t.Fatalf("event %d comes as number %d", heard.Last(), n)
				}
			}
		}
		for err := error(nil); err == nil; { // earlier events
			var e *job.Event
			if e, err = slow.Next(t.Context()); err != nil && (!errors.Is(err, job.ErrCutOff) || slow.Last() < 200 || slow.Last() >= 300) {
				t.Errorf("the slow one ends after %d: %+v %v", slow.Last(), e, err)
			}
		}
		for range job.MaxFollowers - 1 {
			x.follow(f, x.owner, -1)
		}
		if _, err := f.Follow(t.Context(), x.owner.AccountID, -1); !errors.Is(err, job.ErrTooManyFollowers) {
			t.Errorf("one too many: %v", err)
		}
		x.follow(f, x.account("bob", 0), -1).Close()
		heard.Close()
		last := x.follow(f, x.owner, -1)
		stop()
		x.ends(last, job.ErrCutOff)
		if _, err := f.Follow(t.Context(), x.owner.AccountID, -1); !errors.Is(err, job.ErrCutOff) {
			t.Errorf("after the end: %v", err)
		}
	})
}
