// Package wire is a way to PostgreSQL that can fail, for tests and for the tools
// that try a whole server.
package wire

import (
	"context"
	"errors"
	"io"
	"net"
	"net/url"
	"path/filepath"
	"sync"
	"time"
)

// Wire is a way to PostgreSQL that can be cut, that can swallow what it is given,
// and that can be slow. It is safe for concurrent use.
type Wire struct {
	URL      string // of the database, by this way
	server   string // the real socket
	listener net.Listener
	running  sync.WaitGroup

	mu    sync.Mutex
	state state
	ends  []net.Conn
}

// state is what happens to bytes: they wait for open, if that is not nil.
type state struct {
	broken bool
	open   chan struct{}
	delay  time.Duration
}

// ErrNoSocket is a database that is not reached by a socket in a folder.
var ErrNoSocket = errors.New("the server is not reached by a socket")

// New leads to the server that database names by the folder of its socket. The
// new socket lies in dir. The caller must close the wire.
func New(dir, database string) (*Wire, error) {
	u, err := url.Parse(database)
	if err != nil {
		return nil, err
	}
	const socket = ".s.PGSQL.5432"
	q := u.Query()
	server := q.Get("host")
	if !filepath.IsAbs(server) {
		return nil, ErrNoSocket
	}
	w := &Wire{server: filepath.Join(server, socket)}
	if w.listener, err = (&net.ListenConfig{}).Listen(context.Background(), "unix", filepath.Join(dir, socket)); err != nil {
		return nil, err
	}
	q.Set("host", dir)
	u.RawQuery = q.Encode()
	w.URL = u.String()
	w.running.Go(w.serve)
	return w, nil
}

// Close ends the wire and its connections.
func (w *Wire) Close() error {
	err := w.listener.Close()
	w.Cut()
	w.running.Wait()
	return err
}

// Cut ends all connections, and lets none be made, until Mend.
func (w *Wire) Cut() {
	w.set(state{broken: true})
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, end := range w.ends {
		_ = end.Close()
	}
	w.ends = nil
}

// Stall keeps all that is sent, and takes connections that lead nowhere, until
// Mend.
func (w *Wire) Stall() { w.set(state{open: make(chan struct{})}) }

// Delay gives everything some time on its way.
func (w *Wire) Delay(d time.Duration) { w.set(state{delay: d}) }

// Mend makes the wire whole.
func (w *Wire) Mend() { w.set(state{}) }

func (w *Wire) set(s state) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.state.open != nil {
		close(w.state.open)
	}
	w.state = s
}

func (w *Wire) serve() {
	for {
		conn, err := w.listener.Accept()
		if err != nil {
			return
		}
		w.running.Go(func() { w.join(conn) })
	}
}

// join moves bytes both ways until either end closes.
func (w *Wire) join(near net.Conn) {
	defer near.Close()
	far, err := (&net.Dialer{}).DialContext(context.Background(), "unix", w.server)
	if err != nil {
		return // the connection ends, as it does with a server that is gone
	}
	defer far.Close()
	if !w.keep(near, far) {
		return
	}
	go func() {
		_, _ = io.Copy(far, onWire{near, w}) // ends with either
		_ = far.Close()
	}()
	_, _ = io.Copy(near, onWire{far, w})
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
	now := r.state
	r.mu.Unlock()
	if now.open != nil {
		<-now.open
	}
	if now.delay > 0 {
		<-time.After(now.delay)
	}
	return n, err
}
