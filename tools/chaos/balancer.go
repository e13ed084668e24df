package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"slices"
	"sync"
	"sync/atomic"
)

// balancer passes requests to API nodes in turn. A request for a node that does
// not answer gets 502.
type balancer struct {
	url    string
	server *http.Server

	mu    sync.Mutex
	nodes []*url.URL
	next  int

	requests, refused atomic.Int64 // all, and those that got 502
}

func newBalancer(ctx context.Context) (*balancer, error) {
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("balancer: %w", err)
	}
	b := &balancer{url: "http://" + l.Addr().String()}
	b.server = &http.Server{Handler: &httputil.ReverseProxy{
		Rewrite:  func(r *httputil.ProxyRequest) { r.SetURL(b.take()) },
		ErrorLog: log.New(io.Discard, "", 0),
		ErrorHandler: func(w http.ResponseWriter, _ *http.Request, _ error) {
			b.refused.Add(1)
			w.WriteHeader(http.StatusBadGateway)
		},
	}}
	go func() { _ = b.server.Serve(l) }() // until close
	return b, nil
}

// take returns the next node in turn.
func (b *balancer) take() *url.URL {
	b.requests.Add(1)
	b.mu.Lock()
	defer b.mu.Unlock()
	b.next = (b.next + 1) % len(b.nodes)
	return b.nodes[b.next]
}

// add makes a node take its turns.
func (b *balancer) add(address string) error {
	u, err := url.Parse(address)
	if err == nil && u.Host == "" {
		err = errors.New("a node without an address")
	}
	if err != nil {
		return fmt.Errorf("balancer: %w", err)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.nodes = append(b.nodes, u)
	return nil
}

// remove takes a node out of the turns. Its running requests go on.
func (b *balancer) remove(address string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.nodes = slices.DeleteFunc(b.nodes, func(u *url.URL) bool { return u.String() == address })
}

func (b *balancer) close() error { return b.server.Close() }
