package rig

import (
	"errors"
	"io"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"sync"
)

// Wire is a way to PostgreSQL that can be cut, and that can swallow what it is
// given. It is safe for concurrent use.
type Wire struct {
	// URL is that of the database, by this way.
	URL      string
	server   string // the real socket
	listener net.Listener

	mu    sync.Mutex
	cut   bool
	stall chan struct{} // nil, or closed when bytes may go on
	ends  []net.Conn
}

// Wire leads to the server that a URL names by the folder of its socket. Close
// it.
func (r *Rig) Wire(database string) (*Wire, error) {
	u, err := url.Parse(database)
	if err != nil {
		return nil, err
	}
	const socket = ".s.PGSQL.5432"
	q := u.Query()
	server := q.Get("host")
	if !filepath.IsAbs(server) {
		return nil, errors.New("the server is not reached by a socket")
	}
	dir, err := os.MkdirTemp(r.Dir, "wire-*")
	if err != nil {
		return nil, err
	}
	w := &Wire{server: filepath.Join(server, socket)}
	if w.listener, err = net.Listen("unix", filepath.Join(dir, socket)); err != nil {
		return nil, err
	}
	q.Set("host", dir)
	u.RawQuery = q.Encode()
	w.URL = u.String()
	go w.serve()
	return w, nil
}

// Close ends the wire and its connections.
func (w *Wire) Close() error {
	err := w.listener.Close()
	w.Cut()
	return err
}

// Cut ends all connections, and lets none be made, until Mend.
func (w *Wire) Cut() {
	w.set(true, nil)
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, end := range w.ends {
		_ = end.Close()
	}
	w.ends = nil
}

// Stall keeps all that is sent, and takes connections that lead nowhere, until
// Mend.
func (w *Wire) Stall() { w.set(false, make(chan struct{})) }

// Mend makes the wire whole.
func (w *Wire) Mend() { w.set(false, nil) }

func (w *Wire) set(cut bool, stall chan struct{}) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.stall != nil {
		close(w.stall)
	}
	w.cut, w.stall = cut, stall
}

// serve joins connections to the server until the wire is closed.
func (w *Wire) serve() {
	for {
		near, err := w.listener.Accept()
		if err != nil {
			return
		}
		far, err := net.Dial("unix", w.server)
		if err != nil {
			_ = near.Close()
			continue
		}
		go w.carry(near, far)
		go w.carry(far, near)
	}
}

// carry moves bytes one way until either end closes.
func (w *Wire) carry(from, to net.Conn) {
	defer from.Close()
	defer to.Close()
	if w.keep(from) {
		_, _ = io.Copy(to, onWire{from, w}) // it ends as connections do
	}
}

// keep notes a connection to be cut, unless the wire is.
func (w *Wire) keep(end net.Conn) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.ends = append(w.ends, end)
	return !w.cut
}

// onWire reads what may pass the wire.
type onWire struct {
	io.Reader
	*Wire
}

func (r onWire) Read(p []byte) (int, error) {
	n, err := r.Reader.Read(p)
	r.mu.Lock()
	stall := r.stall
	r.mu.Unlock()
	if stall != nil {
		<-stall
	}
	return n, err
}
