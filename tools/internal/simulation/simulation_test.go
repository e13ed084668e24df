package simulation_test

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/bgremove/bgremove/internal/service/blob"
	"github.com/bgremove/bgremove/internal/service/job"
	"github.com/bgremove/bgremove/internal/service/store"
	"github.com/bgremove/bgremove/internal/service/store/storetest"
	"github.com/bgremove/bgremove/tools/internal/simulation"
)

// TestTurns checks that the simulation and the service take the same jobs in the
// same order, from accounts that come and go and jobs that take longer than they
// have paid for.
func TestTurns(t *testing.T) {
	t.Parallel()
	for seed := range uint64(3) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			jobs := workload(seed)
			simulated := simulation.Run(jobs, simulation.Config{Slots: 1, MaxRunning: 4})
			want := make([]int, len(jobs))
			for i := range want {
				want[i] = i
			}
			slices.SortFunc(want, func(a, b int) int { return cmp.Compare(simulated[a].Started, simulated[b].Started) })
			storetest.Each(t, func(t *testing.T, db *store.DB) {
				if diff := gocmp.Diff(want, served(t, db, jobs)); diff != "" {
					t.Errorf("the order differs (-simulated +served): %s", diff)
				}
			})
		})
	}
}

const accounts = 6

// workload is jobs of several accounts that arrive at random. The workers are busy
// most of the time, but not always.
func workload(seed uint64) []simulation.Job {
	random := rand.New(rand.NewPCG(seed, 1))
	var jobs []simulation.Job
	at := time.Duration(0)
	for range 40 {
		at += time.Duration(random.IntN(12000)) * time.Millisecond
		jobs = append(jobs, simulation.Job{
			Account: random.IntN(accounts), At: at, Cost: 3 + random.Int64N(10),
			Service: time.Duration(random.IntN(12))*time.Second + 100*time.Millisecond,
		})
	}
	return jobs
}

// served is the order in which the service runs jobs, on one worker with one place.
func served(t *testing.T, db *store.DB, jobs []simulation.Job) []int {
	t.Helper()
	s := newService(t, db, jobs)
	ctx, cancel := context.WithCancel(t.Context())
	var worker sync.WaitGroup
	worker.Go(func() {
		w := &job.Worker{Service: s.jobs, Processor: s, Slots: 1, TempDir: t.TempDir()}
		if err := w.Run(ctx); err != nil {
			t.Error(err)
		}
	})
	defer worker.Wait()
	defer cancel()
	for s.idle() {
		s.submit()
	}
	return s.order
}

// service is the real service in the time of the workload.
type service struct {
	*testing.T
	db       *store.DB
	blobs    *blob.Store
	jobs     *job.Service
	workload []simulation.Job

	mu    sync.Mutex
	next  int // to be submitted
	now   time.Duration
	order []int
}

func newService(t *testing.T, db *store.DB, jobs []simulation.Job) *service {
	t.Helper()
	blobs, err := blob.Open(t.Context(), "file://"+filepath.ToSlash(t.TempDir()), blob.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = blobs.Close() })
	for i := range accounts {
		_, err := db.ExecContext(t.Context(),
			"INSERT INTO accounts (id, email, password, epoch, credits, plan, created_at) VALUES ($1, $1, '', 1, 0, '', 0)", accountID(i))
		if err != nil {
			t.Fatal(err)
		}
	}
	return &service{T: t, db: db, blobs: blobs, jobs: job.New(db, blobs, job.Config{Unlimited: true}), workload: jobs}
}

func accountID(i int) string { return fmt.Sprint("acc_", i) }

// idle waits until no job is left, and reports whether more are to come.
func (s *service) idle() bool {
	s.Helper()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for limit := time.After(time.Minute); ; {
		var left int
		if err := s.db.QueryRowContext(s.Context(), "SELECT COUNT(*) FROM jobs WHERE ended_at IS NULL").Scan(&left); err != nil {
			s.Fatal(err)
		}
		if left == 0 {
			s.mu.Lock()
			more := s.next < len(s.workload)
			s.mu.Unlock()
			return more
		}
		select {
		case <-tick.C:
		case <-limit:
			s.Fatalf("%d jobs have not ended after a minute", left)
		}
	}
}

// submit submits the next job. Time goes on to its arrival.
func (s *service) submit() {
	s.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.now = s.workload[s.next].At
	if err := s.submitNext(); err != nil {
		s.Fatal(err)
	}
}

func (s *service) submitNext() error {
	j, name := s.workload[s.next], fmt.Sprint(s.next)
	u, err := s.blobs.Receive(s.Context(), job.InputKey(), bytes.NewReader([]byte(name)), 1000)
	if err != nil {
		return err
	}
	u.Release()
	s.next++
	_, err = s.jobs.Submit(s.Context(), job.Submission{
		Owner: job.Owner{AccountID: accountID(j.Account), KeyID: "key"}, RequestID: "request", Options: job.DefaultOptions(),
		Files: []job.Input{{Name: name, Key: u.Key, Size: u.Size, SHA256: u.SHA256, Media: job.Media{
			Type: "image/gif", FrameCount: 10, Width: 40, Height: 30, Duration: time.Duration(j.Cost) * time.Second,
		}}},
	})
	return err
}

// Process lets the time of a job pass: others arrive meanwhile.
func (s *service) Process(ctx context.Context, t job.Task) (job.Product, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	n, err := strconv.Atoi(t.Job.OriginalName)
	if err != nil {
		return job.Product{}, err
	}
	s.order = append(s.order, n)
	took := s.workload[n].Service
	s.now += took
	for s.next < len(s.workload) && s.workload[s.next].At < s.now {
		if err := s.submitNext(); err != nil {
			return job.Product{}, err
		}
	}
	out := filepath.Join(t.Dir, "out")
	if err := os.WriteFile(out, []byte("out"), 0o600); err != nil {
		return job.Product{}, err
	}
	_, err = s.db.ExecContext(ctx, "UPDATE jobs SET started_at = now_ms() - $1 WHERE id = $2", took.Milliseconds(), t.Job.ID)
	return job.Product{Path: out}, err
}

// TestOutage checks that a part of the workers that vanishes loses its jobs, that each
// of these runs again after its lease, and that no other is lost.
func TestOutage(t *testing.T) {
	t.Parallel()
	const service = 10 * time.Second
	var jobs []simulation.Job
	for range 6 {
		jobs = append(jobs, simulation.Job{Cost: 10, Service: service})
	}
	got := simulation.Run(jobs, simulation.Config{Slots: 3, MaxRunning: 3, Lease: 4 * time.Second,
		Outage: simulation.Outage{From: 5 * time.Second, Until: time.Minute, Slots: 1}})
	second := func(n int) time.Duration { return time.Duration(n) * time.Second }
	want := []simulation.Outcome{
		{Ended: second(20), Lost: 1}, // its lease runs out at 9
		{Ended: second(10)},
		{Ended: second(10)},
		{Started: second(10), Ended: second(20)},
		{Started: second(20), Ended: second(30)},
		{Started: second(20), Ended: second(30)},
	}
	if diff := gocmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// TestMaxRunning checks that an account has no more places than it may, however
// many are free.
func TestMaxRunning(t *testing.T) {
	t.Parallel()
	jobs := []simulation.Job{{Cost: 1, Service: time.Second}, {Cost: 1, Service: time.Second}, {Cost: 1, Service: time.Second}, {Account: 1, Cost: 1, Service: time.Second}}
	var starts []time.Duration
	for _, o := range simulation.Run(jobs, simulation.Config{Slots: 4, MaxRunning: 2}) {
		starts = append(starts, o.Started)
	}
	if diff := gocmp.Diff([]time.Duration{0, 0, time.Second, 0}, starts); diff != "" {
		t.Error(diff)
	}
}

// TestArrivals checks the shape of a day, and that the work is that of the kinds.
func TestArrivals(t *testing.T) {
	t.Parallel()
	const clips = 20_000
	kinds := []simulation.Kind{{Cost: 3, Service: 2 * time.Second}, {Cost: 9, Service: 4 * time.Second}}
	jobs := simulation.Arrivals(rand.New(rand.NewPCG(1, 2)), clips, accounts, kinds)
	var (
		work   time.Duration
		inHour [24]float64
	)
	for _, j := range jobs {
		work += j.Service
		inHour[j.At/time.Hour]++
	}
	mean := 3 * time.Second
	if got := work / clips; got < mean*95/100 || got > mean*105/100 {
		t.Errorf("the mean service time is %v, want about %v", got, mean)
	}
	const flat = clips / 24.0
	if top := inHour[simulation.Peak/time.Hour]; top < 0.9*simulation.PeakFactor*flat || top > 1.1*simulation.PeakFactor*flat {
		t.Errorf("%.0f clips arrive in the busiest hour, the mean is %.0f", top, flat)
	}
	if !slices.IsSortedFunc(jobs, func(a, b simulation.Job) int { return cmp.Compare(a.At, b.At) }) {
		t.Error("the arrivals are not in order")
	}
}

// TestWith checks that clips of one go come beside the others, in the order of time.
func TestWith(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 3))
	kinds := []simulation.Kind{{Cost: 3, Service: time.Second}}
	before := []simulation.Job{{At: time.Second, Cost: 3, Service: time.Second}, {At: time.Minute, Cost: 3, Service: time.Second}}
	all := simulation.With(before, random, 1, 30*time.Second, 2, kinds)
	var got []string
	for _, j := range all {
		got = append(got, fmt.Sprint(j.Account, " ", j.At))
	}
	if diff := gocmp.Diff([]string{"0 1s", "1 30s", "1 30s", "0 1m0s"}, got); diff != "" {
		t.Error(diff)
	}
}

// TestWaits checks which waits are taken, and their quantiles.
func TestWaits(t *testing.T) {
	t.Parallel()
	jobs := []simulation.Job{{At: time.Second}, {At: 2 * time.Second}, {Account: 1}}
	outcomes := []simulation.Outcome{{Started: 4 * time.Second}, {Started: 3 * time.Second}, {Started: time.Hour}}
	waits := simulation.Waits(jobs, outcomes, func(j simulation.Job) bool { return j.Account == 0 })
	got := []time.Duration{simulation.Quantile(waits, 0), simulation.Quantile(waits, 0.99), simulation.Quantile(nil, 0.5)}
	if diff := gocmp.Diff([]time.Duration{time.Second, 3 * time.Second, 0}, got); diff != "" {
		t.Error(diff)
	}
}
