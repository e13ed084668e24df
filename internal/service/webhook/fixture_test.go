package webhook_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"github.com/bgremove/bgremove/internal/service/outbound"
	"github.com/bgremove/bgremove/internal/service/store"
	"github.com/bgremove/bgremove/internal/service/store/storetest"
	"github.com/bgremove/bgremove/internal/service/webhook"
)

// message is a request that a receiver got.
type message struct {
	header http.Header
	body   string
	at     time.Time
}

// receiver is a server that answers with a status, and what it got.
type receiver struct {
	*httptest.Server
	got    chan message
	answer func(n int) int // of the request with a number from 0
	mu     sync.Mutex
	count  int
}

func receive(t *testing.T, answer func(n int) int) *receiver {
	r := &receiver{got: make(chan message, 1000), answer: answer}
	r.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, in *http.Request) {
		body, _ := io.ReadAll(in.Body)
		r.mu.Lock()
		n := r.count
		r.count++
		r.mu.Unlock()
		r.got <- message{in.Header, in.Method + " " + string(body), time.Now()}
		if status := r.answer(n); status == http.StatusFound {
			http.Redirect(w, in, "/elsewhere", status)
		} else {
			w.WriteHeader(status)
		}
	}))
	t.Cleanup(r.Close)
	return r
}

func always(status int) func(int) int { return func(int) int { return status } }

// fixture is a service with an account.
type fixture struct {
	*webhook.Service
	t    *testing.T
	db   *store.DB
	jobs int
}

const ann = "acc_ann"

func newFixture(t *testing.T, db *store.DB, private bool) *fixture {
	x := &fixture{Service: newService(db, private), t: t, db: db}
	x.account(ann)
	return x
}

func newService(db *store.DB, private bool) *webhook.Service {
	guard := outbound.Public()
	if private {
		guard = outbound.Private()
	}
	return webhook.New(db, webhook.Config{Guard: guard, Body: func(_ context.Context, _, jobID, event string) ([]byte, error) {
		return []byte(`{"type":"` + event + `","data":{"id":"` + jobID + `"}}`), nil
	}})
}

func (x *fixture) exec(query string, args ...any) {
	x.t.Helper()
	if _, err := x.db.Exec(query, args...); err != nil {
		x.t.Fatal(err)
	}
}

func (x *fixture) account(id string) {
	x.exec("INSERT INTO accounts (id, email, password, epoch, credits, plan, created_at) VALUES ($1, $1, '', 1, 0, '', 0)", id)
}

// end makes a job of an account that has ended.
func (x *fixture) end(account, url string) (jobID string) {
	x.t.Helper()
	x.jobs++
	jobID = fmt.Sprintf("job_%s_%d", account, x.jobs)
	x.exec(`INSERT INTO jobs (id, account_id, request_id, state, options, output_format, original_name, input_size, input_sha, input_type, frame_count, width,
		height, duration_ms, cost, charged, attempt, lost, created_at, ended_at, webhook_url)
		VALUES ($1, $2, '', 'done', '{}', 'gif', '', 0, '', '', 0, 0, 0, 0, 0, 0, 0, 0, now_ms(), now_ms(), NULLIF($3, ''))`, jobID, account, url)
	if err := x.db.Tx(context.Background(), func(tx *store.Tx) error { return x.Enqueue(context.Background(), tx, jobID) }); err != nil {
		x.t.Fatal(err)
	}
	return jobID
}

func (x *fixture) create(account, url string) (endpoint webhook.Endpoint, secret string) {
	x.t.Helper()
	endpoint, secret, err := x.Create(context.Background(), account, url)
	if err != nil {
		x.t.Fatal(err)
	}
	return endpoint, secret
}

// run sends until the test ends.
func (x *fixture) run(services ...*webhook.Service) {
	ctx, cancel := context.WithCancel(context.Background())
	var all sync.WaitGroup
	for _, s := range services {
		all.Go(func() { s.Run(ctx) })
	}
	x.t.Cleanup(func() { cancel(); all.Wait() })
}

// runUntil sends until a job's delivery satisfies a condition.
func (x *fixture) runUntil(s *webhook.Service, jobID, condition string) {
	x.t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	var all sync.WaitGroup
	all.Go(func() { s.Run(ctx) })
	defer func() { cancel(); all.Wait() }()
	x.until(jobID, condition)
}

// until waits until a job's delivery satisfies a condition.
func (x *fixture) until(jobID, condition string) webhook.Delivery {
	x.t.Helper()
	limit := time.After(time.Minute)
	for {
		var yes bool
		if err := x.db.QueryRow("SELECT COUNT(*) > 0 FROM webhook_deliveries WHERE job_id = $1 AND "+condition, jobID).Scan(&yes); err != nil {
			x.t.Fatal(err)
		}
		if yes {
			return x.delivery(jobID)
		}
		select {
		case <-limit:
			x.t.Fatalf("not so after a minute: %s: %+v", condition, x.delivery(jobID))
		case <-time.After(5 * time.Millisecond):
		}
	}
}

func (x *fixture) delivery(jobID string) webhook.Delivery {
	x.t.Helper()
	all, err := x.Deliveries(context.Background(), ann, "", 1000)
	if err != nil {
		x.t.Fatal(err)
	}
	i := slices.IndexFunc(all, func(d webhook.Delivery) bool { return d.JobID == jobID })
	if i < 0 {
		return webhook.Delivery{}
	}
	return all[i]
}

func each(t *testing.T, f func(t *testing.T, x *fixture)) {
	t.Helper()
	storetest.Each(t, func(t *testing.T, db *store.DB) { f(t, newFixture(t, db, true)) })
}

func verify(t *testing.T, m message, secret string) error {
	t.Helper()
	signer, err := standardwebhooks.NewWebhook(secret)
	if err != nil {
		t.Fatal(err)
	}
	return signer.Verify([]byte(strings.TrimPrefix(m.body, "POST ")), m.header)
}

// newFixtureOn is another process on the same database.
func newFixtureOn(x *fixture) *fixture {
	return &fixture{Service: newService(x.db, true), t: x.t, db: x.db}
}
