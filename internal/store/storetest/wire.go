package storetest

import (
	"context"
	"errors"
	"io"
	"net"
	"net/url"
	"path/filepath"
	"sync"
	"testing"
	"time"
)

// Wire is a way to PostgreSQL that can be cut, that can swallow what it is given,
// and that can be slow.
type Wire struct {
	testing.TB
	URL    string // of the database, by this way
	server string // the real socket

	mu    sync.Mutex
	state wireState
	ends  []net.Conn
}

// wireState is what happens to bytes: they wait for open, if that is not nil.
type wireState struct {
	broken bool
	open   chan struct{}
	delay  time.Duration
}

// NewWire leads to the server that database names by the folder of its socket,
// until the test ends.
func NewWire(t testing.TB, database string) *Wire {
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
	w := &Wire{TB: t, server: filepath.Join(dir, socket)}
	own := t.TempDir()
	l, err := (&net.ListenConfig{}).Listen(context.Background(), "unix", filepath.Join(own, socket))
	if err != nil {
		t.Fatal(err)
	}
	q.Set("host", own)
	u.RawQuery = q.Encode()
	w.URL = u.String()
	var running sync.WaitGroup
	running.Go(func() { w.serve(l, &running) })
	t.Cleanup(func() { _ = l.Close(); w.Cut(); running.Wait() })
	return w
}

// Cut ends all connections, and lets none be made.
func (w *Wire) Cut() {
	w.set(wireState{broken: true})
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, end := range w.ends {
		_ = end.Close()
	}
	w.ends = nil
}

// Stall keeps all that is sent, and takes connections that lead nowhere, until
// Mend.
func (w *Wire) Stall() { w.set(wireState{open: make(chan struct{})}) }

// Delay gives everything some time on its way.
func (w *Wire) Delay(d time.Duration) { w.set(wireState{delay: d}) }

// Mend makes the wire whole.
func (w *Wire) Mend() { w.set(wireState{}) }

func (w *Wire) set(s wireState) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.state.open != nil {
		close(w.state.open)
	}
	w.state = s
}

func (w *Wire) serve(l net.Listener, running *sync.WaitGroup) {
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
func (w *Wire) join(near net.Conn) error {
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
	_, err = io.Copy(near, onWire{far, w})
	return err
}

// keep notes connections to be cut, unless the wire is.
func (w *Wire) keep(ends ...net.Conn) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.ends = append(w.ends, ends...)
	return !w.state.broken
}

// onWire reads what may pass the wire.
type onWire struct {
	io.Reader
	*Wire
}

func (r onWire) Read(p []byte) (int, error) {
	n, err := r.Reader.Read(p)
	r.mu.Lock()
	state := r.state
	r.mu.Unlock()
	if state.open != nil {
		<-state.open
	}
	if state.delay > 0 {
		<-time.After(state.delay)
	}
	return n, err
}
