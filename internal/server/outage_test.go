package server_test

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/url"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/bgremove/bgremove/internal/store/storetest"
	"github.com/bgremove/bgremove/pkg/api"
)

// unavailable wants an answer that says to try again.
func unavailable(t *testing.T, a answer) {
	t.Helper()
	a.is(t, http.StatusServiceUnavailable, `{"error":"unavailable"}`)
	if wait, err := strconv.Atoi(a.header.Get("Retry-After")); err != nil || wait < 1 {
		t.Errorf("Retry-After is %q", a.header.Get("Retry-After"))
	}
}

// TestDatabaseLocked wants a submission to be refused while another process
// holds SQLite's lock, and to cost nothing.
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

// TestDatabaseGone wants a node to say that it is not ready while PostgreSQL is
// away, to charge nothing, and to go on when it is back.
func TestDatabaseGone(t *testing.T) {
	t.Parallel()
	database := storetest.Postgres(t)
	wire := newWire(t, database)
	c := configuration(t, wire.database)
	c.MetricsAddr = "127.0.0.1:0"
	n := start(t, c)
	ada := newCustomer(t, database, 10)
	ada.get(n.url+"/readyz").is(t, http.StatusOK, `{"status":"ok"}`)

	wire.cut()
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

	wire.mend()
	wire.traffic.Lock() // nothing comes, and nothing breaks
	unavailable(t, ada.get(n.url+"/readyz"))
	wire.traffic.Unlock()
	ada.get(n.url+"/readyz").is(t, http.StatusOK, `{"status":"ok"}`)
	if done := ada.ended(n, ada.submitted(n, clip(t))); done.Status != api.JobStatusDone {
		t.Errorf("the job is %+v", done)
	}
	n.stopped()
}

// wire is a way to PostgreSQL that can be cut.
type wire struct {
	*testing.T
	database string       // by this way
	server   string       // the real socket
	traffic  sync.RWMutex // held while bytes move
	mu       sync.Mutex
	broken   bool
	ends     []net.Conn
}

// newWire leads to the server that database names by the folder of its socket.
func newWire(t *testing.T, database string) *wire {
	t.Helper()
	u, err := url.Parse(database)
	if err != nil {
		t.Fatal(err)
	}
	const socket = ".s.PGSQL.5432"
	q := u.Query()
	dir := q.Get("host")
	if !filepath.IsAbs(dir) {
		t.Skip("the server is not reached by a socket")
	}
	w := &wire{T: t, server: filepath.Join(dir, socket)}
	own := t.TempDir()
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "unix", filepath.Join(own, socket))
	if err != nil {
		t.Fatal(err)
	}
	q.Set("host", own)
	u.RawQuery = q.Encode()
	w.database = u.String()
	var running sync.WaitGroup
	running.Go(func() { w.serve(l, &running) })
	t.Cleanup(func() { _ = l.Close(); w.cut(); running.Wait() })
	return w
}

func (w *wire) serve(l net.Listener, running *sync.WaitGroup) {
	for {
		conn, err := l.Accept()
		if err != nil {
			return
		}
		running.Go(func() {
			if err := w.join(conn); err != nil && !errors.Is(err, net.ErrClosed) {
				w.Logf("a connection: %v", err)
			}
		})
	}
}

// join moves bytes both ways until either end closes.
func (w *wire) join(near net.Conn) error {
	defer near.Close()
	far, err := (&net.Dialer{}).DialContext(context.Background(), "unix", w.server)
	if err != nil {
		return err
	}
	defer far.Close()
	if !w.keep(near, far) {
		return nil
	}
	go func() {
		_, _ = io.Copy(far, onWire{near, w}) // ends with either
		_ = far.Close()
	}()
	_, err = io.Copy(near, far)
	return err
}

// onWire reads what may pass the wire.
type onWire struct {
	io.Reader
	*wire
}

func (r onWire) Read(p []byte) (int, error) {
	n, err := r.Reader.Read(p)
	r.traffic.RLock()
	defer r.traffic.RUnlock()
	return n, err
}

// keep notes connections to be cut, unless the wire is.
func (w *wire) keep(ends ...net.Conn) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.ends = append(w.ends, ends...)
	return !w.broken
}

func (w *wire) cut() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.broken = true
	for _, end := range w.ends {
		_ = end.Close()
	}
	w.ends = nil
}

func (w *wire) mend() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.broken = false
}
