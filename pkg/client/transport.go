package client

import (
	"context"
	"net"
	"net/http"
	"sync/atomic"
	"time"
)

// transport is the standard one with connections that hear the service out.
func transport() *http.Transport {
	dialer := &net.Dialer{Timeout: 15 * time.Second, KeepAlive: 15 * time.Second}
	return &http.Transport{
		Proxy: http.ProxyFromEnvironment,
		DialContext: func(ctx context.Context, network, address string) (net.Conn, error) {
			conn, err := dialer.DialContext(ctx, network, address)
			if err != nil {
				return nil, err
			}
			return &answeredConn{Conn: conn}, nil
		},
		ForceAttemptHTTP2:     true,
		TLSHandshakeTimeout:   15 * time.Second,
		ExpectContinueTimeout: time.Second,
		MaxIdleConnsPerHost:   16,
		IdleConnTimeout:       90 * time.Second,
	}
}

// answeredConn is a connection whose writes never fail. A service that refuses an
// upload answers and closes. http.Transport would give up at the failed write
// without reading that answer. Later writes are dropped; reading returns the
// answer or the error.
type answeredConn struct {
	net.Conn
	closed atomic.Bool // the other side takes nothing any more
}

func (h *answeredConn) Write(p []byte) (int, error) {
	if h.closed.Load() {
		return len(p), nil
	}
	if _, err := h.Conn.Write(p); err != nil {
		h.closed.Store(true)
	}
	return len(p), nil
}
