package job_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/bgremove/bgremove/internal/service/job"
	"github.com/bgremove/bgremove/internal/service/store"
	"github.com/bgremove/bgremove/internal/service/store/storetest"
)

// splitter is a Splitter whose files are texts. before is called before each step of a part, and
// may be nil.
type splitter struct {
	processor
	before  func(ctx context.Context, step string, p job.Part) error
	mattes  atomic.Int64
	renders atomic.Int64
}

func newSplitter(before func(ctx context.Context, step string, p job.Part) error) *splitter {
	return &splitter{processor: processor(echo), before: before}
}

func (s *splitter) call(ctx context.Context, step string, p job.Part) error {
	if s.before == nil {
		return nil
	}
	return s.before(ctx, step, p)
}

func (s *splitter) Split(_ context.Context, t job.Task, length time.Duration) (parts []job.Part, err error) {
	for at := time.Duration(0); at < t.Job.Media.Duration; at += length {
		parts = append(parts, job.Part{Start: at, End: at + length})
	}
	return parts, nil
}

func (s *splitter) MattePart(ctx context.Context, t job.Task, p job.Part, file string) (job.Box, error) {
	s.mattes.Add(1)
	if err := s.call(ctx, "matte", p); err != nil {
		return job.Box{}, err
	}
	if p.Start == 0 {
		preview := filepath.Join(t.Dir, "p.png")
		if err := os.WriteFile(preview, []byte("preview"), 0o600); err != nil {
			return job.Box{}, err
		}
		t.Preview(preview)
	}
	box := job.Box{X: 10, Y: int(p.Start.Seconds()), Size: job.Size{Width: 3, Height: 1}}
	if p.Start == time.Second {
		box = job.Box{} // nothing is there
	}
	return box, os.WriteFile(file, fmt.Appendf(nil, "m%v", p.Start), 0o600)
}

func (s *splitter) RenderPart(ctx context.Context, _ job.Task, p job.Part, mattes, file string, box job.Box) (json.RawMessage, error) {
	s.renders.Add(1)
	if err := s.call(ctx, "render", p); err != nil {
		return nil, err
	}
	in, err := os.ReadFile(mattes)
	if err != nil {
		return nil, err
	}
	return json.RawMessage(fmt.Sprintf(`"%v"`, p.End)), os.WriteFile(file, fmt.Appendf(nil, "%s in %v", in, box), 0o600)
}

func (s *splitter) JoinParts(_ context.Context, t job.Task, parts []job.RenderedPart) (job.Product, error) {
	var all []string
	for _, p := range parts {
		text, err := os.ReadFile(p.Path)
		if err != nil {
			return job.Product{}, err
		}
		all = append(all, string(text)+" to "+string(p.Report))
	}
	out := filepath.Join(t.Dir, "out")
	return job.Product{Path: out}, os.WriteFile(out, []byte(strings.Join(all, "\n")), 0o600)
}

// inThree is the output of a clip of three seconds in parts of one.
const inThree = `m0s in {10 0 {3 3}} to "1s"
m1s in {10 0 {3 3}} to "2s"
m2s in {10 0 {3 3}} to "3s"`

// checkJoined wants a job that was done in three parts, with nothing of them left.
func (x *fixture) checkJoined(id string) {
	x.t.Helper()
	j := x.get(id)
	if j.State != job.Done || j.Preview == nil {
		x.t.Fatalf("%+v", j)
	}
	if diff := cmp.Diff(inThree, x.read(j.Output)); diff != "" {
		x.t.Error(diff)
	}
	if _, err := x.Sweep(x.t.Context()); err != nil { // of what came too late
		x.t.Error(err)
	}
	x.until("SELECT COUNT(*) = 0 FROM job_parts")
	for _, key := range x.objects() {
		if strings.HasPrefix(key, "parts/") {
			x.t.Errorf("%s is left", key)
		}
	}
	x.consistent()
}

// A long clip is done in parts: by its worker alone, and with the help of others. A
// short one is not.
func TestSplit(t *testing.T) {
	t.Parallel()
	each(t, job.Config{}, func(t *testing.T, x *fixture) {
		s := newSplitter(nil)
		x.work(&job.Worker{Processor: s, SplitOver: time.Second})
		long, short := x.submit(x.owner, x.input("long", 3)).Jobs[0].ID, x.submit(x.owner, x.input("short", 1)).Jobs[0].ID
		x.ended()
		x.checkJoined(long)
		if got := x.read(x.get(short).Output); got != "out of short" {
			t.Errorf("the short clip is %q", got)
		}
		if s.mattes.Load() != 3 || s.renders.Load() != 3 {
			t.Errorf("%d mattes, %d renders", s.mattes.Load(), s.renders.Load())
		}
	})
}

// Three workers do three parts at once, and a waiting job comes before parts.
func TestHelp(t *testing.T) {
	t.Parallel()
	each(t, job.Config{}, func(t *testing.T, x *fixture) {
		var together sync.WaitGroup
		together.Add(3)
		s := newSplitter(func(_ context.Context, step string, _ job.Part) error {
			if step == "matte" {
				together.Done()
				together.Wait()
			}
			return nil
		})
		long := x.submit(x.owner, x.input("long", 3)).Jobs[0].ID
		x.work(&job.Worker{Processor: s, SplitOver: time.Second})
		x.until("SELECT COUNT(*) = 3 FROM job_parts")
		short := x.submit(x.owner, x.input("short", 1)).Jobs[0].ID
		x.work(&job.Worker{Processor: s})
		x.until("SELECT state = 'done' FROM jobs WHERE id = $1", short) // or it would wait for a third part
		x.work(&job.Worker{Processor: s})
		x.ended()
		x.checkJoined(long)
	})
}

// A helper that does not respond loses its part to another worker. Its result comes too late.
func TestHelperLost(t *testing.T) {
	t.Parallel()
	each(t, job.Config{}, func(t *testing.T, x *fixture) {
		begun, took, goOn := make(chan job.Part, 1), make(chan struct{}), make(chan struct{})
		release := sync.OnceFunc(func() { close(goOn) })
		zombie := newSplitter(func(_ context.Context, _ string, p job.Part) error {
			begun <- p
			<-goOn // does not notice the end of ctx
			return nil
		})
		s := newSplitter(func(context.Context, string, job.Part) error {
			<-took
			return nil
		})
		id := x.submit(x.owner, x.input("long", 3)).Jobs[0].ID
		x.work(&job.Worker{Processor: s, SplitOver: time.Second})
		x.until("SELECT COUNT(*) = 3 FROM job_parts")
		stop := x.work(&job.Worker{Processor: zombie})
		t.Cleanup(release) // before the worker is waited for
		p := <-begun
		close(took)
		x.exec("UPDATE job_parts SET attempt = attempt + 10, lease_until = 0 WHERE state = 'running' AND n = $1", int(p.Start/time.Second))
		x.ended()
		release()
		stop()
		x.checkJoined(id)
	})
}

// A helper keeps its claim of a part also while it fetches the input.
func TestHelperFetches(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		var fetches atomic.Int64
		fetching, goOn := make(chan struct{}), make(chan struct{})
		o := &afterStage{stage: "fetch", do: func() {
			if fetches.Add(1) == 2 { // the helper, after the job's worker
				close(fetching)
				<-goOn
			}
		}}
		x := newFixture(t, db, job.Config{Lease: 2 * time.Second, Observer: o})
		first := make(chan job.Part, 1)
		busy := newSplitter(func(_ context.Context, step string, p job.Part) error {
			if step == "matte" {
				first <- p
				<-goOn
			}
			return nil
		})
		id := x.submit(x.owner, x.input("long", 2)).Jobs[0].ID
		x.work(&job.Worker{Processor: busy, SplitOver: time.Second})
		n := 1 - int((<-first).Start/time.Second) // the other part
		x.work(&job.Worker{Processor: newSplitter(nil)})
		<-fetching
		const part = " FROM job_parts WHERE step = 'matte' AND n = $1"
		var attempt, until int64
		if err := x.db.QueryRow("SELECT attempt, lease_until"+part, n).Scan(&attempt, &until); err != nil {
			t.Fatal(err)
		}
		x.until("SELECT lease_until > $2 AND attempt = $3"+part, n, until, attempt)
		close(goOn)
		x.ended()
		if j := x.get(id); j.State != job.Done {
			t.Errorf("%+v", j)
		}
	})
}

// The result of a part that was replaced meanwhile comes too late, also if the new part of its
// place was claimed as often.
func TestPartReplaced(t *testing.T) {
	t.Parallel()
	each(t, job.Config{}, func(t *testing.T, x *fixture) {
		begun, goOn, again := make(chan job.Part, 3), make(chan struct{}), make(chan struct{})
		release := sync.OnceFunc(func() { close(goOn) })
		zombie := newSplitter(func(context.Context, string, job.Part) error {
			begun <- job.Part{}
			<-goOn // does not notice the end of ctx
			return nil
		})
		stuck := newSplitter(func(ctx context.Context, _ string, _ job.Part) error {
			<-ctx.Done()
			return ctx.Err()
		})
		id := x.submit(x.owner, x.input("long", 4)).Jobs[0].ID
		stop := x.work(&job.Worker{Processor: stuck, SplitOver: time.Second, Drain: time.Millisecond})
		x.until("SELECT COUNT(*) = 1 FROM job_parts WHERE state = 'running'")
		stopZombie := x.work(&job.Worker{Processor: zombie})
		t.Cleanup(release)
		<-begun
		stop() // and the job goes back to the queue
		s := newSplitter(func(context.Context, string, job.Part) error {
			<-again
			return nil
		})
		x.work(&job.Worker{Processor: s, SplitOver: 2 * time.Second})
		x.until("SELECT COUNT(*) = 2 FROM job_parts")
		x.exec("UPDATE job_parts SET attempt = attempt + 1, state = 'running', lease_until = $1 WHERE state = 'waiting'", time.Now().Add(time.Hour).UnixMilli())
		release() // the zombie ends its second of the clip, whose place has two now
		stopZombie()
		x.until("SELECT COUNT(*) = 0 FROM job_parts WHERE state = 'done'")
		x.exec("UPDATE job_parts SET lease_until = 0 WHERE lease_until > now_ms() + 1000000")
		close(again)
		x.ended()
		if got := x.read(x.get(id).Output); strings.Count(got, "m") != 2 {
			t.Errorf("the clip is %q", got)
		}
	})
}

// A part that cannot be done by itself, however often it is tried, is no reason to fail.
func TestPartFails(t *testing.T) {
	t.Parallel()
	each(t, job.Config{MaxAttempts: 2}, func(t *testing.T, x *fixture) {
		s := newSplitter(func(_ context.Context, step string, p job.Part) error {
			if step == "render" && p.Start == time.Second {
				return errors.New("no such frame")
			}
			return nil
		})
		id := x.submit(x.owner, x.input("long", 3)).Jobs[0].ID
		x.work(&job.Worker{Processor: s, SplitOver: time.Second})
		x.ended()
		if got := x.read(x.get(id).Output); got != "out of long" {
			t.Errorf("the clip is %q", got)
		}
		if s.renders.Load() < 3 {
			t.Errorf("%d renders", s.renders.Load())
		}
		x.until("SELECT COUNT(*) = 0 FROM job_parts")
		x.consistent()
	})
}

// The next attempt at a job goes on with the parts that are done.
func TestSplitGoesOn(t *testing.T) {
	t.Parallel()
	each(t, job.Config{}, func(t *testing.T, x *fixture) {
		stuck := make(chan struct{})
		first := newSplitter(func(ctx context.Context, _ string, p job.Part) error {
			if p.Start == 2*time.Second {
				close(stuck)
				<-ctx.Done()
			}
			return ctx.Err()
		})
		id := x.submit(x.owner, x.input("long", 3)).Jobs[0].ID
		stop := x.work(&job.Worker{Processor: first, SplitOver: time.Second, Drain: time.Millisecond})
		<-stuck
		stop()
		if j := x.get(id); j.State != job.Queued {
			t.Fatalf("it is %s", j.State)
		}
		second := newSplitter(nil)
		x.work(&job.Worker{Processor: second, SplitOver: time.Second})
		x.ended()
		x.checkJoined(id)
		if second.mattes.Load() != 1 {
			t.Errorf("%d mattes were made again, want the third", second.mattes.Load())
		}
	})
}

// When a job is cancelled all workers leave its parts, and a sweep removes them.
func TestCancelParts(t *testing.T) {
	t.Parallel()
	each(t, job.Config{}, func(t *testing.T, x *fixture) {
		var at, left atomic.Int64
		s := newSplitter(func(ctx context.Context, _ string, p job.Part) error {
			if p.Start == 0 {
				return nil
			}
			at.Add(1)
			<-ctx.Done()
			left.Add(1)
			return ctx.Err()
		})
		id := x.submit(x.owner, x.input("long", 3)).Jobs[0].ID
		for range 2 {
			x.work(&job.Worker{Processor: s, SplitOver: time.Second})
		}
		x.eventually("both are at work", func() bool { return at.Load() == 2 })
		if j := x.remove(id); j.State != job.Cancelled {
			t.Errorf("it is %s", j.State)
		}
		x.eventually("both have left", func() bool { return left.Load() == 2 })
		if x.credits(x.owner) != 100 {
			t.Errorf("%d credits", x.credits(x.owner))
		}
		x.eventually("nothing is left", func() bool {
			if _, err := x.Sweep(t.Context()); err != nil {
				t.Fatal(err)
			}
			return !strings.Contains(strings.Join(x.objects(), " "), "parts/")
		})
		x.until("SELECT COUNT(*) = 0 FROM job_parts")
		x.consistent()
	})
}
