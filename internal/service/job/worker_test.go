package job_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/bgremove/bgremove/internal/service/account"
	"github.com/bgremove/bgremove/internal/service/job"
)

func TestWorker(t *testing.T) {
	t.Parallel()
	each(t, job.Config{}, func(t *testing.T, x *fixture) {
		id := x.submit(x.owner, x.input("a.gif", 5)).Jobs[0].ID
		stop := x.work(&job.Worker{Processor: processor(echo)})
		x.ended()
		stop()
		j := x.get(id)
		if j.State != job.Done || j.Error != "" || j.Output == nil || j.Preview == nil || j.OutputSize != int64(len("out of a.gif")) ||
			j.StartedAt.Before(j.CreatedAt) || j.EndedAt.Before(j.StartedAt) {
			t.Fatalf("%+v", j)
		}
		if x.read(j.Output) != "out of a.gif" || x.read(j.Preview) != "preview" {
			t.Errorf("%q %q", x.read(j.Output), x.read(j.Preview))
		}
		want := []string{j.Input.Key, "jobs/" + id + "/out-1.gif", "jobs/" + id + "/preview-1.png"}
		if diff := cmp.Diff(want, x.objects()); diff != "" {
			t.Error(diff)
		}
		if x.credits(x.owner) != 100-cost(5) {
			t.Errorf("%d credits", x.credits(x.owner))
		}
		x.consistent()
	})
}

func (x *fixture) read(f *job.File) string {
	x.t.Helper()
	r, err := x.blobs.Open(x.t.Context(), f.Key, 0, -1)
	if err != nil {
		x.t.Fatal(err)
	}
	defer r.Close()
	b, err := io.ReadAll(r)
	if err != nil || int64(len(b)) != f.Size {
		x.t.Errorf("%s: %d bytes, not %d: %v", f.Key, len(b), f.Size, err)
	}
	return string(b)
}

// The preview is available while the job still runs.
func TestPreviewEarly(t *testing.T) {
	t.Parallel()
	each(t, job.Config{}, func(t *testing.T, x *fixture) {
		id := x.submit(x.owner, x.input("a.gif", 5)).Jobs[0].ID
		seen := make(chan struct{})
		x.work(&job.Worker{Processor: processor(func(ctx context.Context, task job.Task) (job.Product, error) {
			p, err := echo(ctx, task)
			<-seen
			return p, err
		})})
		x.until("SELECT preview_key IS NOT NULL FROM jobs")
		if j := x.get(id); j.State != job.Processing || x.read(j.Preview) != "preview" || j.Output != nil {
			t.Errorf("%+v", j)
		}
		close(seen)
		x.ended()
	})
}

func TestFailures(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		process processor
		want    job.Code
	}{
		"unreadable": {func(context.Context, job.Task) (job.Product, error) {
			return job.Product{}, fmt.Errorf("x: %w", job.ErrUnreadable)
		}, job.UnreadableFile},
		"failed": {func(context.Context, job.Task) (job.Product, error) { return job.Product{}, errors.New("x") }, job.ProcessingFailed},
		"nothing made": {func(_ context.Context, t job.Task) (job.Product, error) {
			return job.Product{Path: filepath.Join(t.Dir, "none")}, nil
		}, job.ProcessingFailed},
		"timed out": {func(ctx context.Context, _ job.Task) (job.Product, error) {
			<-ctx.Done()
			return job.Product{}, ctx.Err()
		}, job.TimedOut},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			each(t, job.Config{TimeLimit: time.Millisecond}, func(t *testing.T, x *fixture) {
				in := x.input("a.gif", 5)
				in.Media.Duration = 10 * time.Millisecond // but it runs for 200 ms
				id := x.submit(x.owner, in).Jobs[0].ID
				x.work(&job.Worker{Processor: c.process})
				x.ended()
				if j := x.get(id); j.State != job.Failed || j.Error != c.want || j.Output != nil || j.EndedAt.IsZero() {
					t.Errorf("%+v", j)
				}
				if x.credits(x.owner) != 100 {
					t.Errorf("%d credits", x.credits(x.owner))
				}
				x.consistent()
			})
		})
	}
}

// A job whose input is missing, or was forgotten as by a restored backup, is not tried again.
func TestInputGone(t *testing.T) {
	t.Parallel()
	each(t, job.Config{}, func(t *testing.T, x *fixture) {
		missing, forgotten := x.input("a.gif", 5), x.input("b.gif", 5)
		jobs := x.submit(x.owner, missing, forgotten).Jobs
		if err := errors.Join(x.blobs.Delete(t.Context(), missing.Key), x.Forget(t.Context(), []string{forgotten.Key})); err != nil {
			t.Fatal(err)
		}
		x.work(&job.Worker{Processor: processor(echo)})
		x.ended()
		for _, j := range jobs {
			if j := x.get(j.ID); j.Error != job.ProcessingFailed {
				t.Errorf("%+v", j)
			}
		}
		if n := x.credits(x.owner); n != 100 {
			t.Errorf("%d credits are left", n)
		}
	})
}

// Two accounts take turns by their payments, whatever the length of their
// queues.
func TestFair(t *testing.T) {
	t.Parallel()
	each(t, job.Config{MaxRunning: 100}, func(t *testing.T, x *fixture) {
		bob, cid := x.account("bob", 100), x.account("cid", 100)
		for range 12 {
			x.submit(x.owner, x.input("a", 3))
		}
		for range 3 {
			x.submit(bob, x.input("b", 3))
		}
		x.submit(cid, x.input("C", 9), x.input("c", 3)) // a long job first, so that the next turn comes later
		var mu sync.Mutex
		var order []string
		x.work(&job.Worker{Processor: processor(func(ctx context.Context, task job.Task) (job.Product, error) {
			mu.Lock()
			defer mu.Unlock()
			order = append(order, task.Job.OriginalName)
			return echo(ctx, task)
		})})
		x.ended()
		mu.Lock()
		defer mu.Unlock()
		// For equal shares the older account is first; job C moves cid forward
		// by nine.
		if got := strings.Join(order, ""); got != "abCababacaaaaaaaa" {
			t.Errorf("the order is %s", got)
		}
		x.consistent()
	})
}

// An account gets its share of any number of slots and workers.
func TestMaxRunning(t *testing.T) {
	t.Parallel()
	each(t, job.Config{MaxRunning: 2}, func(t *testing.T, x *fixture) {
		var files []job.Input
		for i := range 12 {
			files = append(files, x.input(fmt.Sprint(i), 1))
		}
		x.submit(x.owner, files...)
		var now, most atomic.Int64
		process := processor(func(ctx context.Context, task job.Task) (job.Product, error) {
			most.Store(max(most.Load(), now.Add(1)))
			defer now.Add(-1)
			x.consistent()
			return echo(ctx, task)
		})
		for range 3 {
			x.work(&job.Worker{Processor: process, Slots: 3})
		}
		x.ended()
		if most.Load() > 2 {
			t.Errorf("%d ran at once", most.Load())
		}
		x.consistent()
	})
}

// A worker that is told to stop claims no more jobs and lets its jobs end. It
// gives back those that take too long, without counting the attempt.
func TestDrain(t *testing.T) {
	t.Parallel()
	each(t, job.Config{MaxAttempts: 1}, func(t *testing.T, x *fixture) {
		quick, slow := x.submit(x.owner, x.input("quick", 1)).Jobs[0].ID, x.submit(x.owner, x.input("slow", 1)).Jobs[0].ID
		var running sync.WaitGroup
		running.Add(2)
		ending := make(chan struct{})
		stop := x.work(&job.Worker{Slots: 2, Drain: 3 * time.Second, Processor: processor(func(ctx context.Context, task job.Task) (job.Product, error) {
			running.Done()
			if task.Job.OriginalName == "slow" {
				<-ctx.Done()
				return job.Product{}, ctx.Err()
			}
			<-ending
			return echo(ctx, task)
		})})
		running.Wait()
		later := x.submit(x.owner, x.input("later", 1)).Jobs[0].ID
		time.AfterFunc(10*time.Millisecond, func() { close(ending) })
		stop()
		for id, want := range map[string]job.State{quick: job.Done, slow: job.Queued, later: job.Queued} {
			if j := x.get(id); j.State != want {
				t.Errorf("%s is %s, not %s", j.OriginalName, j.State, want)
			}
		}
		x.consistent()
		x.work(&job.Worker{Processor: processor(echo)})
		x.ended()
		if j := x.get(slow); j.State != job.Done || j.Attempt != 2 || !strings.HasSuffix(j.Output.Key, "out-2.gif") {
			t.Errorf("%+v", j)
		}
	})
}

// counter is an Observer.
type counter struct {
	mu      sync.Mutex
	waits   int
	names   []string
	ends    map[string]int
	credits map[account.Kind]int64
}

func (c *counter) Claimed(time.Duration) { c.mu.Lock(); defer c.mu.Unlock(); c.waits++ }

func (c *counter) Stage(name string, _ time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !slices.Contains(c.names, name) {
		c.names = append(c.names, name)
	}
}

func (c *counter) Ended(outcome string, _ time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.ends == nil {
		c.ends = map[string]int{}
	}
	c.ends[outcome]++
}

func (c *counter) Credits(kind account.Kind, amount int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.credits == nil {
		c.credits = map[account.Kind]int64{}
	}
	c.credits[kind] += amount
}

func (c *counter) Swept(job.Swept, error) {}

func TestObserver(t *testing.T) {
	t.Parallel()
	seen := &counter{}
	each(t, job.Config{Observer: seen}, func(t *testing.T, x *fixture) {
		if x.db.Shared() {
			t.Skip("once is enough")
		}
		x.submit(x.owner, x.input("good", 1), x.input("bad", 1))
		stop := x.work(&job.Worker{Processor: processor(func(ctx context.Context, task job.Task) (job.Product, error) {
			if task.Job.OriginalName == "bad" {
				return job.Product{}, job.ErrUnreadable
			}
			p, err := echo(ctx, task)
			p.Stages = map[string]time.Duration{"matte": time.Second}
			return p, err
		})})
		x.ended()
		stop()
		slices.Sort(seen.names)
		if diff := cmp.Diff([]string{"fetch", "matte", "process", "store"}, seen.names); diff != "" {
			t.Error(diff)
		}
		if diff := cmp.Diff(map[string]int{"done": 1, "unreadable_file": 1}, seen.ends); diff != "" || seen.waits != 2 {
			t.Errorf("%d waits %s", seen.waits, diff)
		}
	})
}

// afterStage is an Observer that does something when a stage has ended.
type afterStage struct {
	counter
	stage string
	do    func()
}

func (o *afterStage) Stage(name string, took time.Duration) {
	o.counter.Stage(name, took)
	if name == o.stage {
		o.do()
	}
}
