package job_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/bgremove/bgremove/internal/service/job"
)

// A machine that lacks something leaves its jobs to others, but not for ever.
func TestMachineLacks(t *testing.T) {
	t.Parallel()
	each(t, job.Config{Lease: 100 * time.Millisecond, MaxAttempts: 2}, func(t *testing.T, x *fixture) {
		id := x.submit(x.owner, x.input("a.gif", 1)).Jobs[0].ID
		x.work(&job.Worker{Processor: processor(func(context.Context, job.Task) (job.Product, error) {
			return job.Product{}, job.ErrMachine
		})})
		x.ended()
		if j := x.get(id); j.State != job.Failed || j.Attempt != 2 {
			t.Errorf("%+v: want it to have failed after two tries", j)
		}
		x.consistent()
	})
}

// A machine that lacks something does not take all jobs from one that can do them.
func TestMachineLeavesJobs(t *testing.T) {
	t.Parallel()
	each(t, job.Config{Lease: time.Hour}, func(t *testing.T, x *fixture) {
		for range 3 {
			x.submit(x.owner, x.input("a.gif", 1))
		}
		taken := make(chan struct{}, 3)
		stop := x.work(&job.Worker{Drain: time.Hour, Processor: processor(func(context.Context, job.Task) (job.Product, error) {
			taken <- struct{}{}
			return job.Product{}, job.ErrMachine
		})})
		<-taken
		x.work(&job.Worker{Processor: processor(echo)})
		x.until("SELECT COUNT(*) = 2 FROM jobs WHERE state = 'done'")
		stop() // at once
	})
}

// A job for which a machine has no room is tried again, but not for ever.
func TestNoRoom(t *testing.T) {
	t.Parallel()
	each(t, job.Config{Lease: 100 * time.Millisecond}, func(t *testing.T, x *fixture) {
		id := x.submit(x.owner, x.input("a.gif", 5)).Jobs[0].ID
		x.work(&job.Worker{Processor: processor(func(context.Context, job.Task) (job.Product, error) {
			return job.Product{}, fmt.Errorf("write a frame: %w", syscall.ENOSPC)
		})})
		x.ended()
		if j := x.get(id); j.State != job.Failed || j.Error != job.ProcessingFailed || j.Attempt != 3 {
			t.Errorf("%+v", j)
		}
		if x.credits(x.owner) != 100 {
			t.Errorf("%d credits", x.credits(x.owner))
		}
		x.consistent()
	})
}

// A worker whose folder was removed, as by a cleaner of temporary files, returns jobs and does not
// fail them.
func TestFolderGone(t *testing.T) {
	t.Parallel()
	each(t, job.Config{Lease: 2 * time.Second, MaxAttempts: 1}, func(t *testing.T, x *fixture) {
		folder := make(chan string, 10)
		x.work(&job.Worker{Processor: processor(func(ctx context.Context, task job.Task) (job.Product, error) {
			folder <- filepath.Dir(task.Dir)
			return echo(ctx, task)
		})})
		x.submit(x.owner, x.input("a.gif", 1))
		x.ended()
		dir := <-folder
		if err := os.RemoveAll(dir); err != nil {
			t.Fatal(err)
		}
		id := x.submit(x.owner, x.input("b.gif", 1)).Jobs[0].ID
		x.until("SELECT attempt > 1 OR state = 'failed' FROM jobs WHERE id = $1", id)
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		x.ended()
		if j := x.get(id); j.State != job.Done {
			t.Errorf("%+v", j)
		}
		x.consistent()
	})
}

// A storage outage delays a job but does not fail it.
func TestStorageAway(t *testing.T) {
	t.Parallel()
	each(t, job.Config{Lease: 2 * time.Second, MaxAttempts: 1}, func(t *testing.T, x *fixture) {
		id := x.submit(x.owner, x.input("a.gif", 1)).Jobs[0].ID
		var tries atomic.Int32
		x.work(&job.Worker{Processor: processor(func(ctx context.Context, task job.Task) (job.Product, error) {
			folder := filepath.Join(filepath.Dir(filepath.Dir(task.Input)), "jobs")
			if tries.Add(1) == 1 { // a file instead of the folder
				if err := os.WriteFile(folder, nil, 0o600); err != nil {
					return job.Product{}, err
				}
				return echo(ctx, task)
			}
			_ = os.RemoveAll(folder) // the file, once
			return echo(ctx, task)
		})})
		x.ended()
		if j := x.get(id); j.State != job.Done || j.Attempt < 2 {
			t.Errorf("%+v after %d tries", j, tries.Load())
		}
		x.consistent()
	})
}
