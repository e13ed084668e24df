package job_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/bgremove/bgremove/internal/service/account"
	"github.com/bgremove/bgremove/internal/service/blob"
	"github.com/bgremove/bgremove/internal/service/job"
	"github.com/bgremove/bgremove/internal/service/price"
	"github.com/bgremove/bgremove/internal/service/store"
	"github.com/bgremove/bgremove/internal/service/store/storetest"
)

// fixture is a service with its storage and one account.
type fixture struct {
	*job.Service
	t     testing.TB
	db    *store.DB
	blobs *blob.Store
	dir   string // of the objects
	owner job.Owner
}

// each runs a test on every database.
func each(t *testing.T, c job.Config, f func(t *testing.T, x *fixture)) {
	t.Helper()
	storetest.Each(t, func(t *testing.T, db *store.DB) { f(t, newFixture(t, db, c)) })
}

func newFixture(t testing.TB, db *store.DB, c job.Config) *fixture {
	t.Helper()
	dir := t.TempDir()
	blobs, err := blob.Open(context.Background(), "file://"+filepath.ToSlash(dir), blob.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = blobs.Close() })
	x := &fixture{Service: job.New(db, blobs, c), t: t, db: db, blobs: blobs, dir: dir}
	x.owner = x.account("ann", 100)
	return x
}

// cost is the price of a clip of some seconds.
func cost(seconds int) int64 { return price.OfSeconds(float64(seconds)) }

// account creates an account with credits.
func (x *fixture) account(name string, credits int64) job.Owner {
	x.t.Helper()
	id := "acc_" + name
	x.exec("INSERT INTO accounts (id, email, password, epoch, credits, plan, created_at) VALUES ($1, $1, '', 1, 0, '', 0)", id)
	if credits > 0 {
		if _, err := account.NewLedger(x.db).Grant(context.Background(), id, credits, ""); err != nil {
			x.t.Fatal(err)
		}
	}
	return job.Owner{AccountID: id, KeyID: "key_" + name}
}

func (x *fixture) exec(query string, args ...any) {
	x.t.Helper()
	if _, err := x.db.Exec(query, args...); err != nil {
		x.t.Fatal(err)
	}
}

// input stores an upload of a clip of some seconds.
func (x *fixture) input(name string, seconds int) job.Input {
	x.t.Helper()
	u, err := x.blobs.Receive(context.Background(), job.InputKey(), bytes.NewReader([]byte(name)), 1000)
	if err != nil {
		x.t.Fatal(err)
	}
	u.Release()
	return job.Input{Name: name, Key: u.Key, Size: u.Size, SHA256: u.SHA256,
		Media: job.Media{Type: "image/gif", FrameCount: 10 * seconds, Width: 40, Height: 30, Duration: time.Duration(seconds) * time.Second}}
}

// submission submits one job, or a batch of several.
func (x *fixture) submission(owner job.Owner, files ...job.Input) job.Submission {
	return job.Submission{Owner: owner, RequestID: "req", Options: job.DefaultOptions(), Files: files, Batch: len(files) > 1}
}

func (x *fixture) submit(owner job.Owner, files ...job.Input) job.Receipt {
	x.t.Helper()
	r, err := x.Submit(context.Background(), x.submission(owner, files...))
	if err != nil {
		x.t.Fatal(err)
	}
	return r
}

func (x *fixture) get(id string) job.Job {
	x.t.Helper()
	var account string
	if err := x.db.QueryRow("SELECT account_id FROM jobs WHERE id = $1", id).Scan(&account); err != nil {
		x.t.Fatal(err)
	}
	j, err := x.Get(context.Background(), job.Owner{AccountID: account}, id)
	if err != nil {
		x.t.Fatal(err)
	}
	return j
}

func (x *fixture) credits(owner job.Owner) int64 {
	x.t.Helper()
	a, err := account.New(x.db).Get(context.Background(), owner.AccountID)
	if err != nil {
		x.t.Fatal(err)
	}
	return a.Credits
}

// consistent checks invariants: the ledger adds up, the queues match the jobs,
// and no event is missing.
func (x *fixture) consistent() {
	x.t.Helper()
	if wrong, err := account.NewLedger(x.db).Verify(context.Background()); len(wrong) > 0 || err != nil {
		x.t.Errorf("the ledger does not add up: %+v %v", wrong, err)
	}
	var n int
	err := x.db.QueryRow(`SELECT COUNT(*) FROM queues q WHERE
		queued <> (SELECT COUNT(*) FROM jobs j WHERE j.account_id = q.account_id AND state = 'queued') OR
		running <> (SELECT COUNT(*) FROM jobs j WHERE j.account_id = q.account_id AND state = 'processing')`).Scan(&n)
	if n > 0 || err != nil {
		x.t.Errorf("%d queues count wrongly, %v", n, err)
	}
	err = x.db.QueryRow(`SELECT COUNT(*) FROM queues q WHERE
		events <> (SELECT COUNT(*) FROM job_events e WHERE e.account_id = q.account_id) OR
		events <> (SELECT COALESCE(MAX(seq), 0) FROM job_events e WHERE e.account_id = q.account_id)`).Scan(&n)
	if n > 0 || err != nil {
		x.t.Errorf("events of %d accounts are missing, %v", n, err)
	}
}

// processor is a Processor made of a function.
type processor func(ctx context.Context, t job.Task) (job.Product, error)

func (p processor) Process(ctx context.Context, t job.Task) (job.Product, error) { return p(ctx, t) }

// echo makes an output that names the input, and a preview before it.
func echo(_ context.Context, t job.Task) (job.Product, error) {
	preview, out := filepath.Join(t.Dir, "p.png"), filepath.Join(t.Dir, "out")
	in, err := os.ReadFile(t.Input)
	err = errors.Join(err, os.WriteFile(preview, []byte("preview"), 0o600), os.WriteFile(out, append([]byte("out of "), in...), 0o600))
	if err != nil {
		return job.Product{}, err
	}
	t.Preview(preview)
	return job.Product{Path: out}, nil
}

// work runs a worker until stop is called, or the test ends.
func (x *fixture) work(w *job.Worker) (stop func()) {
	x.t.Helper()
	if w.Service == nil {
		w.Service = x.Service
	}
	if w.TempDir == "" {
		w.TempDir = x.t.TempDir()
	}
	ctx, cancel := context.WithCancel(context.Background())
	var wait sync.WaitGroup
	wait.Go(func() {
		if err := w.Run(ctx); err != nil {
			x.t.Errorf("worker: %v", err)
		}
	})
	stop = sync.OnceFunc(func() { cancel(); wait.Wait() })
	x.t.Cleanup(stop)
	return stop
}

// ended waits until no job is queued or processing.
func (x *fixture) ended() {
	x.t.Helper()
	x.until("SELECT COUNT(*) = 0 FROM jobs WHERE state IN ('queued', 'processing')")
}

// until waits until a query is true.
func (x *fixture) until(query string, args ...any) {
	x.t.Helper()
	x.eventually(query, func() (yes bool) {
		if err := x.db.QueryRow(query, args...).Scan(&yes); err != nil {
			x.t.Fatal(err)
		}
		return yes
	})
}

// eventually waits until something is so.
func (x *fixture) eventually(what string, is func() bool) {
	x.t.Helper()
	ticker := time.NewTicker(2 * time.Millisecond)
	defer ticker.Stop()
	limit := time.After(time.Minute)
	for !is() {
		select {
		case <-ticker.C:
		case <-limit:
			x.t.Fatalf("it is not so after a minute: %s", what)
		}
	}
}

// objects are all keys in the store.
func (x *fixture) objects() []string {
	x.t.Helper()
	keys := []string{}
	for info, err := range x.blobs.List(context.Background(), "") {
		if err != nil {
			x.t.Fatal(err)
		}
		keys = append(keys, info.Key)
	}
	slices.Sort(keys)
	return keys
}

func states(jobs []job.Job) string {
	var s string
	for _, j := range jobs {
		s += fmt.Sprint(j.State, " ")
	}
	return s
}
