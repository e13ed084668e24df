package server_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"mime/multipart"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/bgremove/bgremove/internal/service/blob"
	"github.com/bgremove/bgremove/internal/service/job"
	"github.com/bgremove/bgremove/internal/service/price"
	"github.com/bgremove/bgremove/internal/service/server"
	"github.com/bgremove/bgremove/internal/service/store/storetest"
	"github.com/bgremove/bgremove/pkg/api"
)

// TestRollingRestart replaces all nodes in turn while customers order, and
// leaves a lease behind, as a worker that was killed. Every order has an answer
// at its second try at the latest. Its job is done, and is charged once.
func TestRollingRestart(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, c server.Config) {
		c.Slots, c.Jobs.Lease = 1, time.Second
		f := &fleet{T: t, config: c, clip: clip(t)}
		for range 2 {
			f.apis = append(f.apis, f.start(server.API))
		}
		const given = 100_000
		ada := newCustomer(t, c.Database, given)
		stop := f.orders(ada.key)
		f.abandon(ada)
		workers := []*node{f.start(server.Worker), f.start(server.Worker)}
		f.replaceAPI()
		for _, old := range workers {
			f.start(server.Worker)
			old.stopped()
		}
		stop()
		ada.until("all jobs have ended", func() bool { return ada.number("SELECT COUNT(*) FROM jobs WHERE ended_at IS NULL") == 0 })

		placed := f.placed.Load()
		for what, query := range map[string]string{
			"done jobs":    "SELECT COUNT(*) FROM jobs WHERE state = 'done' AND attempt > lost",
			"jobs":         "SELECT COUNT(*) FROM jobs",
			"charged jobs": fmt.Sprintf("SELECT COUNT(DISTINCT job_id) FROM ledger WHERE amount = -%d", price.Least),
			"entries":      "SELECT COUNT(*) FROM ledger WHERE job_id IS NOT NULL",
		} {
			if n := ada.number(query); n != placed {
				t.Errorf("%d %s for %d orders", n, what, placed)
			}
		}
		if lost := ada.number("SELECT SUM(lost) FROM jobs"); lost < 1 {
			t.Error("the lease that was left behind has not run out")
		}
		if left := ada.credits(); left != given-price.Least*placed {
			t.Errorf("%d credits are left after %d orders", left, placed)
		}
	})
}

// number is what a query selects.
func (c *customer) number(query string) (n int64) {
	c.Helper()
	if err := c.db.QueryRowContext(c.Context(), query).Scan(&n); err != nil {
		c.Fatal(err)
	}
	return n
}

// fleet is the nodes of a service that are replaced while it works.
type fleet struct {
	*testing.T
	config server.Config
	clip   []byte

	// An order holds changing for reading, with its second try.
	changing sync.RWMutex
	apis     []*node
	placed   atomic.Int64
}

func (f *fleet) start(role server.Role) *node {
	f.Helper()
	c := f.config
	c.Role = role
	if role == server.Worker {
		c.Drain = 10 * time.Millisecond // so that it gives back what it runs
	}
	return start(f.T, c)
}

// replaceAPI replaces each API node. While the old one stops, it is still asked.
func (f *fleet) replaceAPI() {
	f.Helper()
	for range len(f.apis) {
		n := f.start(server.API)
		f.changing.Lock()
		f.apis = append(f.apis, n)
		old := f.apis[0]
		f.changing.Unlock()
		old.stopped()
		f.changing.Lock()
		f.apis = f.apis[1:]
		f.changing.Unlock()
	}
}

// orders places orders, some at once, until stop is called.
func (f *fleet) orders(key string) (stop func()) {
	const (
		atOnce = 4
		every  = 100 * time.Millisecond
	)
	ctx, cancel := context.WithCancel(f.Context())
	var wait sync.WaitGroup
	for i := range atOnce {
		wait.Go(func() {
			tick := time.NewTicker(every)
			defer tick.Stop()
			for n := 0; ctx.Err() == nil; n++ {
				f.order(key, fmt.Sprint("order-", i, "-", n), n)
				select {
				case <-tick.C:
				case <-ctx.Done():
				}
			}
		})
	}
	return func() { cancel(); wait.Wait() }
}

// order places one order at a node, and at the next if that one has no answer.
func (f *fleet) order(key, order string, n int) {
	f.changing.RLock()
	defer f.changing.RUnlock()
	var failed [2]error
	for try := range failed {
		if failed[try] = f.send(f.apis[(n+try)%len(f.apis)], key, order); failed[try] == nil {
			f.placed.Add(1)
			return
		}
	}
	f.Errorf("%s: %v", order, failed)
}

// send sends one order to one node.
func (f *fleet) send(to *node, key, order string) error {
	var body bytes.Buffer
	form := multipart.NewWriter(&body)
	file, err := form.CreateFormFile("file", "clip.gif")
	if err != nil {
		return err
	}
	if _, err := file.Write(f.clip); err != nil {
		return err
	}
	if err := form.Close(); err != nil {
		return err
	}
	r, err := http.NewRequestWithContext(f.Context(), http.MethodPost, to.url+"/api/v1/jobs", &body)
	if err != nil {
		return err
	}
	for name, value := range map[string]string{"Authorization": "Bearer " + key, "Idempotency-Key": order, "Content-Type": form.FormDataContentType()} {
		r.Header.Set(name, value)
	}
	got, err := http.DefaultClient.Do(r)
	if err != nil {
		return err
	}
	defer got.Body.Close()
	text, err := io.ReadAll(got.Body)
	if err != nil {
		return err
	}
	if got.StatusCode != http.StatusAccepted {
		return fmt.Errorf("status %d: %s", got.StatusCode, text)
	}
	return json.Unmarshal(text, new(api.JobCreated))
}

// abandon claims a job and leaves its lease behind, as a killed worker does.
func (f *fleet) abandon(ada *customer) {
	f.Helper()
	blobs, err := blob.Open(f.Context(), f.config.Storage, blob.Options{TempDir: f.TempDir()})
	if err != nil {
		f.Fatal(err)
	}
	defer blobs.Close()
	db := storetest.Open(f.T, f.config.Database)
	ctx, cancel := context.WithCancel(f.Context())
	defer cancel()
	w := &job.Worker{Service: job.New(db, blobs, f.config.Jobs), Processor: vanishing(cancel), TempDir: f.TempDir()}
	if err := w.Run(ctx); err != nil {
		f.Error(err)
	}
	if n := ada.number("SELECT COUNT(*) FROM jobs WHERE state = 'processing'"); n != 1 {
		f.Errorf("%d leases were left behind, want 1", n)
	}
}

// vanishing stops its worker and leaves the job as it is.
type vanishing func()

func (v vanishing) Process(context.Context, job.Task) (job.Product, error) {
	v()
	return job.Product{}, job.ErrMachine
}
