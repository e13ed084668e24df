package server_test

import (
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/getkin/kin-openapi/openapi3"

	"github.com/bgremove/bgremove/internal/service/store/storetest"
	"github.com/bgremove/bgremove/pkg/api"
)

// unavailable checks for an answer that asks to try again.
func unavailable(t *testing.T, a answer) {
	t.Helper()
	a.is(t, http.StatusServiceUnavailable, `{"error":"unavailable"}`)
	if wait, err := strconv.Atoi(a.header.Get("Retry-After")); err != nil || wait < 1 {
		t.Errorf("Retry-After is %q", a.header.Get("Retry-After"))
	}
}

// readyAgain waits until a node is ready: its connections come back one by one.
func (c *customer) readyAgain(n *node) {
	c.Helper()
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); time.Sleep(20 * time.Millisecond) {
		if c.get(n.url+"/readyz").status == http.StatusOK {
			return
		}
	}
	c.Fatal("the node is not ready a minute later")
}

// TestDatabaseLocked checks that a submission is refused while another process
// holds SQLite's lock, and that it costs nothing.
func TestDatabaseLocked(t *testing.T) {
	t.Parallel()
	c := configuration(t, storetest.SQLite(t))
	n := start(t, c)
	ada := newCustomer(t, c.Database, 10)
	lock, err := ada.db.BeginTx(t.Context(), nil) // BEGIN IMMEDIATE
	if err != nil {
		t.Fatal(err)
	}
	unavailable(t, ada.submit(n, clip(t)))
	if err := lock.Rollback(); err != nil {
		t.Fatal(err)
	}
	if left := ada.credits(); left != 10 {
		t.Errorf("%d credits are left", left)
	}
	if done := ada.ended(n, ada.submitted(n, clip(t))); done.Status != api.JobStatusDone {
		t.Errorf("the job is %+v", done)
	}
	n.stopped()
}

// TestDatabaseGone checks that a node is not ready while PostgreSQL is away,
// charges nothing, and continues when it is back.
func TestDatabaseGone(t *testing.T) {
	t.Parallel()
	database := storetest.Postgres(t)
	wire := storetest.Wire(t, database)
	c := configuration(t, wire.URL)
	c.MetricsAddr, c.Patience = "127.0.0.1:0", 500*time.Millisecond
	n := start(t, c)
	ada := newCustomer(t, database, 10)
	ada.get(n.url+"/readyz").is(t, http.StatusOK, `{"status":"ok"}`)

	wire.Cut()
	unavailable(t, ada.get(n.url+"/readyz"))
	ada.get(n.metrics+"/readyz").is(t, http.StatusServiceUnavailable, `{"error":"unavailable"}`)
	ada.get(n.url+"/healthz").is(t, http.StatusOK, `{"status":"ok"}`)
	unavailable(t, ada.submit(n, clip(t)))
	if got := ada.get(n.metrics + "/metrics"); got.status != http.StatusOK || !strings.Contains(got.body, "bgremove_http_request_seconds") {
		t.Errorf("the metrics are %d", got.status)
	}
	if left := ada.credits(); left != 10 {
		t.Errorf("%d credits are left", left)
	}

	wire.Mend()
	ada.readyAgain(n)
	wire.Stall() // nothing arrives, and nothing breaks
	unavailable(t, ada.get(n.url+"/readyz"))
	unavailable(t, ada.submit(n, clip(t)))
	wire.Mend()
	ada.readyAgain(n)
	if done := ada.ended(n, ada.submitted(n, clip(t))); done.Status != api.JobStatusDone {
		t.Errorf("the job is %+v", done)
	}
	n.stopped()
}

// noBatch is the identifier of no batch.
const noBatch = "batch_x"

// readable are the API's paths for GET that need the database and whose answers
// end, with a job's identifier.
func readable(t *testing.T, job string) (paths []string) {
	t.Helper()
	doc, err := openapi3.NewLoader().LoadFromData(api.Specification)
	if err != nil {
		t.Fatal(err)
	}
	for path, item := range doc.Paths.Map() {
		if item.Get == nil || path == "/healthz" || item.Get.Responses.Status(http.StatusOK).Value.Content["text/event-stream"] != nil {
			continue
		}
		path = strings.Replace(path, "/batches/{id}", "/batches/"+noBatch, 1)
		paths = append(paths, strings.Replace(path, "/jobs/{id}", "/jobs/"+job, 1))
	}
	for _, path := range paths {
		if strings.Contains(path, "{") {
			t.Fatalf("no identifier is known for %s", path)
		}
	}
	slices.Sort(paths)
	return paths
}

// TestDatabaseGoneEverywhere requests everything from a node while PostgreSQL
// is cut off, swallows its input, or is slow.
func TestDatabaseGoneEverywhere(t *testing.T) {
	t.Parallel()
	database := storetest.Postgres(t)
	wire := storetest.Wire(t, database)
	c := configuration(t, wire.URL)
	c.Patience = 500 * time.Millisecond
	n := start(t, c)
	ada := newCustomer(t, database, 100)
	id := ada.submitted(n, clip(t))
	ada.ended(n, id)
	ada.signIn(n)
	paths := append(readable(t, id), "/", "/jobs", "/jobs/"+id, "/keys", "/credits", "/account")
	ask := func(status func(path string, got answer) bool) {
		t.Helper()
		for _, path := range paths {
			if got := ada.get(n.url + path); !status(path, got) {
				t.Errorf("%s: %d %s", path, got.status, got.body)
			}
		}
	}
	gone := func(_ string, got answer) bool {
		return got.status == http.StatusServiceUnavailable && got.header.Get("Retry-After") != ""
	}
	there := func(path string, got answer) bool {
		return got.status == http.StatusOK || path == "/api/v1/batches/"+noBatch && got.status == http.StatusNotFound
	}
	ask(there)
	wire.Cut()
	ask(gone)
	wire.Mend()
	wire.Stall()
	ask(gone)
	wire.Mend()
	wire.Delay(10 * time.Millisecond)
	for range 20 { // a busy machine may take longer than the service's patience to connect again
		if got := ada.get(n.url + "/api/account"); there("", got) {
			break
		}
	}
	ask(there)
}
